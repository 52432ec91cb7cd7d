"""Windows and the schedule: which stretches of time come next, and which windows can be set beside each other."""

from datetime import datetime, timedelta

from partitioning.peaks import Span
from schemas.intervals import interval_end, interval_start
from spark_jobs.job import Window


def next_spans(schedule: str, after: datetime, n_windows: int) -> list[Span]:
    """The next whole intervals of the schedule that begin at this moment or later, one after the other."""
    spans: list[Span] = []
    start = interval_end(schedule, after - timedelta(microseconds=1))
    for _ in range(n_windows):
        spans.append(Span(start=start, end=interval_end(schedule, start)))
        start = spans[-1].end
    return spans


def intervals_between(schedule: str, earlier: datetime, later: datetime, *, most: int) -> int:
    """How many intervals of the schedule later the second moment is, any part of one counted as one; ``most + 1`` for more."""
    n_intervals = 0
    while earlier < later and n_intervals <= most:
        earlier = interval_end(schedule, earlier)
        n_intervals += 1
    return n_intervals


def are_alike(schedule: str, one: Window, other: Window) -> bool:
    """Whether both are equally long, or both intervals of the schedule: those of months or of working days differ in length."""
    return one.end - one.start == other.end - other.start or (
        is_interval(schedule, one) and is_interval(schedule, other)
    )


def is_interval(schedule: str, window: Window) -> bool:
    """Whether it is one of the schedule's own. Both ends count: the last hour of a day ends where the day does."""
    return (
        interval_end(schedule, window.start) == window.end
        and interval_start(schedule, window.end, 1) == window.start
    )
