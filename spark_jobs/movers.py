"""The movers, by name. Both take a table from one function to another; plan, result and verification are the same."""

from collections.abc import Callable

from pyspark.sql import SparkSession

from schemas.dataset import Dataset
from spark_jobs.flip_mover import flip_rows
from spark_jobs.function_change import FunctionChange
from spark_jobs.merge_mover import merge_rows

MOVERS: dict[str, Callable[[SparkSession, Dataset, FunctionChange], None]] = {
    "flip": flip_rows,
    "merge": merge_rows,
}
