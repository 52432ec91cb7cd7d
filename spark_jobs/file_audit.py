"""Every row of the table against its function and its file's statistics, one line a file."""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from partitioning.function import PartitioningFunction
from spark_jobs.layout_transaction import LayoutTransaction
from spark_jobs.locations import uri_of
from spark_jobs.routing import slot_column, with_bucket
from spark_jobs.sql_names import quoted


def audited_files(transaction: LayoutTransaction, function: PartitioningFunction) -> DataFrame:
    """
    The files of the transaction's version as ``file_frame`` has them, and what a read of all their rows says of each.

    - ``name``, ``seen_rows``;
    - ``rows_astray``: rows outside their bucket; ``example``: a key of one of them, as text;
    - ``low_target``, ``high_target``: the least and the greatest bucket that its rows belong into;
    - ``is_false``: whether its statistics or its rows' slots are not true.
    """
    files = transaction.file_frame().withColumn("name", _name(F.get_json_object("action", "$.path")))
    joined = files.join(_seen(transaction, function), "name", "left")
    counted = joined.withColumn("seen_rows", F.coalesce("seen_rows", F.lit(0)))
    return counted.withColumn("rows_astray", F.coalesce("rows_astray", F.lit(0))).withColumn(
        "is_false", _is_false()
    )


def _name(path: Column) -> Column:
    return F.element_at(F.split(path, "/"), -1)


def _seen(transaction: LayoutTransaction, function: PartitioningFunction) -> DataFrame:
    dataset = transaction.dataset
    state = (
        transaction.spark.read.format("delta")
        .option("versionAsOf", transaction.version)
        .load(uri_of(dataset.state))
    )
    has_time = dataset.event_time in state.columns
    time = F.col(quoted(dataset.event_time)) if has_time else F.lit(None).cast("timestamp")
    found = state.select(
        "*",
        F.col("_metadata.file_name").alias("__name"),
        F.col("bucket").alias("__stored_bucket"),
    )
    rows = with_bucket(found, function, key=dataset.key).select(
        F.col("__name").alias("name"),
        F.col(quoted(dataset.key)).alias("key"),
        F.col("slot").alias("stored_slot"),
        F.col("__stored_bucket").alias("stored_bucket"),
        F.col("bucket"),
        time.alias("time"),
    )
    slot = slot_column("key", function.n_slots)
    is_astray = F.col("bucket") != F.col("stored_bucket")
    return rows.groupBy("name").agg(
        F.count(F.lit(1)).alias("seen_rows"),
        F.count_if(is_astray).alias("rows_astray"),
        F.max(F.when(is_astray, F.col("key").cast("string"))).alias("example"),
        F.min("bucket").alias("low_target"),
        F.max("bucket").alias("high_target"),
        F.min(slot).alias("seen_low_slot"),
        F.max(slot).alias("seen_high_slot"),
        F.count_if(~F.col("stored_slot").eqNullSafe(slot)).alias("wrong_slots"),
        F.min("time").alias("seen_first_time"),
        F.max("time").alias("seen_last_time"),
    )


def _is_false() -> Column:
    """Statistics may say less than there is to say, never something untrue."""
    return (
        (F.coalesce("rows", F.col("seen_rows")) != F.col("seen_rows"))
        | (F.coalesce("wrong_slots", F.lit(0)) > 0)
        | F.coalesce(F.col("seen_low_slot") < F.col("low_slot"), F.lit(False))
        | F.coalesce(F.col("seen_high_slot") > F.col("high_slot"), F.lit(False))
        | F.coalesce(F.col("seen_first_time") < F.col("first_time"), F.lit(False))
        | F.coalesce(F.col("seen_last_time") > F.col("last_time"), F.lit(False))
    )
