"""Bring a window's events into the state table, each row in its key's bucket, and drop windows that expired."""

from dataclasses import dataclass, replace
from datetime import datetime

from delta.tables import DeltaTable
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from spark_jobs.appending import append_rows, scanned_bytes
from spark_jobs.data_files import collected
from spark_jobs.feed_loading import FedWindow, fed_window, in_window
from spark_jobs.feeds import read_events
from spark_jobs.job import Result, Task, Window, run_job
from spark_jobs.layout_transaction import LayoutTransaction, Written, in_transaction, retrying
from spark_jobs.loaded_windows import (
    is_covered,
    loaded_windows,
    mark_loaded,
    oldest_kept,
    without_loaded,
)
from spark_jobs.locations import uri_of
from spark_jobs.sql_names import quoted
from spark_jobs.state_table import read_table


def window_events(task: Task) -> DataFrame:
    """The window's rows, whatever brings them."""
    return in_window(read_events(task.spark, task.dataset), task.dataset.event_time, task.window)


def load_window(task: Task) -> Result:
    """
    Append the window exactly once, however often it is called, and drop what expired.

    The mark that says that the window is in is part of the commit that brings its rows. Where it overlaps windows that are in
    already, only the moments that are new are loaded. Files that have expired as a whole leave in the same commit; where only some rows of
    a file have, they are deleted afterwards. Feeds are read by their loaders, one task each, as ``feed_assignments`` has it.

    What of a window has expired already is not brought in. Events that come after their window was loaded stay out: ``rows_late`` says how many more the events hold than the state.
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
    n_late = 0 if loaded.is_new else _count_late(task, loaded.cutoff)
    if n_late:
        task.say(
            f"the events of this window hold {n_late:,} rows more than the state: what came after it was loaded is not brought in"
            " later. Append it with spark_jobs.stateful.append if it matters"
        )
    return {
        "function": loaded.function,
        "rows": loaded.rows,
        "files": loaded.files,
        "files_expired": loaded.files_expired,
        "rows_expired": n_deleted,
        "rows_late": n_late,
        **({"feeds": fed.note_rows()} if fed else {}),
    }


def _fed(task: Task) -> FedWindow | None:
    """The window's feeds and their loaders; None where one table brings the events."""
    if not task.dataset.feeds:
        return None
    loaded = loaded_windows(LayoutTransaction(task.spark, task.dataset))
    return fed_window(task, is_loaded=is_covered(task.window, loaded))


@dataclass(frozen=True, kw_only=True)
class _Loaded:
    """What the commit did, and what it could not."""

    function: str
    cutoff: datetime | None  # rows before it have expired
    has_stale_rows: bool  # whether files that stay may hold such rows
    is_new: bool = False  # whether there was anything to load
    rows: int = 0
    files: int = 0
    files_expired: int = 0


def _load(transaction: LayoutTransaction, window: Window, events: DataFrame) -> _Loaded:
    dataset, loaded = transaction.dataset, loaded_windows(transaction)
    cutoff = oldest_kept(dataset, [*loaded, window])
    has_stale_rows = cutoff is not None and not _partly_expired(transaction, cutoff).isEmpty()
    nothing = _Loaded(function=transaction.function, cutoff=cutoff, has_stale_rows=has_stale_rows)
    if is_covered(window, loaded):
        return nothing
    n_expired = 0 if cutoff is None else _remove_expired(transaction, cutoff)
    written = Written()
    if cutoff is None or window.end > cutoff:
        new = without_loaded(events, window, loaded, time=dataset.event_time)
        if cutoff is not None:  # what of the window has expired already
            new = new.where(F.col(quoted(dataset.event_time)) >= F.lit(cutoff))
        written = append_rows(transaction, new, n_bytes=scanned_bytes(events))
    mark_loaded(transaction, window)
    transaction.commit({"evenkeel": "load", "window": window.name, "rows": written.rows})
    return replace(nothing, is_new=True, rows=written.rows, files=written.files, files_expired=n_expired)


def _count_late(task: Task, cutoff: datetime | None) -> int:
    """How many rows of a window that is in its events hold and the state does not; 0 where that cannot be told."""
    state = read_table(task.spark, task.dataset.state)
    if task.dataset.event_time not in state.columns or (cutoff is not None and task.window.start < cutoff):
        return 0
    held = in_window(state, task.dataset.event_time, task.window)
    return max(0, window_events(task).count() - held.count())


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
