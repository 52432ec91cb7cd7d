"""Bring a window's events into the state table, each row in its key's bucket, and drop windows that expired."""

from dataclasses import dataclass, replace
from datetime import datetime

from delta.tables import DeltaTable
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from schemas.dataset import Dataset
from spark_jobs.appending import append_rows, scanned_bytes
from spark_jobs.data_files import collected
from spark_jobs.feed_loading import FedWindow, fed_window, in_window
from spark_jobs.feeds import read_events
from spark_jobs.job import Result, Task, Window, run_job
from spark_jobs.layout_transaction import LayoutTransaction, Written, in_transaction, retrying
from spark_jobs.locations import uri_of
from spark_jobs.sql_names import quoted

_MARK = "evenkeel/load/"


def window_events(task: Task) -> DataFrame:
    """The window's rows, whatever brings them."""
    return in_window(read_events(task.spark, task.dataset), task.dataset.event_time, task.window)


def load_window(task: Task) -> Result:
    """
    Append the window exactly once, however often it is called, and drop what expired.

    The mark that says that the window is in is part of the commit that brings its rows. Files that have expired as a whole
    leave in the same commit; where only some rows of a file have, they are deleted afterwards. Feeds are read by their loaders, one
    task each, as ``feed_assignments`` has it.
    """
    if task.dataset.rows_per_key == "one":
        task.say("nothing to load: its rows are upserted by the dataset's own jobs")
        return {"rows": 0, "files_expired": 0}
    fed = _fed(task)
    events = fed.events() if fed and not fed.is_loaded else window_events(task)
    loaded = in_transaction(task.spark, task.dataset, lambda change: _load(change, task.window, events))
    n_deleted = (
        retrying(task.dataset, lambda: _delete_expired(task, loaded.cutoff)) if loaded.has_stale_rows else 0
    )
    task.say(
        f"{loaded.rows:,} rows loaded in {loaded.files} files, {loaded.files_expired} files expired as a whole,"
        f" {n_deleted:,} rows deleted one by one"
    )
    return {
        "function": loaded.function,
        "rows": loaded.rows,
        "files": loaded.files,
        "files_expired": loaded.files_expired,
        "rows_expired": n_deleted,
        **({"feeds": fed.note_rows()} if fed else {}),
    }


def _fed(task: Task) -> FedWindow | None:
    """The window's feeds and their loaders; None where one table brings the events."""
    if not task.dataset.feeds:
        return None
    is_loaded = LayoutTransaction(task.spark, task.dataset).is_marked(mark_of(task.dataset, task.window))
    return fed_window(task, is_loaded=is_loaded)


@dataclass(frozen=True, kw_only=True)
class _Loaded:
    """What the commit did, and what it could not."""

    function: str
    cutoff: datetime | None  # rows before it have expired
    has_stale_rows: bool  # whether files that stay may hold such rows
    rows: int = 0
    files: int = 0
    files_expired: int = 0


def _load(transaction: LayoutTransaction, window: Window, events: DataFrame) -> _Loaded:
    mark = mark_of(transaction.dataset, window)
    cutoff = oldest_kept(transaction.dataset, [*_loaded_windows(transaction), window])
    has_stale_rows = cutoff is not None and not _partly_expired(transaction, cutoff).isEmpty()
    nothing = _Loaded(function=transaction.function, cutoff=cutoff, has_stale_rows=has_stale_rows)
    if transaction.is_marked(mark):
        return nothing
    n_expired = 0 if cutoff is None else _remove_expired(transaction, cutoff)
    is_wanted = cutoff is None or window.end > cutoff
    written = append_rows(transaction, events, n_bytes=scanned_bytes(events)) if is_wanted else Written()
    transaction.mark(mark)
    transaction.commit({"evenkeel": "load", "window": window.name, "rows": written.rows})
    return replace(nothing, rows=written.rows, files=written.files, files_expired=n_expired)


def _remove_expired(transaction: LayoutTransaction, cutoff: datetime) -> int:
    """Take out the files all of whose rows have expired; how many."""
    expired = collected(transaction.file_frame().where(F.col("last_time") <= F.lit(cutoff)))
    transaction.remove(expired, is_data_lost=True)
    return len(expired)


def _partly_expired(transaction: LayoutTransaction, cutoff: datetime) -> DataFrame:
    """Files that may hold expired rows beside others."""
    first, last = F.col("first_time"), F.col("last_time")
    may_begin_before = first.isNull() | (first < F.lit(cutoff))
    return transaction.file_frame().where(may_begin_before & (last.isNull() | (last > F.lit(cutoff))))


def mark_of(dataset: Dataset, window: Window) -> str:
    return f"{_MARK}{dataset.name}/{window.start.isoformat()}/{window.end.isoformat()}"


def _loaded_windows(transaction: LayoutTransaction) -> list[Window]:
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


def _delete_expired(task: Task, cutoff: datetime | None) -> int:
    """Delete expired rows one by one; how many. Can be repeated, and does nothing then."""
    table = DeltaTable.forPath(task.spark, uri_of(task.dataset.state))
    before = table.history(1).first()
    table.delete(F.col(quoted(task.dataset.event_time)) < F.lit(cutoff))
    after = table.history(1).first()
    if not before or not after or before["version"] == after["version"] or after["operation"] != "DELETE":
        return 0
    return int(after["operationMetrics"].get("numDeletedRows", 0))


if __name__ == "__main__":
    run_job(load_window, about=__doc__, needs=("window",))
