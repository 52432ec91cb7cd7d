"""The ``merge`` mover: one public MERGE with deletion vectors, which writes the moved rows and nothing else."""

from delta.tables import DeltaTable
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from schemas.dataset import Dataset
from schemas.tables import MOVES
from spark_jobs.control_tables import read_rows
from spark_jobs.routing import key_from_text, quoted
from spark_jobs.state_table import set_properties, user_metadata
from spark_jobs.table_log import FUNCTION, MOVING, commit_note


def move_rows(spark: SparkSession, dataset: Dataset, *, plan: str, to_function: str) -> None:
    """
    Bring the plan's keys into their new buckets, then let the table name the new function.

    Three commits: the table says that it is being moved, the rows move, the table names the new function. Killed
    in between, the table refuses to be loaded or planned on until the same plan is migrated again, and every
    step can be repeated: rows that have moved no longer match.
    """
    set_properties(spark, dataset, **{MOVING: plan})
    moves = _typed_moves(spark, dataset, plan)
    buckets = sorted(row["from_bucket"] for row in moves.select("from_bucket").distinct().collect())
    if buckets:
        with user_metadata(spark, commit_note(plan)):
            _merge(spark, dataset, moves, buckets)
    set_properties(spark, dataset, **{FUNCTION: to_function, MOVING: ""})


def _typed_moves(spark: SparkSession, dataset: Dataset, plan: str) -> DataFrame:
    stored = read_rows(MOVES, dataset=dataset.name, plan=plan).select(["key", "from_bucket", "to_bucket"])
    moves = spark.createDataFrame(stored)
    return moves.select(
        key_from_text(F.col("key"), dataset.key_type).alias("key"), "from_bucket", "to_bucket"
    )


def _merge(spark: SparkSession, dataset: Dataset, moves: DataFrame, buckets: list[int]) -> None:
    sources = ", ".join(str(bucket) for bucket in buckets)  # literals: only these prune files
    (
        DeltaTable.forPath(spark, dataset.state)
        .alias("t")
        .merge(
            F.broadcast(moves).alias("s"),
            f"t.bucket IN ({sources}) AND t.bucket = s.from_bucket AND t.{quoted(dataset.key)} <=> s.key",
        )
        .whenMatchedUpdate(set={"bucket": F.col("s.to_bucket")})
        .execute()
    )
