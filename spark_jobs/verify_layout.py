"""
Prove that a migration lost, doubled and split nothing.

The proof is independent of what moved the rows: Spark's Delta wrote the commit, delta-rs reads the table before and after
it. Buckets that the plan does not name must hold the same files; of the others every row is compared, whatever
order it has now, and must lie in the bucket that the new function says.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import pandas as pd
import pyarrow as pa
from deltalake import DeltaTable, QueryBuilder

from partitioning.function import PartitioningFunction
from schemas.dataset import Dataset
from spark_jobs.control_tables import load_function
from spark_jobs.job import JobError, Result, Task, run_job
from spark_jobs.plan_record import read_plan
from spark_jobs.table_log import OURS, current_function, move_commit


@dataclass(frozen=True, kw_only=True)
class Content:
    """What some buckets hold: how many rows, and a checksum of the user's columns that no order changes."""

    rows: int
    checksum: int
    astray: int  # rows that are not in the bucket that the function gives their key


def verify_layout(task: Task) -> Result:
    plan, moves, _ = read_plan(task.dataset.name, task.plan)
    current_function(task.dataset)  # refuses a table that is still being moved
    commit = move_commit(task.dataset, task.plan)
    result: Result = {"plan": task.plan, "rows_compared": 0, "rows_astray": 0, "conserved": True}
    if commit:
        buckets = sorted({move[side] for move in moves for side in ("from_bucket", "to_bucket")})
        before, after = (DeltaTable(task.dataset.state, version=commit["version"] - back) for back in (1, 0))
        function = load_function(task.dataset.name, plan["to_function"])
        result |= compare(task.dataset, before, after, buckets=buckets, function=function)
    if result["rows_astray"] or not result["conserved"]:
        raise JobError(
            f"plan {task.plan} must keep every row, once, in its bucket. Got {result}. Stop all writers of"
            f" {task.dataset.state} and look at its history: the version before the migration is still there."
        )
    task.say(
        f"{result['rows_compared']:,} rows compared: each is there, once, in the bucket that the function says"
    )
    return result


def compare(
    dataset: Dataset,
    before: DeltaTable,
    after: DeltaTable,
    *,
    buckets: list[int],
    function: PartitioningFunction,
) -> Result:
    """Whether ``after`` holds what ``before`` held, with rows moved within ``buckets`` only."""
    held = content_of(before, dataset, buckets=buckets, function=function)
    holds = content_of(after, dataset, buckets=buckets, function=function)
    same_content = (held.rows, held.checksum) == (holds.rows, holds.checksum)
    same_files = files_outside(before, buckets) == files_outside(after, buckets)
    return {
        "rows_compared": holds.rows,
        "rows_astray": holds.astray,
        "conserved": same_content and same_files,
    }


def content_of(
    table: DeltaTable, dataset: Dataset, *, buckets: list[int], function: PartitioningFunction
) -> Content:
    """Read in batches, so that memory does not grow with the table."""
    rows = checksum = astray = 0
    for batch in _batches(table, buckets):
        rows += batch.num_rows
        theirs = batch.drop_columns([name for name in OURS if name in batch.schema.names])
        hashes = pd.util.hash_pandas_object(theirs.to_pandas(), index=False)
        checksum = (checksum + sum(hashes.tolist())) % 2**64
        wanted = function.buckets_of(batch[dataset.key].to_pylist())
        astray += int((wanted != batch["bucket"].to_numpy(zero_copy_only=False)).sum())
    return Content(rows=rows, checksum=checksum, astray=astray)


def _batches(table: DeltaTable, buckets: list[int]) -> Iterator[pa.RecordBatch]:
    numbers = ", ".join(str(bucket) for bucket in buckets)
    query = QueryBuilder().register("state", table)
    reader = query.execute(f"SELECT * FROM state WHERE bucket IN ({numbers})")  # noqa: S608  (whole numbers)
    for batch in reader:
        yield pa.record_batch(batch)


def files_outside(table: DeltaTable, buckets: list[int]) -> set[str]:
    """The data files of all other buckets: a file is never changed once it is written."""
    actions = pa.table(table.get_add_actions(flatten=True)).select(["path", "partition.bucket"]).to_pylist()
    return {action["path"] for action in actions if action["partition.bucket"] not in buckets}


if __name__ == "__main__":
    run_job(verify_layout, about=__doc__, needs_plan=True)
