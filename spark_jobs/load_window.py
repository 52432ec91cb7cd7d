"""Bring a window's events into the state table, each row in its key's bucket, and drop windows that expired."""

from datetime import datetime

from delta.tables import DeltaTable
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from schemas.dataset import Dataset
from spark_jobs.appending import append_rows
from spark_jobs.data_files import collected
from spark_jobs.job import Result, Task, Window, run_job
from spark_jobs.layout_transaction import LayoutTransaction, in_transaction, retrying
from spark_jobs.locations import uri_of
from spark_jobs.routing import quoted
from spark_jobs.state_table import read_table
from spark_jobs.table_log import refuse_moving

_MARK = "evenkeel/load/"


def window_events(task: Task) -> DataFrame:
    """The window's rows of the events table."""
    events = read_table(task.spark, task.dataset.events)
    time = F.col(quoted(task.dataset.event_time))
    return events.where((time >= F.lit(task.window.start)) & (time < F.lit(task.window.end)))


def load_window(task: Task) -> Result:
    """
    Append the window exactly once, however often it is called, and drop what expired.

    The mark that says that the window is in is part of the commit that brings its rows. Files that have expired as a whole
    leave in the same commit; where only some rows of a file have, they are deleted afterwards.
    """
    if task.dataset.rows_per_key == "one":
        task.say("nothing to load: its rows are upserted by the dataset's own jobs")
        return {"rows": 0, "files_expired": 0}
    events = window_events(task)
    result = in_transaction(task.spark, task.dataset, lambda change: _load(change, task.window, events))
    result["rows_expired"] = retrying(task.dataset, lambda: _delete_expired(task))
    task.say(
        f"{result['rows']:,} rows loaded in {result['files']} files, {result['files_expired']} files expired as a whole,"
        f" {result['rows_expired']:,} rows deleted one by one"
    )
    return result


def _load(transaction: LayoutTransaction, window: Window, events: DataFrame) -> Result:
    refuse_moving(transaction.properties)
    mark = mark_of(transaction.dataset, window)
    result: Result = {"function": transaction.function, "rows": 0, "files": 0, "files_expired": 0}
    if transaction.is_marked(mark):
        return result
    cutoff = oldest_kept(transaction.dataset, [*_loaded(transaction), window])
    if cutoff is not None:
        expired = collected(transaction.file_frame().where(F.col("last_time") <= F.lit(cutoff)))
        transaction.remove(expired, is_data_lost=True)
        result["files_expired"] = len(expired)
    if cutoff is None or window.end > cutoff:
        written = append_rows(transaction, events)
        result |= {"rows": written.rows, "files": written.files}
    transaction.mark(mark)
    transaction.commit({"evenkeel": "load", "window": window.name, "rows": result["rows"]})
    return result


def mark_of(dataset: Dataset, window: Window) -> str:
    return f"{_MARK}{dataset.name}/{window.start.isoformat()}/{window.end.isoformat()}"


def _loaded(transaction: LayoutTransaction) -> list[Window]:
    """The windows that are in, from the table's own marks."""
    ours = f"{_MARK}{transaction.dataset.name}/"
    names = [mark.removeprefix(ours).split("/") for mark in transaction.marks() if mark.startswith(ours)]
    return [
        Window(start=datetime.fromisoformat(start), end=datetime.fromisoformat(end)) for start, end in names
    ]


def oldest_kept(dataset: Dataset, windows: list[Window]) -> datetime | None:
    """Rows before this moment have expired: only the last windows up to the newest are kept. None: nothing expires."""
    if dataset.keep_windows is None or not windows:
        return None
    newest = max(windows, key=lambda window: window.end)
    return newest.end - dataset.keep_windows * (newest.end - newest.start)


def _delete_expired(task: Task) -> int:
    """Delete the expired rows of files that also hold others; can be repeated, and does nothing then."""
    transaction = LayoutTransaction(task.spark, task.dataset)
    cutoff = oldest_kept(task.dataset, _loaded(transaction))
    if cutoff is None:
        return 0
    first_time = F.col("first_time")
    if transaction.file_frame().where(first_time.isNull() | (first_time < F.lit(cutoff))).isEmpty():
        return 0
    table = DeltaTable.forPath(task.spark, uri_of(task.dataset.state))
    table.delete(F.col(quoted(task.dataset.event_time)) < F.lit(cutoff))
    newest = table.history(1).first()
    if newest is None or newest["version"] <= transaction.version or newest["operation"] != "DELETE":
        return 0
    return int(newest["operationMetrics"].get("numDeletedRows", 0))


if __name__ == "__main__":
    run_job(load_window, about=__doc__, needs=("window",))
