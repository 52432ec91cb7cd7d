"""What the control tables say of other windows: how many events are usual, and whether a later window was profiled."""

import json
from datetime import datetime, timedelta
from statistics import median
from typing import Any

import pyarrow.compute as pc
from deltalake import DeltaTable

from schemas.tables import CHECKS, ITEM_STATS
from spark_jobs.control_tables import Row, read_rows
from spark_jobs.job import Window

N_WINDOWS = 7  # earlier windows that say what is usual
SUBJECT = "window"


def usual_rows(dataset: str, window: Window) -> float | None:
    """The median of the rows of the last earlier windows of the same length that were checked; None if there are none."""
    checks: list[Row] = read_rows(CHECKS, dataset=dataset, subject=SUBJECT).to_pylist()
    return median_rows(checks, window)


def median_rows(checks: list[Row], window: Window) -> float | None:
    """
    The pure part of ``usual_rows``. A check of ``rows`` says how many there were, one of ``completeness`` in how long.

    An earlier window without any event says nothing about what is usual, and is left out.
    """
    observed: dict[datetime, dict[str, Any]] = {}
    for check in checks:
        if check["window_start"] < window.start and check["column"] in ("rows", "completeness"):
            observed.setdefault(check["window_start"], {})[check["column"]] = json.loads(check["observed"])
    length = (window.end - window.start) / timedelta(seconds=1)
    rows = [
        found["rows"]
        for _, found in sorted(observed.items(), reverse=True)
        if found.get("rows") and length_in(found.get("completeness")) == length
    ]
    return float(median(rows[:N_WINDOWS])) if rows else None


def completeness_note(share: float | None, usual: float | None, window: Window) -> str:
    """What is kept about completeness: the share, what it is a share of, and the window's length for later windows."""
    seconds = (window.end - window.start) / timedelta(seconds=1)
    return json.dumps({"share": share, "usual_rows": usual, "seconds": seconds})


def length_in(note: object) -> float | None:
    """The window's length in seconds, from its ``completeness_note``."""
    return note.get("seconds") if isinstance(note, dict) else None


def has_later_profile(dataset: str, window: Window) -> bool:
    """Whether ``item_stats`` holds a window that starts later."""
    if not DeltaTable.is_deltatable(ITEM_STATS.path):
        return False
    is_later = (pc.field("dataset") == dataset) & (pc.field("window_start") > window.start)
    stored = DeltaTable(ITEM_STATS.path).to_pyarrow_dataset()
    return bool(stored.head(1, columns=["window_start"], filter=is_later).num_rows)
