"""The ``merge`` mover: one public MERGE with deletion vectors, which writes the moved rows and nothing else."""

import json

from delta.tables import DeltaTable
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from partitioning.classify import changed_buckets
from partitioning.function import PartitioningFunction
from schemas.dataset import Dataset
from spark_jobs.function_change import FunctionChange, Moved
from spark_jobs.job import JobError
from spark_jobs.layout_transaction import retrying
from spark_jobs.locations import uri_of
from spark_jobs.routing import grain_expression, with_bucket, with_split
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
    moving = _moving_keys(spark, dataset, change, sources)
    table = DeltaTable.forPath(spark, uri_of(dataset.state))
    with user_metadata(spark, json.dumps(change.note(Moved(), mover="merge"))):
        (
            table.alias("t")
            .merge(
                moving.alias("s"),
                f"t.bucket IN ({numbers}) AND t.bucket = s.from_bucket AND t.{quoted(dataset.key)} <=> s.key"
                f"{_of_grain(change.after, of='t')}",
            )
            .whenMatchedUpdate(set={"bucket": F.col("s.to_bucket")})
            .execute()
        )


def _moving_keys(
    spark: SparkSession, dataset: Dataset, change: FunctionChange, sources: list[int]
) -> DataFrame:
    """Each key, and of split keys each grain, that has to leave, once: where it is and where it goes."""
    state = read_table(spark, dataset.state).where(F.col("bucket").isin(sources))
    routed = with_bucket(state.withColumn("__from", F.col("bucket")), change.after, key=dataset.key)
    columns = [
        F.col(quoted(dataset.key)).alias("key"),
        F.col("__from").alias("from_bucket"),
        F.col("bucket").alias("to_bucket"),
    ]
    if change.after.splits:
        # Rows of a key that is split afterwards leave one bucket for several: there the grain tells which.
        routed = with_split(routed, change.after, key=dataset.key)
        grain = F.expr(grain_expression(change.after.row_id))
        columns.append(F.when(F.col("is_split"), grain).alias("grain"))
    return routed.where("__from <> bucket").select(columns).distinct()


def _of_grain(after: PartitioningFunction, *, of: str) -> str:
    """The part of the condition that tells rows of split keys apart."""
    if not after.splits:
        return ""
    return f" AND (s.grain IS NULL OR s.grain = {grain_expression(after.row_id, of=of)})"
