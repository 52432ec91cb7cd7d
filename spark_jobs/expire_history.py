"""
Delete what the control tables hold of windows that ended more than ``schedules.history_days`` before the newest one.

Functions stay for ever: a table may name any of them. So does the plan that the table has its function from, with its moves.
Counted from the newest window, not from today: a dataset that rests forgets nothing.
"""

from datetime import datetime, timedelta

from deltalake import DeltaTable

from schemas.dataset import Dataset
from schemas.tables import CHECKS, FEED_ASSIGNMENTS, FORECASTS, ITEM_STATS, MOVES, PLANS, RUNS, SCORES, Table
from spark_jobs.control_tables import literal, read_rows
from spark_jobs.job import Result, Task, run_job
from spark_jobs.table_log import layout_commit

KEPT_FILES = timedelta(days=7)  # how long files of the control tables' earlier versions stay


def expire_history(task: Task) -> Result:
    dataset = task.dataset
    newest = max(read_rows(ITEM_STATS, dataset=dataset.name)["window_start"].to_pylist(), default=None)
    if newest is None:
        task.say("no window was profiled yet: nothing to forget")
        return {"rows_expired": 0}
    cutoff = newest - timedelta(days=dataset.history_days)
    of_windows = (ITEM_STATS, FEED_ASSIGNMENTS, CHECKS, RUNS, SCORES)
    expired = sum(_expire(table, dataset, cutoff) for table in of_windows)
    expired += _expire_plans(dataset, cutoff)
    task.say(f"{expired:,} rows of windows before {cutoff:%Y-%m-%d} forgotten")
    return {"rows_expired": expired}


def _expire(table: Table, dataset: Dataset, cutoff: datetime) -> int:
    return _delete(table, dataset, f"window_start < {literal(cutoff)}")


def _expire_plans(dataset: Dataset, cutoff: datetime) -> int:
    """Plans last: one without its moves or its forecast would be one that was edited."""
    in_use = (layout_commit(dataset) or {}).get("plan", "")
    plans = read_rows(PLANS, dataset=dataset.name).to_pylist()
    names = [plan["plan"] for plan in plans if plan["window_start"] < cutoff and plan["plan"] != in_use]
    if not names:
        return 0
    predicate = f"plan IN ({', '.join(map(literal, names))})"
    return sum(_delete(table, dataset, predicate) for table in (MOVES, FORECASTS, PLANS))


def _delete(table: Table, dataset: Dataset, predicate: str) -> int:
    """Delete these rows of the dataset, merge its small files, and drop files that no recent version needs; how many rows."""
    if not DeltaTable.is_deltatable(table.path):
        return 0
    log = DeltaTable(table.path)
    deleted = log.delete(f"dataset = {literal(dataset.name)} AND {predicate}")
    log.optimize.compact(partition_filters=[("dataset", "=", dataset.name)])
    log.vacuum(retention_hours=int(KEPT_FILES / timedelta(hours=1)), dry_run=False)
    return int(deleted.get("num_deleted_rows") or 0)


if __name__ == "__main__":
    run_job(expire_history, about=__doc__)
