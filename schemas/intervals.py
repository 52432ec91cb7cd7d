"""Where the windows of a schedule end."""

from datetime import UTC, datetime

from croniter import croniter


def interval_end(schedule: str, start: datetime) -> datetime:
    """The next moment of the schedule after ``start``, in UTC: the end of the window that begins then."""
    following: datetime = croniter(schedule, start.astimezone(UTC)).get_next(datetime)
    return following
