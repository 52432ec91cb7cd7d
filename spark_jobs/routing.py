"""The function's Spark face: rows get their bucket by native expressions, never by Python."""

from typing import Any

import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from partitioning.function import PartitioningFunction
from spark_jobs.sql_names import quoted


def slot_expression(key: str, n_slots: int) -> str:
    """The generated column's definition: the slot of a key."""
    return f"CAST(pmod(xxhash64({quoted(key)}), {n_slots}L) AS INT)"


def slot_column(key: str, n_slots: int) -> Column:
    return F.expr(slot_expression(key, n_slots))


def array_literal(numbers: list[int]) -> Column:
    """Whole numbers as an array that Spark folds into the plan: looking one up costs nothing."""
    return F.split(F.lit(",".join(map(str, numbers))), ",").cast("array<int>")


def with_bucket(frame: DataFrame, function: PartitioningFunction, *, key: str) -> DataFrame:
    """
    The frame with a column ``bucket``: the key's route, otherwise its slot's bucket.

    The slot table is an array literal, the routes are a broadcast join; the NULL key has a bucket like any other.
    """
    by_slot = array_literal(function.slot_list)[slot_column(key, function.n_slots)]
    if not function.routes:
        return frame.withColumn("bucket", by_slot)
    routes = F.broadcast(routes_frame(frame.sparkSession, function))
    joined = frame.join(routes, F.col(quoted(key)).eqNullSafe(F.col("__route_key")), "left")
    return joined.withColumn("bucket", F.coalesce("__route_bucket", by_slot)).drop(
        "__route_key", "__route_bucket"
    )


def routes_frame(spark: SparkSession, function: PartitioningFunction) -> DataFrame:
    keys, buckets = map(list, zip(*function.route_list, strict=True))
    schema = f"__route_key {function.key_type}, __route_bucket int"
    return local_frame(spark, {"__route_key": keys, "__route_bucket": buckets}, schema)


def local_frame(spark: SparkSession, columns: dict[str, list[Any]], schema: str) -> DataFrame:
    """A few values as a part of the query's plan: no task is started to fetch them."""
    return spark.createDataFrame(pa.table(columns), schema)
