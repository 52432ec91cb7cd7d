"""
Which loader reads which feed in a window: made from what earlier windows brought, written once, and judged afterwards.

Windows are rows of ``feed_assignments``, one a feed. Everything here is arrays and that table; reading the feeds is ``feed_loading``'s.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from partitioning.feeds import (
    NO_LOADER,
    STRATEGIES,
    Assignment,
    FeedRequest,
    assign_by_hash,
    assign_feeds,
    assign_round_robin,
    bound_loaders,
)
from partitioning.forecast import ForecastOptions, forecast
from partitioning.peaks import Expected, Span, cut_to_room, expect_peaks, without_peaks
from schemas.dataset import Dataset
from schemas.tables import FEED_ASSIGNMENTS
from spark_jobs.control_tables import Row, read_rows, replace_rows
from spark_jobs.declared_peaks import peaks_of_feeds
from spark_jobs.job import Window
from spark_jobs.scheduled_windows import are_alike, next_spans

Facts = dict[str, Any]
Floats = NDArray[np.float64]

OURS = "ours"
LATER = 3  # windows ahead: what a feed will bring by then decides which one leaves a loader that has too much, and where there is room


class Input(Protocol):
    """A feed, as far as it matters who reads it."""

    @property
    def name(self) -> str: ...

    @property
    def location(self) -> str: ...

    @property
    def rate(self) -> float | None: ...


def assigned_windows(dataset: str) -> dict[datetime, list[Row]]:
    """Every window that has an assignment, oldest first, each by feed."""
    found: dict[datetime, list[Row]] = {}
    for row in read_rows(FEED_ASSIGNMENTS, dataset=dataset).to_pylist():
        found.setdefault(row["window_start"], []).append(row)
    return {start: sorted(found[start], key=lambda row: str(row["feed"])) for start in sorted(found)}


def save_window(dataset: Dataset, window: Window, rows: Sequence[Row]) -> None:
    replace_rows(rows, FEED_ASSIGNMENTS, dataset=dataset.name, window_start=window.start)


def n_loaders_of(dataset: str, window_start: datetime) -> int | None:
    """How many loaders read this window; None where it has no assignment."""
    rows = read_rows(FEED_ASSIGNMENTS, dataset=dataset, window_start=window_start)
    return len(set(rows["loader"].to_pylist())) or None


# Assigning


@dataclass(frozen=True, kw_only=True, eq=False)
class Assigned:
    """A window's assignment, and what there is to say about it."""

    rows: list[Row]
    sentences: tuple[str, ...]


def assign_window(
    dataset: Dataset,
    window: Window,
    feeds: Sequence[Input],
    known: "KnownRates",
) -> Assigned:
    """
    A loader for every feed, by the dataset's strategy: from what the last windows brought, what is declared, and who read what before.

    The same earlier windows give the same assignment.
    """
    names, peaks = [feed.name for feed in feeds], peaks_of_feeds(dataset)
    spans = [Span(start=window.start, end=window.end), *next_spans(dataset.schedule, window.end, LATER - 1)]
    expected = [
        cut_to_room(expect_peaks(ahead, names, peaks, span))
        for ahead, span in zip(known.ahead, spans, strict=True)
    ]
    declared = [cut_to_room(expect_peaks(known.declared, names, peaks, span)).cost for span in spans]
    if known.is_counted:  # whatever was declared
        expected[0], declared[0] = replace(expected[0], cost=known.rate, cut=()), known.rate
    said = [  # window by window: a rate that is declared for one of them says nothing about the others
        np.where(np.isnan(rates), one.cost, rates)
        for rates, one in zip(declared[1:], expected[1:], strict=True)
    ]
    request = FeedRequest.of(
        rate=known.rate,
        forecast=expected[0].cost,
        later=np.fmax.reduce([one.cost for one in expected[1:]]),
        declared=declared[0],
        declared_later=np.fmax.reduce([declared[0], *said]),
        owner=known.owner,
        capacity=dataset.loader_capacity,
    )
    made = assign_feeds(request, dataset.feed_strategy)
    sizes = STRATEGIES[dataset.feed_strategy].size(request)
    common = {"window_end": window.end, "rows": None, "strategy": dataset.feed_strategy}
    rows = [
        {**common, "feed": feed.name, "location": feed.location, "loader": int(loader), "expected": float(size),
         "capacity": float(dataset.loader_capacity)}
        for feed, loader, size in zip(feeds, made.owner, sizes, strict=True)
    ]  # fmt: skip
    return Assigned(rows=rows, sentences=tuple(_about_peaks(expected[0], names, dataset.feed_strategy)))


def _about_peaks(expected: Expected, names: Sequence[str], strategy: str) -> Iterator[str]:
    for feed in expected.changed:
        if STRATEGIES[strategy].looks_ahead:
            yield f"a declared peak of feed {names[feed]} counts"
        else:
            yield f"a peak of feed {names[feed]} is declared, but {strategy} goes by the last window alone"
    for feed in expected.cut:
        yield f"what is declared for feed {names[feed]} is cut to {expected.cost[feed]:,.0f}: more rows in all than can be counted"
    for peak in expected.missing:
        yield f"a peak of feed {peak.name} is declared, but there is no such feed"


@dataclass(frozen=True, kw_only=True, eq=False)
class KnownRates:
    """
    What is known of feeds before their window is read. Position i of each describes the same feed.

    NaN: nothing is known, of this feed or, for ``rate`` and ``ahead``, of any.
    """

    rate: Floats  # of the last window
    ahead: Floats  # a row a window ahead
    declared: Floats
    owner: list[int]  # loader that read it in the last window
    is_counted: bool = False  # whether ``rate`` is what the window itself brings

    @property
    def is_nothing(self) -> bool:
        return bool(np.isnan(self.rate).all())


def known_rates(
    dataset: Dataset, window: Window, feeds: Sequence[Input], windows: Mapping[datetime, Sequence[Row]]
) -> KnownRates:
    """
    From those of ``windows`` that were before this one, oldest first. What its owner declares stands for what a feed has not brought yet,
    the mean of the others for a feed of which nothing is known.

    Forecasts, and that mean, go by what was brought without declared peaks. A window that was assigned and never loaded, or that is
    unlike this one (an hour by hand among days), says who read what, and nothing about rates.
    """
    earlier = {start: rows for start, rows in windows.items() if start < window.start}
    loaded = _loaded(dataset, window, earlier)
    names = [feed.name for feed in feeds]
    declared = np.array([np.nan if feed.rate is None else feed.rate for feed in feeds])
    nothing = np.full(len(names), np.nan)
    brought = np.array([[rows.get(name, np.nan) for name in names] for rows in loaded.values()])
    usual = without_peaks(brought, names, peaks_of_feeds(dataset), list(loaded)) if loaded else nothing[None]
    last = brought[-1] if loaded else nothing
    ahead = forecast(usual, ForecastOptions(n_ahead=LATER)).expected
    is_new = np.isnan(usual[-1])
    rate = _filled(np.where(np.isnan(last), declared, last), np.where(is_new, declared, usual[-1]))
    ahead = np.array([_filled(row, row) for row in np.where(is_new, declared, ahead)])
    owner_of = {row["feed"]: row["loader"] for row in next(reversed(earlier.values()), ())}
    return KnownRates(
        rate=rate,
        ahead=np.where(np.isnan(ahead), rate, ahead),
        declared=declared,
        owner=[owner_of.get(name, NO_LOADER) for name in names],
    )


def _loaded(
    dataset: Dataset, window: Window, earlier: Mapping[datetime, Sequence[Row]]
) -> dict[Span, dict[str, float]]:
    """What each feed brought in the last windows that are like this one; a window that was never loaded says nothing."""
    found: dict[Span, dict[str, float]] = {}
    for start, rows in earlier.items():
        one = Window(start=start, end=rows[0]["window_end"])
        brought = {row["feed"]: float(row["rows"]) for row in rows if row["rows"] is not None}
        if brought and are_alike(dataset.schedule, one, window):
            found[Span(start=one.start, end=one.end)] = brought
    return dict(list(found.items())[-dataset.forecast_windows :])


def _filled(rates: Floats, others: Floats) -> Floats:
    """With the mean of ``others`` where nothing is known, as far as they are."""
    is_known = ~np.isnan(others)
    return np.where(np.isnan(rates), others[is_known].mean(), rates) if is_known.any() else rates


def counted_rates(
    dataset: Dataset, window: Window, feeds: Sequence[Input], known: KnownRates, counted: Sequence[float]
) -> KnownRates:
    """
    Of the first window nothing may be known at all: then what it brings is counted before it is loaded.

    Peaks are laid over the windows after it as over what is forecast, so they are taken out of it first.
    """
    rates = np.array(counted, dtype=np.float64)
    span = Span(start=window.start, end=window.end)
    usual = without_peaks([rates], [feed.name for feed in feeds], peaks_of_feeds(dataset), [span])[0]
    ahead = np.where(np.isnan(usual), rates, usual)
    return replace(known, rate=rates, ahead=np.tile(ahead, (LATER, 1)), is_counted=True)


# Judging


def feed_facts(window: Sequence[Row], before: Sequence[Row]) -> Facts | None:
    """
    How good an assignment was, with the rows that came (or, before they have, that were expected): fill, redirections, stragglers.

    Round robin and hash get as many loaders and the same rows. A straggler is the fullest loader over the mean one: how much
    longer than necessary reading takes. None where there are no feeds.
    """
    if not window:
        return None
    rows = np.array(
        [row["expected"] if row["rows"] is None else row["rows"] for row in window], dtype=np.float64
    )
    strategy, capacity = str(window[0]["strategy"]), float(window[0]["capacity"])
    made, made_before = _rivals(window), _rivals(before)
    n_loaders = int(made[OURS].loaders.size)
    names, names_before = ([row["feed"] for row in one] for one in (window, before))
    return {
        "strategy": strategy,
        "capacity": capacity,
        "feeds": len(names),
        "rows": float(rows.sum()),
        "is_loaded": all(row["rows"] is not None for row in window),
        "loaders": n_loaders,
        "fewest_loaders": max(1, bound_loaders(rows, capacity)),
        "by": [
            {
                "how": strategy if how == OURS else how,
                **_figures(made[how], rows, n_loaders),
                "redirected": _redirected(names, made[how], names_before, made_before[how]),
            }
            for how in made
        ],
    }


def _rivals(window: Sequence[Row]) -> dict[str, Assignment]:
    """The stored assignment, and what round robin and hash make of the same feeds with as many loaders."""
    ours = _assignment(window)
    n_loaders = max(1, int(ours.loaders.size))
    names = [row["feed"] for row in window]
    return {
        OURS: ours,
        "round robin": assign_round_robin(ours.request, n_loaders),
        "hash": assign_by_hash(ours.request, names, n_loaders),
    }


def _assignment(window: Sequence[Row]) -> Assignment:
    """The stored assignment, as the core judges one."""
    owner = np.array([row["loader"] for row in window], dtype=np.int64)
    request = FeedRequest.of(
        rate=[row["expected"] for row in window],
        owner=owner,
        capacity=window[0]["capacity"] if window else 1.0,
    )
    return Assignment(request=request, owner=owner, strategy=str(window[0]["strategy"]) if window else "none")


def _figures(made: Assignment, rows: Floats, n_loaders: int) -> Facts:
    """A loader that a hash leaves empty counts for the mean: it is there, and the others do its work."""
    fill = made.fill(rows)
    fullest, mean = float(fill.max()), float(fill.sum()) / n_loaders
    return {
        "straggler": fullest / mean if mean > 0 else 1.0,
        "fullest": fullest,
        "mean_fill": mean,
        "overloaded": int((fill > 1).sum()),
    }


def _redirected(names: Sequence[str], made: Assignment, names_before: Sequence[str], old: Assignment) -> int:
    """Feeds that another loader reads than in the window before."""
    before = dict(zip(names_before, old.owner.tolist(), strict=True))
    return sum(
        before.get(name, loader) != loader for name, loader in zip(names, made.owner.tolist(), strict=True)
    )


def window_feed_facts(dataset: str, window_start: datetime) -> Facts | None:
    """Of a window as the table has it."""
    windows = assigned_windows(dataset)
    before = [rows for start, rows in windows.items() if start < window_start]
    return feed_facts(windows.get(window_start, []), before[-1] if before else [])


def feed_sentences(facts: Facts) -> list[str]:
    """For people: the assignment, and what round robin and hash would have come to."""
    rows = "brought" if facts["is_loaded"] else "expected"
    head = (
        f"{facts['feeds']:,} feeds, {facts['rows']:,.0f} rows {rows}, {facts['loaders']:,} loaders of {facts['capacity']:,.0f} rows; no assignment"
        f" needs fewer than {facts['fewest_loaders']:,}"
    )
    return [head, *(_how_good(one) for one in facts["by"])]


def _how_good(one: Facts) -> str:
    return (
        f"{one['how']}: fullest loader {one['fullest']:.0%}, mean {one['mean_fill']:.0%}, above capacity {one['overloaded']:,}; straggler"
        f" {one['straggler']:.2f}; feeds redirected {one['redirected']:,}"
    )
