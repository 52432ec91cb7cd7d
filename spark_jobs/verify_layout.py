"""Prove that a migration lost, doubled and split nothing: rows and checksums before and after, every row at home."""

from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from partitioning.function import PartitioningFunction
from spark_jobs.job import JobError, Result, Task, run_job
from spark_jobs.routing import quoted, with_bucket
from spark_jobs.state_table import OURS
from spark_jobs.table_log import current_function, move_commit


def content_of(state: DataFrame) -> dict[str, Any]:
    """Rows and an order-free checksum over the user's columns."""
    columns = [F.col(quoted(name)) for name in state.columns if name not in OURS]
    checksum = F.sum(F.xxhash64(*columns).cast("decimal(38,0)")).alias("checksum")
    row = state.agg(F.count("*").alias("rows"), checksum).first()
    return {} if row is None else {"rows": row["rows"], "checksum": str(row["checksum"] or 0)}


def rows_astray(state: DataFrame, function: PartitioningFunction, *, key: str) -> int:
    """Rows that are not in the bucket that the function gives their key. 0 also means: every key in one bucket."""
    actual = state.withColumnRenamed("bucket", "actual")
    return with_bucket(actual, function, key=key).where(~F.col("bucket").eqNullSafe(F.col("actual"))).count()


def verify_layout(task: Task) -> Result:
    dataset = task.dataset
    reader = task.spark.read.format("delta")
    commit = move_commit(dataset, task.plan)
    astray = rows_astray(reader.load(dataset.state), current_function(dataset), key=dataset.key)
    result: Result = {"plan": task.plan, "rows_astray": astray, "conserved": True}
    if commit:
        before, after = (
            content_of(reader.option("versionAsOf", version).load(dataset.state))
            for version in (commit["version"] - 1, commit["version"])
        )
        result |= {"before": before, "after": after, "conserved": before == after}
    if astray or not result["conserved"]:
        raise JobError(
            f"plan {task.plan} must keep every row, once, in its bucket. Got {result}. Stop all writers of"
            f" {dataset.state} and look at its history: the version before the migration is still there."
        )
    task.say("every row is there, once, in the bucket that the function says")
    return result


if __name__ == "__main__":
    run_job(verify_layout, about=__doc__, needs_plan=True)
