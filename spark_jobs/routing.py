"""The function's Spark face: rows get their bucket by native expressions, never by Python."""

from typing import Any

import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from partitioning.function import PartitioningFunction
from partitioning.grains import is_grain_type
from partitioning.splits import N_GRAINS, bucket_per_grain
from spark_jobs.job import JobError
from spark_jobs.sql_names import quoted

_SHIFT = 64 - (N_GRAINS - 1).bit_length()


def slot_expression(key: str, n_slots: int) -> str:
    """The generated column's definition: the slot of a key."""
    return f"CAST(pmod(xxhash64({quoted(key)}), {n_slots}L) AS INT)"


def slot_column(key: str, n_slots: int) -> Column:
    return F.expr(slot_expression(key, n_slots))


def array_literal(numbers: list[int]) -> Column:
    """Whole numbers as an array that Spark folds into the plan: looking one up costs nothing."""
    return F.split(F.lit(",".join(map(str, numbers))), ",").cast("array<int>")


def grain_expression(row_id: tuple[str, ...], *, of: str = "") -> str:
    """The grain of a row, as ``partitioning.grains`` has it; ``of`` is the alias of the table, if it has one."""
    prefix = f"{of}." if of else ""
    columns = ", ".join(f"{prefix}{quoted(name)}" for name in row_id)
    return f"CAST(shiftrightunsigned(xxhash64({columns}), {_SHIFT}) AS INT)"


def with_bucket(frame: DataFrame, function: PartitioningFunction, *, key: str) -> DataFrame:
    """
    The frame with a column ``bucket``: the key's route, otherwise its slot's bucket; of a split key, the bucket of the row's grain.

    The slot table is an array literal, routes and splits are broadcast joins; the NULL key has a bucket like any other. A frame
    that is split by must have the function's ``row_id``.
    """
    bucket = array_literal(function.slot_list)[slot_column(key, function.n_slots)]
    joined = frame
    if function.routes:
        joined = _joined(joined, routes_frame(frame.sparkSession, function), key)
        bucket = F.coalesce("__route_bucket", bucket)
    if function.splits:
        check_row_id(frame, function)
        joined = _joined(joined, _splits_frame(frame.sparkSession, function), key)
        of_grain = F.get("__split_buckets", F.expr(grain_expression(function.row_id)))
        bucket = F.coalesce(of_grain, bucket)
    return joined.withColumn("bucket", bucket).drop("__route_bucket", "__split_buckets")


def check_row_id(frame: DataFrame, function: PartitioningFunction) -> None:
    """Refuse a frame that lacks what tells its rows apart, or has it in a type that is not hashed alike everywhere."""
    types = dict(frame.dtypes)
    wrong = {name: types.get(name, "no such column") for name in function.row_id}
    wrong = {name: found for name, found in wrong.items() if not is_grain_type(found)}
    if wrong:
        raise JobError(
            f"rows of split keys must have the columns {', '.join(function.row_id)}, of plain types. Got"
            f" {', '.join(f'{name}: {found}' for name, found in wrong.items())}. Their hash says where a row goes: bring them with the"
            " rows."
        )


def _joined(frame: DataFrame, exceptions: DataFrame, key: str) -> DataFrame:
    """With what the exceptions say of the row's key, in the columns that they have beside it."""
    name = exceptions.columns[0]
    return frame.join(F.broadcast(exceptions), F.col(quoted(key)).eqNullSafe(F.col(name)), "left").drop(name)


def routes_frame(spark: SparkSession, function: PartitioningFunction) -> DataFrame:
    keys, buckets = map(list, zip(*function.route_list, strict=True))
    schema = f"__route_key {function.key_type}, __route_bucket int"
    return local_frame(spark, {"__route_key": keys, "__route_bucket": buckets}, schema)


def _splits_frame(spark: SparkSession, function: PartitioningFunction) -> DataFrame:
    """Each split key with the bucket of each of its grains: finding a row's is one look into an array."""
    buckets = [bucket_per_grain(parts) for parts in function.splits.values()]
    columns: dict[str, list[Any]] = {"__split_key": list(function.splits), "__split_buckets": buckets}
    return local_frame(spark, columns, f"__split_key {function.key_type}, __split_buckets array<int>")


def with_split(frame: DataFrame, function: PartitioningFunction, *, key: str) -> DataFrame:
    """The frame with a column ``is_split``: whether the function splits the row's key."""
    return _marked(frame, list(function.splits), function.key_type, key=key, mark="is_split")


def with_exception(frame: DataFrame, function: PartitioningFunction, *, key: str) -> DataFrame:
    """The frame with a column ``is_exception``: whether the row's key has a route or is split."""
    return _marked(frame, function.exceptions, function.key_type, key=key, mark="is_exception")


def _marked(frame: DataFrame, keys: list[Any], key_type: str, *, key: str, mark: str) -> DataFrame:
    if not keys:
        return frame.withColumn(mark, F.lit(False))
    marked = local_frame(frame.sparkSession, {"__marked": keys}, f"__marked {key_type}")
    joined = _joined(frame, marked.withColumn(mark, F.lit(True)), key)
    return joined.withColumn(mark, F.coalesce(mark, F.lit(False)))


def local_frame(spark: SparkSession, columns: dict[str, list[Any]], schema: str) -> DataFrame:
    """A few values as a part of the query's plan: no task is started to fetch them."""
    return spark.createDataFrame(pa.table(columns), schema)
