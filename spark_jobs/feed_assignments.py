"""
Which loader reads which feed in a window: made from what earlier windows brought, written once, and judged afterwards.

Windows are rows of ``feed_assignments``, one a feed. Everything here is arrays and that table; reading the feeds is ``feed_loading``'s.
"""

from collections.abc import Sequence
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
from partitioning.peaks import Span, expect_peaks
from schemas.dataset import Dataset
from schemas.tables import FEED_ASSIGNMENTS
from spark_jobs.control_tables import Row, read_rows, replace_rows
from spark_jobs.declared_peaks import peaks_of_feeds
from spark_jobs.job import Window

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
    names = [feed.name for feed in feeds]
    peaks, length = peaks_of_feeds(dataset), window.end - window.start
    spans = [Span(start=window.start + k * length, end=window.end + k * length) for k in range(LATER)]
    expected = [
        expect_peaks(ahead, names, peaks, span) for ahead, span in zip(known.ahead, spans, strict=True)
    ]
    declared = [expect_peaks(known.declared, names, peaks, span).cost for span in spans]
    with_peaks = expected[0]
    request = FeedRequest.of(
        rate=known.rate,
        forecast=with_peaks.cost,
        later=np.max([one.cost for one in expected[1:]], axis=0),
        declared=declared[0],
        declared_later=np.fmax.reduce(declared),
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
    said = [f"a declared peak of feed {names[feed]} counts" for feed in with_peaks.changed]
    said += [
        f"a peak of feed {peak.name} is declared, but there is no such feed" for peak in with_peaks.missing
    ]
    return Assigned(rows=rows, sentences=tuple(said))


@dataclass(frozen=True, kw_only=True, eq=False)
class KnownRates:
    """What is known of feeds before their window is read. Position i of each describes the same feed; NaN: nothing."""

    rate: Floats  # of the last window
    ahead: Floats  # a row a window ahead
    declared: Floats
    owner: list[int]  # loader that read it in the last window

    @property
    def is_nothing(self) -> bool:
        return bool(np.isnan(self.rate).all())


def known_rates(feeds: Sequence[Input], earlier: Sequence[Sequence[Row]]) -> KnownRates:
    """
    From the windows before, oldest first. What its owner declares stands for what a feed has not brought yet.

    A window that was assigned and never loaded says who read what, and nothing about rates.
    """
    names = [feed.name for feed in feeds]
    declared = np.array([np.nan if feed.rate is None else feed.rate for feed in feeds])
    loaded = [brought for brought in map(_rows_of, earlier) if brought]
    history = np.array([[brought.get(name, np.nan) for name in names] for brought in loaded])
    rate = history[-1] if loaded else np.full(len(names), np.nan)
    ahead = (
        forecast(history, ForecastOptions(n_ahead=LATER)).expected
        if loaded
        else np.zeros((LATER, len(names)))
    )
    owner_of = {row["feed"]: row["loader"] for row in (earlier[-1] if earlier else ())}
    return KnownRates(
        rate=np.where(np.isnan(rate), declared, rate),
        ahead=np.where(np.isnan(rate), declared, ahead),
        declared=declared,
        owner=[owner_of.get(name, NO_LOADER) for name in names],
    )


def counted_rates(known: KnownRates, counted: Sequence[float]) -> KnownRates:
    """Of the first window nothing may be known at all: then what it brings is counted before it is loaded."""
    rates = np.array(counted, dtype=np.float64)
    return replace(known, rate=rates, ahead=np.tile(rates, (LATER, 1)))


def _rows_of(window: Sequence[Row]) -> dict[str, float]:
    """What each feed brought; a window that was never loaded says nothing."""
    return {row["feed"]: float(row["rows"]) for row in window if row["rows"] is not None}


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
