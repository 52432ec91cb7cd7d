"""What a failed check of a window says to people: field, rule, what was found, what to do."""

from collections.abc import Callable
from typing import Any

from schemas.dataset import Dataset
from spark_jobs.job import Task

Facts = dict[str, Any]


def sentence_about(column: str, facts: Facts, task: Task) -> str:
    """The sentence of the check that failed on this fact."""
    if column == "newest":
        return f"the window {task.window.name} is not the newest: a later one decides about the layout"
    dataset = task.dataset
    said = _SENTENCES[column](facts, dataset)
    return f"{said}, then clear this step; or set {_SETTING[column]} in datasets/{dataset.name}.yaml."


def _completeness(facts: Facts, dataset: Dataset) -> str:
    return (
        f"checks.min_share must be reached: a window has at least {dataset.min_share:g} of the usual events. Got"
        f" {facts['rows']:,}, {facts['completeness']:.3g} of the usual {facts['usual_rows']:,.0f}. Let the missing events"
        " arrive"
    )


def _rows(facts: Facts, dataset: Dataset) -> str:
    return (
        f"checks.min_rows must be reached: a window has at least {dataset.min_rows:,} events. Got {facts['rows']:,}. Let the"
        f" missing events arrive in {dataset.events_name}"
    )


def _null_keys(facts: Facts, dataset: Dataset) -> str:
    return (
        f"key.column must not be NULL in more than {dataset.max_null_keys:.3%} of a window's events. Got"
        f" {facts['null_keys']:.3%} of {facts['rows']:,} events. Mend {dataset.key!r} in {dataset.events_name}"
    )


def _event_times(facts: Facts, dataset: Dataset) -> str:
    return (
        "events.time must be given and not lie in the future, or no window holds the event. Got"
        f" {facts['event_times']:,} such events. Mend {dataset.event_time!r} in {dataset.events_name}"
    )


def _duplicates(facts: Facts, dataset: Dataset) -> str:
    return (
        f"events.id must be given and differ from event to event. Got {facts['duplicates']:,} of {facts['rows']:,} events"
        f" without a {dataset.event_id!r} of their own. Remove what came twice from {dataset.events_name}"
    )


def _cost(facts: Facts, dataset: Dataset) -> str:
    return (
        f"events.cost must be a finite number, 0 or more, for every event. Got {facts['cost']:,} of {facts['rows']:,} events"
        f" for which {dataset.cost!r} is not. Mend the events or the expression"
    )


_SENTENCES: dict[str, Callable[[Facts, Dataset], str]] = {
    "completeness": _completeness,
    "rows": _rows,
    "null_keys": _null_keys,
    "event_times": _event_times,
    "duplicates": _duplicates,
    "cost": _cost,
}
_SETTING = {
    "completeness": "checks.min_share",
    "rows": "checks.min_rows",
    "null_keys": "checks.max_null_keys",
    "event_times": "checks.severity.event_times",
    "duplicates": "checks.severity.duplicates",
    "cost": "checks.severity.cost",
}
