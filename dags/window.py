"""Which window a run is about."""

from datetime import datetime
from typing import Any

from airflow.sdk import Param, get_current_context, task
from airflow.sdk.exceptions import AirflowFailException

TIME_PATTERN = r"^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2})?(Z|[+-]\d{2}:\d{2})?)?$"


def moment_param(description: str) -> Param:
    """A time that may be left out. A pattern, because Airflow does not enforce formats."""
    return Param(None, description=description, type=["null", "string"], pattern=TIME_PATTERN)


def find_window(schedule: str) -> Any:
    """A task that answers ``{"start": ..., "end": ...}``."""

    @task(task_id="window", retries=0)
    def window() -> dict[str, str]:
        context = get_current_context()
        params = context["params"]
        given = [params.get("window_start"), params.get("window_end")]
        if any(given):
            return _given_window(*given)
        start, end = context.get("data_interval_start"), context.get("data_interval_end")
        if start and end:
            return {"start": start.isoformat(), "end": end.isoformat()}
        return _last_whole_interval(schedule, context["dag_run"].run_after)

    return window()


def _given_window(start: str | None, end: str | None) -> dict[str, str]:
    if not (start and end):
        raise AirflowFailException(
            f"window_start and window_end must be given together or not at all. Got {start!r} and {end!r}."
            " Give both, or neither for the run's own interval."
        )
    return {
        "start": datetime.fromisoformat(start).isoformat(),
        "end": datetime.fromisoformat(end).isoformat(),
    }


def _last_whole_interval(schedule: str, now: datetime) -> dict[str, str]:
    """Runs made by hand or by an asset have no data interval: take the last one that has ended."""
    from airflow.timetables.interval import CronDataIntervalTimetable as Timetable
    from pendulum import instance

    interval = Timetable(schedule, timezone="UTC").infer_manual_data_interval(run_after=instance(now))
    return {"start": interval.start.isoformat(), "end": interval.end.isoformat()}
