"""What the items of a window are expected to cost in the next one: a forecast, with declared peaks laid over it."""

from dataclasses import dataclass, replace
from functools import partial

from partitioning.forecast import ForecastOptions
from partitioning.function_json import text_of_key
from partitioning.item_forecast import LAST, ItemForecast, forecast_items
from partitioning.peaks import Span, expect_peaks
from schemas.dataset import Dataset
from schemas.tables import FORECASTS
from spark_jobs.control_tables import Row, read_rows, replace_rows
from spark_jobs.declared_peaks import KEY, SLOT, peaks_of_keys
from spark_jobs.item_names import key_name
from spark_jobs.item_stats import ItemStats
from spark_jobs.job import JobError, Window
from spark_jobs.stored_windows import read_windows


@dataclass(frozen=True, kw_only=True, eq=False)
class ExpectedCost:
    """The next window, item by item, and how it was arrived at."""

    forecast: ItemForecast
    sentences: tuple[str, ...]  # for people


def planned_on(dataset: Dataset) -> str:
    """What the dataset asks plans to be made on, as ``plans`` keeps it: ``LAST``, or the forecast's name."""
    return f"{dataset.forecast} with peaks" if peaks_of_keys(dataset) else dataset.forecast


def expected_cost(dataset: Dataset, window: Window, items: ItemStats) -> ExpectedCost:
    """Of the window that follows ``window``, for these items of it."""
    stored = read_windows(dataset, until=window.start, n_windows=dataset.forecast_windows)
    history = stored.items.history(len(stored.starts) - 1, dataset.forecast_windows)
    made = forecast_items(history, dataset.n_slots, dataset.forecast, ForecastOptions(period=dataset.period))
    following = Span(start=window.end, end=window.end + (window.end - window.start))
    names = [(SLOT, slot) for slot in range(items.n_slots)] + [(KEY, text_of_key(key)) for key in items.key]
    peaked = partial(expect_peaks, names=names, peaks=peaks_of_keys(dataset), window=following)
    with_peaks = peaked(made.expected)
    sentences = [_how(made.methods)]
    sentences += [f"a declared peak of {key_name(names[item][1])} counts" for item in with_peaks.changed]  # type: ignore[arg-type]  # peaks are of keys
    sentences += [
        f"a peak of {key_name(peak.name[1])} is declared, but this window does not track the key: it counts with its slot, as ever"  # type: ignore[index]
        for peak in with_peaks.missing
    ]
    low, high = (peaked(end).cost for end in (made.low, made.high))
    forecast = replace(made, expected=with_peaks.cost, low=low, high=high)
    return ExpectedCost(forecast=forecast, sentences=tuple(sentences))


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
