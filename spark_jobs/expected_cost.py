"""What the items of a window are expected to cost in the next one: a forecast, with declared peaks laid over it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partitioning.forecast import ForecastOptions
from partitioning.function_json import key_of_text, text_of_key
from partitioning.hashing import slot_of
from partitioning.item_forecast import LAST, ItemForecast, forecast_items
from partitioning.item_windows import ItemWindows
from partitioning.peaks import Expected, Peak, Span, cut_to_room, expect_peaks, without_peaks
from schemas.dataset import Dataset
from schemas.tables import FORECASTS
from spark_jobs.control_tables import Row, read_rows, replace_rows
from spark_jobs.declared_peaks import KEY, SLOT, peaks_of_keys
from spark_jobs.item_names import key_name
from spark_jobs.item_stats import ItemStats
from spark_jobs.job import JobError, Window
from spark_jobs.scheduled_windows import are_alike, next_spans
from spark_jobs.stored_windows import StoredWindows, read_windows

Floats = NDArray[np.float64]
Name = tuple[bool, Any]  # as ``declared_peaks`` tells items


@dataclass(frozen=True, kw_only=True, eq=False)
class ExpectedCost:
    """The next window, item by item, and how it was arrived at."""

    forecast: ItemForecast
    sentences: tuple[str, ...]  # for people


def planned_on(dataset: Dataset) -> str:
    """What the dataset asks plans to be made on, as ``plans`` keeps it: ``LAST``, or the forecast's name."""
    return f"{dataset.forecast} with peaks" if peaks_of_keys(dataset) else dataset.forecast


def expected_cost(dataset: Dataset, window: Window, items: ItemStats) -> ExpectedCost:
    """
    Of the window that follows ``window`` on the schedule, for these items of it.

    Forecasts are made from what the windows would have cost without declared peaks; those of the window to come are laid over them. A key
    that ``window`` does not track has no route and no parts, as all that have are tracked: a rate of it counts in its slot. Costs are
    those of a window like ``window``, even where the next one is of another length.
    """
    (following,) = next_spans(dataset.schedule, window.end, 1)
    peaks = _in_units_of(window, following, peaks_of_keys(dataset), dataset.schedule)
    stored = read_windows(dataset, until=window.start, n_windows=dataset.forecast_windows)
    history = _usual(stored, window, peaks).history(len(stored.starts) - 1, dataset.forecast_windows)
    made = forecast_items(history, dataset.n_slots, dataset.forecast, ForecastOptions(period=dataset.period))
    names: list[Name] = [(SLOT, slot) for slot in range(items.n_slots)]
    names += [(KEY, text_of_key(key)) for key in items.key]
    laid = expect_peaks(made.expected, names, peaks, following)
    untracked = _rates_of(laid.missing, following)
    in_slots = _in_slots(dataset, untracked, len(names))
    changed = np.union1d(laid.changed, np.flatnonzero(in_slots)).astype(np.int64).tolist()
    peaked = cut_to_room(replace(laid, cost=laid.cost + in_slots, changed=tuple(changed)))
    low, high = (expect_peaks(end, names, peaks, following).cost + in_slots for end in (made.low, made.high))
    forecast = replace(
        made,
        expected=peaked.cost,
        low=np.minimum(low, peaked.cost),
        high=np.maximum(high, peaked.cost),
    )
    sentences = (_how(made.methods), *_about_peaks(laid, untracked, names), *_about_cuts(peaked, names))
    return ExpectedCost(forecast=forecast, sentences=sentences)


def _in_units_of(window: Window, following: Span, peaks: Sequence[Peak], schedule: str) -> list[Peak]:
    """Rates are declared for the schedule's windows: beside what an hour by hand among days cost, they count for an hour."""
    if are_alike(schedule, window, Window(start=following.start, end=following.end)):
        return list(peaks)
    share = (window.end - window.start) / following.length
    return [peak if peak.rate is None else replace(peak, rate=peak.rate * share) for peak in peaks]


def _usual(stored: StoredWindows, window: Window, peaks: Sequence[Peak]) -> ItemWindows:
    """
    The windows as they would have been without declared peaks.

    A key that the last one tracks, and of which only peaks are known, is usually in its slot: it costs nothing of its own.
    """
    ends = [*stored.starts[1:], window.end]
    spans = [Span(start=start, end=end) for start, end in zip(stored.starts, ends, strict=True)]
    observed = stored.items.key_cost
    cost = without_peaks(observed, [(KEY, key) for key in stored.keys], peaks, spans)
    cost[-1] = np.where(np.isnan(observed[-1]), np.nan, np.nan_to_num(cost[-1]))
    return replace(stored.items, key_cost=cost)


def _rates_of(missing: Sequence[Peak], window: Span) -> dict[str | None, float]:
    """What the keys of these peaks are declared to cost in the window, by their text; a factor of nothing known is nothing."""
    names: list[Any] = list(dict.fromkeys(peak.name for peak in missing))
    rates = expect_peaks(np.zeros(len(names)), names, missing, window).cost.tolist()
    return {key: rate for (_, key), rate in zip(names, rates, strict=True)}


def _in_slots(dataset: Dataset, rates: Mapping[str | None, float], n_items: int) -> Floats:
    """What these keys add to each item: slot s is item s."""
    added = np.zeros(n_items)
    for text, rate in rates.items():
        added[slot_of(key_of_text(text, dataset.key_type), dataset.key_type, dataset.n_slots)] += rate
    return added


def _about_peaks(
    laid: Expected, untracked: Mapping[str | None, float], names: Sequence[Name]
) -> Iterator[str]:
    for item in laid.changed:
        yield f"a declared peak of {_item(names[item])} counts"
    for key, rate in untracked.items():
        if rate > 0:
            yield f"a declared peak of {key_name(key)} counts with its slot, as this window does not track the key"
        else:
            yield (
                f"a declared peak of {key_name(key)} has no effect: this window does not track the key, so that only a rate above 0"
                " could count"
            )


def _about_cuts(peaked: Expected, names: Sequence[Name]) -> Iterator[str]:
    for item in peaked.cut:
        yield (
            f"what is declared for {_item(names[item])} is cut to {peaked.cost[item]:,.0f}: more cost in all than a plan can count"
        )


def _item(name: Name) -> str:
    is_slot, which = name
    return f"slot {which}" if is_slot else key_name(which)


def _how(methods: tuple[str, ...]) -> str:
    kinds = zip(methods, ("for slots", "for keys"), strict=False)
    by = methods[0] if len(set(methods)) == 1 else ", ".join(f"{method} {kind}" for method, kind in kinds)
    return f"planned on what the next window is expected to cost, forecast by {by}"


def save_forecast(dataset: str, plan: str, items: ItemStats, made: ItemForecast) -> None:
    """Keep what a plan was made on: whoever judges the plan computes its figures from here."""
    numbers = zip(made.expected.tolist(), made.low.tolist(), made.high.tolist(), strict=True)
    rows: list[Row] = [
        {**_stored_name(items, position), "expected": expected, "low": low, "high": high}
        for position, (expected, low, high) in enumerate(numbers)
    ]
    replace_rows(rows, FORECASTS, dataset=dataset, plan=plan)


def with_expected_cost(rows: list[Row], dataset: str, plan: Row) -> list[Row]:
    """Rows of ``item_stats`` with the cost that this plan was made on."""
    if plan["planned_on"] == LAST:
        return rows
    stored = read_rows(FORECASTS, dataset=dataset, plan=plan["plan"]).to_pylist()
    expected = {(row["kind"], row["slot"], row["key"]): row["expected"] for row in stored}
    names = [(row["kind"], row["slot"], row["key"]) for row in rows]
    if len(stored) != len(rows) or set(names) != expected.keys():
        raise JobError(
            f"forecasts must hold the items of plan {plan['plan']}, {len(rows)} of them, each once. Got {len(stored)} rows."
            " Plan again: it writes them anew."
        )
    return [{**row, "cost": expected[name]} for row, name in zip(rows, names, strict=True)]


def _stored_name(items: ItemStats, position: int) -> Row:
    name = items.name_of(position)
    return {**name, "key": text_of_key(name["key"])}
