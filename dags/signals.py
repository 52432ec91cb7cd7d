"""
What the world hears of a dataset: an asset event for each change of function by a Dag, a call when something fails or takes too long.

`EVENKEEL_ON_FAILURE` names a function of yours as `module:function`. It is called with Airflow's context when a task fails, and when
a run is not done `schedules.deadline_minutes` after it was queued. A Dag that is to follow a migration is scheduled on
`Asset("evenkeel://<dataset>")`; the event's `extra` holds the function, the version of the commit that moved the rows, the bytes, and where a plan
asked for it θ before and after.
"""

import logging
import os
from collections.abc import Callable, Mapping
from datetime import timedelta
from importlib import import_module
from typing import Any

from airflow.sdk import Asset, AssetAlias, Context
from airflow.sdk.definitions.callback import SyncCallback
from airflow.sdk.definitions.deadline import DeadlineAlert, DeadlineReference

from schemas.dataset import Dataset

SETTING = "EVENKEEL_ON_FAILURE"


def asset_of(dataset: str) -> Asset:
    return Asset(uri=f"evenkeel://{dataset}", name=f"evenkeel_{dataset}")


def alias_of(dataset: str) -> AssetAlias:
    """An event is sent through it only if a step adds one, not whenever the step succeeds."""
    return AssetAlias(f"evenkeel_migrations_of_{dataset}")


def tell_migration(context: Context, dataset: str, figures: dict[str, Any]) -> None:
    """Send the event, unless the last one told the same: a step that is run again sends no other."""
    asset = asset_of(dataset)
    last = list(context["inlet_events"][asset].ascending(False).limit(1))
    if not (last and is_told(figures, last[0].extra or {})):
        context["outlet_events"][alias_of(dataset)].add(asset, extra=figures)


def is_told(figures: Mapping[str, Any], last: Mapping[str, Any]) -> bool:
    """Whether the last event was about this commit. A plan that is applied again, after a roll back, makes another one."""
    return all(last.get(name) == figures[name] for name in ("function", "version"))


def on_failure() -> Callable[..., Any] | None:
    """The user's own function, or None."""
    path = os.environ.get(SETTING)
    if not path:
        return None
    module, _, name = path.partition(":")
    try:
        return getattr(import_module(module), name)  # type: ignore[no-any-return]
    except (ImportError, AttributeError, ValueError) as error:
        raise ValueError(
            f"{SETTING} must name a function as module:function. Got {path!r}: {error}. Mend it, or leave it out."
        ) from None


def deadline_of(dataset: Dataset) -> DeadlineAlert | None:
    """Airflow's own alert, if the dataset sets a deadline."""
    if dataset.deadline_minutes is None:
        return None
    return DeadlineAlert(
        name=f"{dataset.name} takes longer than {dataset.deadline_minutes} minutes",
        reference=DeadlineReference.DAGRUN_QUEUED_AT,
        interval=timedelta(minutes=dataset.deadline_minutes),
        callback=SyncCallback(tell_deadline, kwargs={"dataset": dataset.name}),
    )


def tell_deadline(dataset: str, **context: Any) -> None:
    """Say it in the log, and call the user's function if there is one."""
    logging.getLogger(__name__).warning("%s is not done by its deadline", dataset)
    tell = on_failure()
    if tell:
        tell(context)
