"""A window's events as its loaders read them: one task a loader, which reads its feeds one after the other."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from spark_jobs.control_tables import Row
from spark_jobs.feed_assignments import (
    Facts,
    assign_window,
    assigned_windows,
    counted_rates,
    feed_sentences,
    known_rates,
    save_window,
    window_feed_facts,
)
from spark_jobs.feeds import find_feeds, read_feeds, together
from spark_jobs.job import Task, Window
from spark_jobs.sql_names import quoted

# A union of single partitions would be one partition: one task for all loaders.
_UNION_AS_ONE = "spark.sql.unionOutputPartitioning"
_FEED = "__feed"


@dataclass(frozen=True, kw_only=True, eq=False)
class FedWindow:
    """A window that is about to be loaded from feeds."""

    task: Task
    frames: dict[str, DataFrame]  # the window's rows of each feed
    rows: list[Row]  # its assignment
    is_loaded: bool  # whether it is in already: there is nothing left to read then

    @property
    def loader_of(self) -> dict[str, int]:
        return {row["feed"]: row["loader"] for row in self.rows}

    def events(self) -> DataFrame:
        """All rows, one partition a loader, in the order of the loaders."""
        self.task.spark.conf.set(_UNION_AS_ONE, "false")
        feeds_of: dict[int, list[str]] = {}
        for name, loader in sorted(self.loader_of.items(), key=lambda pair: (pair[1], pair[0])):
            feeds_of.setdefault(loader, []).append(name)
        return together(
            [together([self.frames[name] for name in names]).coalesce(1) for names in feeds_of.values()]
        )

    def count_rows(self) -> dict[str, int]:
        """How many rows each feed brings in this window."""
        named = [frame.select(F.lit(name).alias(_FEED)) for name, frame in self.frames.items()]
        counts = together(named).groupBy(_FEED).count().toArrow()
        found = dict(zip(counts[_FEED].to_pylist(), counts["count"].to_pylist(), strict=True))
        return {name: found.get(name, 0) for name in self.frames}

    def note_rows(self) -> Facts:
        """Keep what each feed brought, and say how well its loaders were chosen. Can be repeated."""
        if any(row["rows"] is None for row in self.rows):
            counted = self.count_rows()
            self._save([{**row, "rows": counted.get(row["feed"], 0)} for row in self.rows])
        facts = window_feed_facts(self.task.dataset.name, self.task.window.start) or {}
        for sentence in feed_sentences(facts):
            self.task.say(sentence)
        return facts

    def _save(self, rows: Sequence[Row]) -> None:
        save_window(self.task.dataset, self.task.window, rows)


def fed_window(task: Task, *, is_loaded: bool) -> FedWindow:
    """
    The window's feeds and who reads them. The assignment is written before anything is loaded, and reread whenever the load is tried again.

    Where a feed came or went between two tries it is made anew; once the window is loaded it stays as it was.
    """
    feeds = find_feeds(task.spark, task.dataset)
    frames = {
        name: in_window(frame, task.dataset.event_time, task.window)
        for name, frame in read_feeds(task.spark, task.dataset, feeds).items()
    }
    windows = assigned_windows(task.dataset.name)
    stored = windows.get(task.window.start, [])
    if stored and (is_loaded or {row["feed"] for row in stored} == frames.keys()):
        return FedWindow(task=task, frames=frames, rows=stored, is_loaded=is_loaded)
    fed = FedWindow(task=task, frames=frames, rows=[], is_loaded=is_loaded)
    known = known_rates(task.dataset, task.window, feeds, windows)
    if known.is_nothing:
        counted = fed.count_rows()
        known = counted_rates(task.dataset, task.window, feeds, known, [counted[feed.name] for feed in feeds])
    assigned = assign_window(task.dataset, task.window, feeds, known)
    for sentence in assigned.sentences:
        task.say(sentence)
    save_window(task.dataset, task.window, assigned.rows)
    return replace(fed, rows=assigned.rows)


def in_window(events: DataFrame, time_column: str, window: Window) -> DataFrame:
    """The rows whose time lies in the window."""
    time = F.col(quoted(time_column))
    return events.where((time >= F.lit(window.start)) & (time < F.lit(window.end)))
