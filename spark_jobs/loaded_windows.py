"""Which windows are in a state table, as its log says: each left a mark in the commit that brought its rows."""

from collections.abc import Iterable
from datetime import UTC, datetime

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from schemas.dataset import Dataset
from schemas.intervals import interval_start
from spark_jobs.job import Window
from spark_jobs.layout_transaction import LayoutTransaction
from spark_jobs.sql_names import quoted

_MARK, _TURN = "evenkeel/load/", "evenkeel/loading/"


def loaded_windows(transaction: LayoutTransaction) -> list[Window]:
    ours = f"{_MARK}{transaction.dataset.name}/"
    names = [mark.removeprefix(ours).split("/") for mark in transaction.marks() if mark.startswith(ours)]
    return [
        Window(start=datetime.fromisoformat(start), end=datetime.fromisoformat(end)) for start, end in names
    ]


def mark_loaded(transaction: LayoutTransaction, window: Window) -> None:
    """
    Let the commit say that the window is in.

    Two windows may overlap, so loads take turns: one at the same time refuses our commit, and we look again at what is in.
    """
    name = transaction.dataset.name
    turn = f"{_TURN}{name}"
    transaction.is_marked(turn)
    transaction.mark(turn)
    start, end = (moment.astimezone(UTC).isoformat() for moment in (window.start, window.end))
    transaction.mark(f"{_MARK}{name}/{start}/{end}")


def is_covered(window: Window, loaded: Iterable[Window]) -> bool:
    """Whether every moment of the window lies in one that is loaded."""
    reached = window.start
    for other in sorted(loaded, key=lambda other: other.start):
        if other.start > reached:
            break
        reached = max(reached, other.end)
    return reached >= window.end


def without_loaded(events: DataFrame, window: Window, loaded: Iterable[Window], *, time: str) -> DataFrame:
    """The window's events without those that came with another window."""
    at = F.col(quoted(time))
    for other in loaded:
        if other.start < window.end and window.start < other.end:
            events = events.where((at < F.lit(other.start)) | (at >= F.lit(other.end)))
    return events


def oldest_kept(dataset: Dataset, windows: Iterable[Window]) -> datetime | None:
    """
    Rows before this moment have expired. None: nothing expires.

    Kept are the last ``keep_windows`` intervals of the schedule up to the end of the newest window, the one it ends in included;
    how long that window is does not matter.
    """
    newest = max((window.end for window in windows), default=None)
    if dataset.keep_windows is None or newest is None:
        return None
    return interval_start(dataset.schedule, newest, dataset.keep_windows)
