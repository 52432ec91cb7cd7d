"""Where the windows of a schedule begin and end."""

from datetime import UTC, datetime

from croniter import croniter


def interval_end(schedule: str, start: datetime) -> datetime:
    """The next moment of the schedule after ``start``, in UTC: the end of the window that begins then."""
    following: datetime = croniter(schedule, start.astimezone(UTC)).get_next(datetime)
    return following


def interval_start(schedule: str, end: datetime, n_intervals: int) -> datetime:
    """Where the last ``n_intervals`` windows of the schedule begin, in UTC: the last is the one that ``end`` ends or lies in."""
    moments = croniter(schedule, end.astimezone(UTC))
    for _ in range(n_intervals - 1):
        moments.get_prev(datetime)
    first: datetime = moments.get_prev(datetime)
    return first
