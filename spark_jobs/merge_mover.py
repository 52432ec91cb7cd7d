"""The ``merge`` mover: one public MERGE with deletion vectors, which writes the moved rows and nothing else."""

import pyarrow as pa
from delta.tables import DeltaTable
from pyspark.sql import SparkSession
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
    moves = read_rows(MOVES, dataset=dataset.name, plan=plan).select(["key", "from_bucket", "to_bucket"])
    if moves.num_rows:
        with user_metadata(spark, commit_note(plan)):
            _merge(spark, dataset, moves)
    set_properties(spark, dataset, **{FUNCTION: to_function, MOVING: ""})


def _merge(spark: SparkSession, dataset: Dataset, moves: pa.Table) -> None:
    sources = ", ".join(str(bucket) for bucket in sorted(set(moves["from_bucket"].to_pylist())))
    stored = spark.createDataFrame(moves)
    typed = stored.withColumn("key", key_from_text(F.col("key"), dataset.key_type))
    (
        DeltaTable.forPath(spark, dataset.state)
        .alias("t")
        .merge(
            F.broadcast(typed).alias("s"),
            # Literals: only these prune files.
            f"t.bucket IN ({sources}) AND t.bucket = s.from_bucket AND t.{quoted(dataset.key)} <=> s.key",
        )
        .whenMatchedUpdate(set={"bucket": F.col("s.to_bucket")})
        .execute()
    )
