"""What had been expected of a window beside what came, once its run is told: as a whole, and where it was most wrong."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from partitioning.item_forecast import LAST
from schemas.dataset import Dataset
from schemas.tables import FORECASTS, ITEM_STATS, PLANS, SCORES
from spark_jobs.control_tables import Row, load_function, read_rows
from spark_jobs.item_names import item_name
from spark_jobs.item_stats import KEY, SLOT, read_stats
from spark_jobs.job import Window
from spark_jobs.regret import regret_of
from spark_jobs.scheduled_windows import are_alike

Facts = dict[str, Any]
Name = tuple[str, int, str | None]  # kind, slot, key

MOST_WRONG = 5  # items that are named
REGRET = ("imbalance_realised", "imbalance_last", "imbalance_clairvoyant")


def window_forecast_facts(dataset: Dataset, run: Row) -> Facts | None:
    """
    Of the plan that was made for this run's window, on a forecast, one window earlier. None if there is none, or no statistics.

    ``error`` is the sum of |expected - realised| over all items, as a share of all that was realised; each item's is its part of that.
    A key that only one of the two windows tracks counts with its slot in both. ``regret`` is θ of the window with that plan, whether it was
    carried out or not, and what it would have been with a plan on the last window, and on the truth.
    """
    plan = _plan_for(dataset, run)
    if plan is None:
        return None
    forecast = read_rows(FORECASTS, dataset=dataset.name, plan=plan["plan"]).to_pylist()
    came = read_rows(ITEM_STATS, dataset=dataset.name, window_start=run["window_start"]).to_pylist()
    if not forecast or not came:
        return None
    return {
        "plan": plan["plan"],
        "planned_on": plan["planned_on"],
        **_set_beside(_costs(forecast, "expected"), _costs(came, "cost")),
        "regret": _regret(dataset, plan, _window_of(run)),
    }


def _plan_for(dataset: Dataset, run: Row) -> Row | None:
    """Made on a forecast of this window; of several, one that was carried out."""
    start, window = run["window_start"], _window_of(run)
    scored = set(read_rows(SCORES, dataset=dataset.name, window_start=start)["plan"].to_pylist())
    plans = [
        plan
        for plan in read_rows(PLANS, dataset=dataset.name, window_end=start).to_pylist()
        if plan["planned_on"] not in (None, LAST) and are_alike(dataset.schedule, _window_of(plan), window)
    ]
    return min(plans, key=lambda plan: (plan["plan"] not in scored, plan["plan"]), default=None)


def _window_of(row: Row) -> Window:
    return Window(start=row["window_start"], end=row["window_end"])


def _regret(dataset: Dataset, plan: Row, window: Window) -> Facts | None:
    """As it was scored; a plan that was not carried out, for it moved nothing or was held, has no score."""
    scores = read_rows(SCORES, dataset=dataset.name, plan=plan["plan"]).to_pylist()
    scored = [score for score in scores if score["window_start"] == window.start]
    found = scored[0] if scored else _unscored(dataset, plan, window)
    if found["imbalance_clairvoyant"] is None:
        return None
    return {"is_carried_out": bool(scored), **{name: found[name] for name in REGRET}}


def _unscored(dataset: Dataset, plan: Row, window: Window) -> Row:
    now = read_stats(dataset, window)
    planned = load_function(dataset.name, plan["to_function"])
    realised = now.imbalance(planned, plan["n_buckets"])
    return {"imbalance_realised": realised, **regret_of(dataset, plan, window, now)}


def _costs(rows: Sequence[Row], field: str) -> dict[Name, float]:
    return {(row["kind"], row["slot"], row["key"]): float(row[field]) for row in rows}


def _set_beside(expected: dict[Name, float], realised: dict[Name, float]) -> Facts:
    names = sorted(expected.keys() & realised.keys(), key=_order)
    before, after = (_with_the_others_in_slots(costs, names) for costs in (expected, realised))
    total = sum(after[name] for name in names)
    wrong = {name: abs(before[name] - after[name]) for name in names}
    worst = sorted((name for name in names if wrong[name] > 0), key=lambda name: -wrong[name])
    return {
        "expected": sum(before[name] for name in names),
        "realised": total,
        "error": sum(wrong.values()) / total if total else None,
        "items": [
            {**_told(name), "expected": before[name], "realised": after[name], "error": wrong[name] / total if total else None}
            for name in worst[:MOST_WRONG]
        ],
    }  # fmt: skip


def _with_the_others_in_slots(costs: Mapping[Name, float], names: Sequence[Name]) -> dict[Name, float]:
    """What a key costs that is not among these names, its slot costs."""
    kept = set(names)
    found: dict[Name, float] = defaultdict(float)
    for name in sorted(costs, key=_order):
        found[name if name in kept else (SLOT, name[1], None)] += costs[name]
    return found


def _order(name: Name) -> tuple[bool, int, bool, str]:
    kind, slot, key = name
    return kind == KEY, slot, key is not None, key or ""


def _told(name: Name) -> Facts:
    item = dict(zip(("kind", "slot", "key"), name, strict=True))
    return {"item": item_name(item), **item}


# In words


def forecast_sentence(facts: Facts) -> str:
    """How far the whole window was from what had been expected of it."""
    error = "" if facts["error"] is None else f", off by {facts['error']:.2%} of that item by item"
    return (
        f"plan {facts['plan']} was made on the forecast {facts['planned_on']}: {facts['expected']:,.0f} of cost expected in this window,"
        f" {facts['realised']:,.0f} came{error}"
    )


def regret_sentence(regret: Facts) -> str:
    """θ of the window with the plan, and what it would have been with less and with more foresight."""
    had, last, known = (regret[name] for name in REGRET)
    is_or_were = "is" if regret["is_carried_out"] else "would be"
    return (
        f"θ of this window {is_or_were} {had:.3f} with that plan; it would have been {last:.3f} with one on the last window and {known:.3f} with one"
        f" that had known it: a regret of {had - known:.3f}"
    )
