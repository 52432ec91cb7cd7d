"""Everything that changes a state table, by name, and the steps of it that a process can die at."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any
from unittest.mock import patch

from spark_jobs import feed_loading, merge_mover, settling
from spark_jobs.job import Task
from spark_jobs.layout_transaction import LayoutTransaction
from spark_jobs.load_window import load_window
from spark_jobs.migrate_layout import migrate_layout
from spark_jobs.repair_layout import repair_layout
from spark_jobs.roll_back_layout import roll_back_layout
from spark_jobs.settle_layout import settle_layout
from spark_jobs.stateful import append, upsert
from tests.faults.scenes import delivered, upserted


def merge(task: Task) -> Any:
    return migrate_layout(replace(task, options={"mover": "merge"}))


def settle_by_bucket(task: Task) -> Any:
    """A commit for each bucket, as with a big table: there is then something between two commits."""
    with patch.object(settling, "BATCH_BYTES", 1):
        return settle_layout(task)


def append_once(task: Task) -> Any:
    return append(delivered(task.spark), task.dataset, batch="a delivery")


def upsert_some(task: Task) -> Any:
    return upsert(upserted(task.spark), task.dataset)


def chain(task: Task) -> Any:
    """A day's work: bring the window in, change the function, settle what that left mixed."""
    return [work(task) for work in (load_window, migrate_layout, settle_layout)]


WORKS: dict[str, Callable[[Task], Any]] = {
    "migrate": migrate_layout,
    "merge": merge,
    "load": load_window,
    "load feeds": load_window,
    "settle": settle_by_bucket,
    "repair": repair_layout,
    "roll back": roll_back_layout,
    "append": append_once,
    "upsert": upsert_some,
    "chain": chain,
}

STEPS: dict[str, tuple[Any, str]] = {
    "start": (LayoutTransaction, "__post_init__"),
    **{
        name: (LayoutTransaction, name)
        for name in ("read_files", "set_properties", "flip", "write", "remove", "mark", "commit")
    },
    "assignment": (feed_loading, "save_window"),
    "begin of the merge": (merge_mover, "_begin"),
    "rows of the merge": (merge_mover, "_merge"),
    "end of the merge": (merge_mover, "_end"),
}
