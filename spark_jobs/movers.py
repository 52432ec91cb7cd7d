"""The movers, by name. Both take a table from one function to another; plan, result and verification are the same."""

from collections.abc import Callable
from dataclasses import dataclass

from pyspark.sql import SparkSession

from schemas.dataset import Dataset
from spark_jobs import flip_mover, merge_mover
from spark_jobs.function_change import FunctionChange


@dataclass(frozen=True)
class Mover:
    """How rows move, and how that is foreseen."""

    move: Callable[[SparkSession, Dataset, FunctionChange], None]
    preview: Callable[[SparkSession, Dataset, FunctionChange], dict[str, int]]


MOVERS = {
    "flip": Mover(flip_mover.flip_rows, flip_mover.preview),
    "merge": Mover(merge_mover.merge_rows, merge_mover.preview),
}
