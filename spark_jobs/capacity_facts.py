"""
How many loaders, buckets and mergers the next window needs, as plain values that JSON can hold: the core's Eq. 1 on what was measured.

A recommendation, kept in ``plans.explanation``: nothing reads it to resize anything. What is not known is said, never guessed.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from deltalake import DeltaTable
from numpy.typing import NDArray

from partitioning.capacity import Demand, RowCosts, Workers, recommend_workers
from partitioning.forecast import ForecastOptions, forecast
from schemas.dataset import Dataset
from schemas.tables import ITEM_STATS, PLANS
from spark_jobs.control_tables import read_rows
from spark_jobs.feed_assignments import n_loaders_of
from spark_jobs.item_stats import ItemStats
from spark_jobs.job import Window
from spark_jobs.row_costs import Measured, known_costs, measure_costs, told
from spark_jobs.stored_windows import starts_in_a_row

Facts = dict[str, Any]

COST_OF = {"loaders": "load", "buckets": "process", "mergers": "merge"}
UNDER = "under-provisioned"


@dataclass(frozen=True, kw_only=True)
class Expectation:
    """What the next window brings."""

    rows: float
    rows_high: float | None  # upper end of the interval; None: too few windows to tell
    heaviest_rows: float  # of the heaviest key; 0: none is tracked
    seconds: float  # in which it has to be done


def capacity_of(dataset: Dataset, window: Window, items: ItemStats, *, plan: str) -> Facts:
    """
    The recommendation for the window after this one; ``items`` have the cost that is planned on.

    Planned again on the same statistics, a plan keeps the recommendation it has: measuring again must not change what is stored.
    """
    expected = expectation(dataset, window, items)
    kept = stored_capacity(dataset, plan)
    if kept and kept["expected"] == expected.rows:
        return kept
    measured = measure_costs(dataset, before=window.start)
    if dataset.feeds:
        measured = replace(measured, loaders=n_loaders_of(dataset.name, window.start))
    return recommendation(dataset, expected, measured)


def stored_capacity(dataset: Dataset, plan: str) -> Facts | None:
    """What the plan of this name says, where there is one that says it."""
    found = read_rows(PLANS, dataset=dataset.name, plan=plan)["explanation"].to_pylist()
    return json.loads(found[0]).get("capacity") if found else None


def expectation(dataset: Dataset, window: Window, items: ItemStats) -> Expectation:
    """The interval is as wide as the totals of the last windows wavered from one to the next."""
    rows, minutes = float(items.cost.sum()), dataset.done_in_minutes
    totals = total_costs(dataset, window)
    made = forecast(totals[:, np.newaxis], ForecastOptions(method="naive")) if totals.size else None
    margin = float(made.high[0, 0] - made.expected[0, 0]) if made else np.inf
    keys = items.cost[items.n_slots :]
    return Expectation(
        rows=rows,
        rows_high=rows + margin if np.isfinite(margin) else None,
        heaviest_rows=float(keys.max()) if keys.size else 0.0,
        seconds=(window.end - window.start).total_seconds() if minutes is None else 60.0 * minutes,
    )


def total_costs(dataset: Dataset, window: Window) -> NDArray[np.float64]:
    """Of the last windows up to this one, oldest first: without a gap, and like it, as forecasts are made from."""
    starts = pa.array(
        starts_in_a_row(dataset, until=window.start, n_windows=dataset.forecast_windows),
        ITEM_STATS.columns["window_start"],
    )
    begins = pc.field("window_start")
    wanted = (pc.field("dataset") == dataset.name) & (begins >= starts[0]) & begins.isin(starts)
    stored = DeltaTable(ITEM_STATS.path).to_pyarrow_dataset()
    found = stored.to_table(columns=["window_start", "cost"], filter=wanted)
    sums = found.group_by("window_start").aggregate([("cost", "sum")]).sort_by("window_start")
    return np.asarray(sums["cost_sum"].to_numpy(), dtype=np.float64)


def recommendation(dataset: Dataset, expected: Expectation, measured: Measured) -> Facts:
    """The pure part: lines for what is known, sentences for what is not."""
    known = known_costs(dataset, measured)
    loaders = measured.loaders
    advised = recommend_workers(
        Workers(loaders=loaders or 0, buckets=dataset.n_buckets, mergers=dataset.n_mergers),
        Demand(
            rows=expected.rows,
            rows_high=expected.rows if expected.rows_high is None else expected.rows_high,
            seconds=expected.seconds,
            heaviest_rows=expected.heaviest_rows,
        ),
        RowCosts(
            **{name: cost.seconds if cost else 0.0 for name, cost in known.items()},
            sent_on=dataset.sent_on or 0.0,
            headroom=dataset.headroom,
        ),
    )
    unknown = dict(_unknown(known, loaders))
    return {
        "unit": "rows" if dataset.cost is None else "units of cost",
        "expected": expected.rows,
        "high": expected.rows_high,
        "seconds": expected.seconds,
        "headroom": dataset.headroom,
        **{name: told(cost) for name, cost in known.items()},
        "sent_on": dataset.sent_on,
        "lines": [asdict(line) for line in advised.lines if line.what not in unknown],
        "useful_buckets": advised.useful_buckets,
        "unknown": [*unknown.values(), *_no_interval(expected)],
    }


def _unknown(known: Mapping[str, Any], loaders: int | None) -> Iterator[tuple[str, str]]:
    if known["load"] is None or loaders is None:
        missing = "no load of an earlier window was timed"
        yield (
            "loaders",
            f"loaders: {missing}{'' if known['load'] else ', and capacity.load_seconds is not declared'}",
        )
    if known["process"] is None:
        yield (
            "buckets",
            "buckets: no profile of an earlier window was timed, and capacity.process_seconds is not declared",
        )
    if known["merge"] is None:
        yield "mergers", "mergers: capacity.merge_seconds and capacity.sent_on are not declared"
    elif known["process"] is None:
        yield "mergers", "mergers: what buckets send on depends on how many there should be"


def _no_interval(expected: Expectation) -> list[str]:
    if expected.rows_high is not None:
        return []
    return [
        "the interval of the forecast: one window says nothing about it, so that over-provisioned is judged by what is expected"
    ]


def capacity_sentences(capacity: Facts) -> list[str]:
    """For people: a sentence for each kind of worker, from where on more buckets are of no use, and what is not known."""
    return [
        *(_sentence(line, capacity) for line in capacity["lines"]),
        *capacity_ceiling(capacity),
        *(f"Not known: {reason}." for reason in capacity["unknown"]),
    ]


def capacity_ceiling(capacity: Facts) -> list[str]:
    """From where on more buckets are of no use; nothing where they always are."""
    useful = capacity["useful_buckets"]
    if useful is None:
        return []
    return [f"More than {useful} buckets are of no use: the heaviest key alone would be above the mean."]


def _sentence(line: Facts, capacity: Facts) -> str:
    source = capacity[COST_OF[line["what"]]]["source"]
    needed = f"{line['needed']:,} needed"
    if line["enough"] != line["needed"]:
        needed += f", {line['enough']:,} enough for the upper end of the forecast"
    return f"{line['what'].capitalize()}: {line['present']:,}; {needed}: {line['verdict']}. {line['reason']} ({source})."


def concerns(capacity: Facts | None) -> list[str]:
    """Which workers there are too few of, in short. Too many do no harm that anybody must hear of every day."""
    lines = capacity["lines"] if capacity else []
    return [
        f"{line['what']}: {line['present']:,}, {line['needed']:,} needed: {line['verdict']}"
        for line in lines
        if line["verdict"] == UNDER
    ]


def newest_capacity(dataset: Dataset, window_start: datetime) -> Facts | None:
    """Of the plans for this window, what the first by name says; None where none says anything."""
    plans = read_rows(PLANS, dataset=dataset.name, window_start=window_start).sort_by("plan")
    found = (json.loads(text).get("capacity") for text in plans["explanation"].to_pylist())
    return next((capacity for capacity in found if capacity), None)
