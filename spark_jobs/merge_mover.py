"""The ``merge`` mover: one public MERGE with deletion vectors, which writes the moved rows and nothing else."""

import json

from delta.tables import DeltaTable
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from partitioning.classify import changed_buckets
from schemas.dataset import Dataset
from spark_jobs.function_change import FunctionChange, Moved
from spark_jobs.job import JobError
from spark_jobs.layout_transaction import retrying
from spark_jobs.locations import uri_of
from spark_jobs.routing import with_bucket
from spark_jobs.sql_names import quoted
from spark_jobs.state_table import read_table, set_properties, user_metadata
from spark_jobs.table_log import FUNCTION, MOVING, properties_of


def merge_rows(spark: SparkSession, dataset: Dataset, change: FunctionChange) -> None:
    """
    Bring the rows into their new buckets, then let the table name the new function.

    Three commits: the table says that it is being moved, the rows move, the table names the new function. Killed
    in between, the table refuses to be loaded or planned on until the same change is made again, and every
    step can be repeated: rows that have moved no longer match. Others' commits make the rows move again, as often as
    ``retrying`` tries.
    """
    properties = properties_of(dataset)
    moving = properties.get(MOVING) or change.after.digest
    if moving != change.after.digest:
        raise JobError(
            f"{MOVING} must be empty or {change.after.digest[:12]}. Got {moving[:12]}: a move to that function was"
            " interrupted. Run the job that was interrupted again: it finishes."
        )
    if not properties.get(MOVING) and change.is_done_in(properties[FUNCTION]):
        return
    set_properties(spark, dataset, **{MOVING: change.after.digest})
    retrying(dataset, lambda: _merge(spark, dataset, change))
    set_properties(spark, dataset, **change.properties, **{MOVING: ""})


def _merge(spark: SparkSession, dataset: Dataset, change: FunctionChange) -> None:
    sources = changed_buckets(change.before, change.after)
    if not sources:
        return
    # Literals: only these prune files.
    numbers = ", ".join(map(str, sources))
    table = DeltaTable.forPath(spark, uri_of(dataset.state))
    with user_metadata(spark, json.dumps(change.note(Moved(), mover="merge"))):
        (
            table.alias("t")
            .merge(
                _moving_keys(spark, dataset, change, sources).alias("s"),
                f"t.bucket IN ({numbers}) AND t.bucket = s.from_bucket AND t.{quoted(dataset.key)} <=> s.key",
            )
            .whenMatchedUpdate(set={"bucket": F.col("s.to_bucket")})
            .execute()
        )


def _moving_keys(
    spark: SparkSession, dataset: Dataset, change: FunctionChange, sources: list[int]
) -> DataFrame:
    """Each key that has to leave, once: where it is and where it goes."""
    held = (
        read_table(spark, dataset.state)
        .where(F.col("bucket").isin(sources))
        .select(F.col(quoted(dataset.key)).alias("key"), F.col("bucket").alias("from_bucket"))
        .distinct()
    )
    routed = with_bucket(held, change.after, key="key").withColumnRenamed("bucket", "to_bucket")
    return routed.where("from_bucket <> to_bucket")
