"""
What a run is asked to do: its params, checked, and what they mean for each step.

A run by hand is a dry run unless it says otherwise or names a plan to apply. Runs of the scheduler and of a backfill are not.
"""

from datetime import datetime
from typing import Any

from airflow.sdk import Context, Param, get_current_context, task
from airflow.sdk.exceptions import AirflowFailException

from schemas.dataset import SCHEMA

TIME = r"^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2})?(Z|[+-]\d{2}:\d{2})?)?$"
SETTINGS = ("planner", "max_imbalance", "max_routes", "max_migration", "buckets")  # of a plan
BY_HAND = ("manual", "operator_triggered", "asset_triggered")  # kinds of runs that nobody scheduled


def rebalance_params() -> dict[str, Param]:
    """All may be left out; a pattern where Airflow does not enforce formats."""
    number = ["null", "number"]
    return {
        "window_start": Param(None, type=["null", "string"], pattern=TIME, description="First moment of the window, ISO 8601; with window_end"),
        "window_end": Param(None, type=["null", "string"], pattern=TIME, description="First moment after it"),
        "dry_run": Param(None, type=["null", "boolean"], description="Everything up to the report, nothing changed. Not given: yes for a run by hand"),
        "plan": Param(None, type=["null", "string"], pattern="^[0-9a-f]{16}$", description="Apply this plan, made before; refused if the table has moved on"),
        "planner": Param(None, type=["null", "string"], enum=[None, *known("planner")], description="For this once, as are the budgets"),
        "max_imbalance": Param(None, type=number, minimum=0, description="θ_max, such as 0.08"),
        "max_routes": Param(None, type=["null", "integer"], minimum=0, description="The most routes"),
        "max_migration": Param(None, type=number, minimum=0, description="A share of all state up to 1, bytes above"),
        "buckets": Param(None, type=["null", "integer"], minimum=1, description="Target number of buckets"),
        "mover": Param(None, type=["null", "string"], enum=[None, *known("mover")], description="How rows move"),
        "approve": Param(False, type="boolean", description="Wait for a person's approval before anything is changed"),
        "resume": Param(False, type="boolean", description="End the pause after ineffective plans"),
    }  # fmt: skip


def known(field: str) -> list[str]:
    """The names that the dataset file may give for this field."""
    return list(SCHEMA["properties"][field]["enum"])


def find_window(schedule: str) -> Any:
    """A task that answers what the run is about: ``start`` and ``end`` of its window, and arguments for other steps."""

    @task(retries=0)
    def window() -> dict[str, Any]:
        context = get_current_context()
        refuse_unknown(context)
        params = context["params"]
        refuse_contradiction(params)
        return {**_moments(context, schedule), **arguments_asked_for(params, is_by_hand=_is_by_hand(context))}

    return window()


def refuse_unknown(context: Context) -> None:
    """Airflow takes any conf; a param with a typo must not be a run with the defaults."""
    known = set(context["dag"].params)
    unknown = sorted(set(context["dag_run"].conf or {}) - known)
    if unknown:
        raise AirflowFailException(
            f"conf must hold params of {context['dag'].dag_id} only. Got {', '.join(unknown)}. Known:"
            f" {', '.join(sorted(known))}."
        )


def refuse_contradiction(params: Any) -> None:
    """A plan that was named is applied as it was made."""
    given = {name: params.get(name) for name in (*SETTINGS, "dry_run")}
    others = [name for name, value in given.items() if value is not None and value is not False]
    if params.get("plan") and others:
        raise AirflowFailException(
            f"plan must be given without {', '.join(others)}. Got plan {params['plan']} with them. Leave plan out to make another"
            " plan."
        )


def arguments_asked_for(params: Any, *, is_by_hand: bool) -> dict[str, Any]:
    """Arguments of each step as the params want them; the steps look them up by these names."""
    plan = params.get("plan") or ""
    dry_run = params.get("dry_run")
    is_dry = (is_by_hand and not plan) if dry_run is None else bool(dry_run)
    dry = ["--dry-run"] if is_dry else []
    return {
        "plan": plan,
        "is_dry": is_dry,
        "approve": bool(params.get("approve")),
        "for_profile": dry,
        "for_plan": ["--plan", plan] if plan else _options(params, SETTINGS),
        "for_gate": [*dry, *(["--apply"] if plan else []), *(["--resume"] if params.get("resume") else [])],
        "for_migrate": _options(params, ("mover",)),
    }


def _options(params: Any, names: tuple[str, ...]) -> list[str]:
    given = [(name, params.get(name)) for name in names if params.get(name) is not None]
    return [text for name, value in given for text in (f"--{name.replace('_', '-')}", str(value))]


def _is_by_hand(context: Context) -> bool:
    return str(getattr(context["dag_run"].run_type, "value", context["dag_run"].run_type)) in BY_HAND


def roll_back_asked() -> Any:
    """A task that checks the params of a roll back and answers its arguments."""

    @task(retries=0)
    def asked() -> dict[str, Any]:
        context = get_current_context()
        refuse_unknown(context)
        params = context["params"]
        dry = ["--dry-run"] if params["dry_run"] else []
        return {"for_roll_back": [*_options(params, ("to", "mover")), *dry]}

    return asked()


def nothing_asked() -> Any:
    """A task that refuses a run with params, where there are none."""

    @task(retries=0)
    def asked() -> None:
        refuse_unknown(get_current_context())

    return asked()


# The window


def _moments(context: Context, schedule: str) -> dict[str, str]:
    given = [context["params"].get(name) for name in ("window_start", "window_end")]
    if any(given):
        return _given_window(*given)
    start, end = context.get("data_interval_start"), context.get("data_interval_end")
    if start and end and start < end:
        return {"start": start.isoformat(), "end": end.isoformat()}
    return _last_whole_interval(schedule, context["dag_run"].run_after)


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
