"""
What users know in advance: peaks that no history tells (Balkesen et al., Sec. 2.4), laid over a forecast and taken out of the past.

A peak says what a key or a feed will cost in a stretch of time: a factor scales the forecast, a rate replaces it. It may
repeat, and it is over by itself: what it made of a window is no sign of what comes after it.
"""

import itertools
import math
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

import numpy as np
from numpy.typing import ArrayLike, NDArray

from partitioning.errors import ForecastError
from partitioning.forecast_history import MAX_COST

Floats = NDArray[np.float64]

MOST = MAX_COST / 2  # what all items may cost together: a plan takes less than 2^53, and sums are rounded
LEAST_FACTOR = 0.1  # of a whole window: a smaller part of the usual cost is too little to tell it from


@dataclass(frozen=True, kw_only=True)
class Span:
    """A stretch of time, such as a window: from ``start`` up to, but without, ``end``. Kept in UTC, in which all days are alike."""

    start: datetime
    end: datetime

    def __post_init__(self) -> None:
        for name in ("start", "end"):
            object.__setattr__(self, name, _as_utc(f"Span.{name}", getattr(self, name)))
        if self.end <= self.start:
            raise ForecastError(
                f"Span.end must come after its start. Got {self.start} to {self.end}. Swap them, or give a later end."
            )

    @property
    def length(self) -> timedelta:
        return self.end - self.start


@dataclass(frozen=True, kw_only=True)
class Peak:
    """
    What is known about one item: in ``during`` it costs ``factor`` times the forecast, or ``rate`` whatever was forecast.

    With ``every`` it comes again at that distance, for the last time before ``until``, or for ever.
    """

    name: Hashable  # the key or the feed
    during: Span
    factor: float | None = None  # 1 changes nothing, 0 is a day off
    rate: float | None = None  # cost of a whole window
    every: timedelta | None = None
    until: datetime | None = None  # no repetition begins at this time or later

    def __post_init__(self) -> None:
        if (self.factor is None) == (self.rate is None):
            raise ForecastError(
                f"Peak.factor or Peak.rate must be given, and not both. Got factor {self.factor!r} and rate"
                f" {self.rate!r} for {self.name!r}. Give a factor to scale the forecast, a rate to replace it."
            )
        if not isinstance(self.during, Span):
            raise ForecastError(
                f"Peak.during must be a Span. Got {self.during!r} for {self.name!r}. Give Span(start=..., end=...)."
            )
        _check_amount("Peak.factor", self.factor)
        _check_amount("Peak.rate", self.rate)
        self._check_repetition()

    def _check_repetition(self) -> None:
        is_too_short = not isinstance(self.every, timedelta) or self.every < self.during.length
        if self.every is not None and is_too_short:
            raise ForecastError(
                f"Peak.every must be a timedelta at least as long as the peak. Got {self.every} for one of {self.during.length}."
                " Give a longer distance, or one peak without an end in between."
            )
        if self.until is None:
            return
        object.__setattr__(self, "until", _as_utc("Peak.until", self.until))
        if self.every is None or self.until <= self.during.start:
            raise ForecastError(
                f"Peak.until must come after the start of a peak that repeats. Got {self.until} with every"
                f" {self.every} from {self.during.start}. Leave until out, or give every and a later time."
            )

    def occurrences(self, window: Span) -> Iterator[Span]:
        """What of it lies in the window, in order of time."""
        # Distances from the peak's own start: the window taken back, or the peak ahead, may leave the years that a datetime holds.
        opens, closes = window.start - self.during.start, window.end - self.during.start
        for number in self._repetitions(window):
            shift = number * (self.every or timedelta())
            begin, end = max(shift, opens), min(shift + self.during.length, closes)
            if begin < end:
                yield Span(start=self.during.start + begin, end=self.during.start + end)

    def _repetitions(self, window: Span) -> range:
        """The numbers of those that may lie in the window; 0 is the first time."""
        if self.every is None:
            return range(1)
        first = max(0, (window.start - self.during.end) // self.every)
        return range(first, self._n_begun(min(window.end, self.until or window.end), self.every))

    def _n_begun(self, before: datetime, every: timedelta) -> int:
        return -((self.during.start - before) // every)  # rounded up


_Held = tuple[Peak, Span]  # a peak, and a stretch of the window that it holds in


@dataclass(frozen=True, kw_only=True, eq=False)
class Expected:
    """A forecast with what was declared laid over it."""

    cost: Floats
    changed: tuple[int, ...]  # items that a peak says something about in this window, ascending
    missing: tuple[Peak, ...]  # peaks of this window whose item is not among those forecast
    cut: tuple[int, ...] = ()  # changed items that ``cut_to_room`` left less than was declared


def expect_peaks(
    forecast: ArrayLike, names: Sequence[Hashable], peaks: Sequence[Peak], window: Span
) -> Expected:
    """
    The forecast of one window, with the peaks that fall into it. ``forecast[i]`` is the cost of ``names[i]``.

    A peak that fills part of a window counts for that part. Where several hold at once, their factors multiply; a rate
    beats all factors, and of several rates the highest counts. What is over, or not yet there, changes nothing.

    Worked: 240 are forecast for a day, and a factor of 3 is declared from 12:00 to 18:00. That is 180 in the other 18 hours
    and 3 times 60 in these 6, so 360.
    """
    cost = np.array(forecast, dtype=np.float64)
    if cost.shape != (len(names),):
        raise ForecastError(
            f"forecast must have one cost a name. Got shape {cost.shape} for {len(names)} names. Give one window's row."
        )
    holding, missing = _in_window(_positions(names), peaks, window)
    for item, found in holding.items():
        factor, added = _made_of(found, window)
        # Nothing times an overflow is nothing, and so is no part of an interval without end.
        cost[item] = (cost[item] * factor if cost[item] and factor else 0.0) + added
    return Expected(cost=cost, changed=tuple(sorted(holding)), missing=missing)


def cut_to_room(expected: Expected) -> Expected:
    """
    The same, with all items together at most ``MOST``: where peaks come to more, each item that has one gets at most an equal share
    of what the others leave.
    """
    if np.nansum(expected.cost) <= MOST:
        return expected
    cost, changed = expected.cost.copy(), list(expected.changed)
    room = MOST - float(np.nansum(np.delete(cost, changed)))
    limit = max(room, 0.0) / max(len(changed), 1)
    cut = [item for item in changed if cost[item] > limit]
    cost[cut] = limit
    return replace(expected, cost=cost, cut=tuple(cut))


def without_peaks(
    history: ArrayLike, names: Sequence[Hashable], peaks: Sequence[Peak], windows: Sequence[Span]
) -> Floats:
    """
    What items would have cost without their peaks. ``history`` has a row for each of ``windows``, oldest first, a column a name;
    NaN, where an item was not there, stays.

    What rates brought is taken off, and the rest divided by what the window's factors come to. Where a rate held, and where less
    than ``LEAST_FACTOR`` of a usual window is left, that tells little or nothing: there the item's last window that tells counts once
    more. Without such a window it is the rest after all, and without a rest (a rate that did not come in full) what the window before
    was taken for; NaN if there is none: nothing usual is known of the item. An item that was away begins anew: what was before counts no more.

    Worked: of a day that cost 360, a factor of 3 held for 6 hours, which makes 1.5 of a day: 240 are usual.
    """
    usual = np.array(history, dtype=np.float64)
    if usual.shape != (len(windows), len(names)):
        raise ForecastError(
            f"history must have one row a window, one column a name. Got shape {usual.shape} for {len(windows)} windows and"
            f" {len(names)} names. Give the windows that the history has."
        )
    positions = _positions(names)
    held = [_in_window(positions, peaks, window)[0] for window in windows]
    for item in sorted({item for found in held for item in found}):
        told = before = math.nan
        for row, window in enumerate(windows):
            found = held[row].get(item, [])
            if found and not math.isnan(usual[row, item]):
                usual[row, item] = _usual(float(usual[row, item]), found, window, (told, before))
            before = float(usual[row, item])
            if not _has_rate(found):
                told = before
    return usual


def _usual(cost: float, found: list[_Held], window: Span, earlier: tuple[float, float]) -> float:
    """One item's cost without these peaks; ``earlier`` are that of the last window that tells, and of the window before, or NaN."""
    factor, added = _made_of(found, window)
    is_telling = LEAST_FACTOR <= factor < math.inf and added <= cost < factor * MAX_COST
    rest = (cost - added) / factor if is_telling else math.nan
    told, before = earlier
    choices = (told, rest, before) if _has_rate(found) else (rest, told, before)
    return next((choice for choice in choices if not math.isnan(choice)), math.nan)


def _has_rate(found: list[_Held]) -> bool:
    return any(peak.rate is not None for peak, _ in found)


def _positions(names: Sequence[Hashable]) -> dict[Hashable, int]:
    positions = {name: index for index, name in enumerate(names)}
    if len(positions) < len(names):
        name = next(name for index, name in enumerate(names) if positions[name] != index)
        raise ForecastError(
            f"names must differ. Got {name!r} at position {names.index(name)} and at {positions[name]}. Name each item once:"
            " a peak is of one."
        )
    return positions


def _in_window(
    positions: Mapping[Hashable, int], peaks: Sequence[Peak], window: Span
) -> tuple[dict[int, list[_Held]], tuple[Peak, ...]]:
    """The peaks that hold in the window, by item, and those whose item there is not."""
    found: dict[int, list[_Held]] = {}
    missing = []
    for peak in peaks:
        spans = list(peak.occurrences(window))
        if spans and peak.name in positions:
            found.setdefault(positions[peak.name], []).extend((peak, span) for span in spans)
        elif spans:
            missing.append(peak)
    return found, tuple(missing)


def _made_of(found: list[_Held], window: Span) -> tuple[float, float]:
    """
    What these peaks make of one item's cost: it is multiplied by the first number, and the second is added.

    The window is cut wherever a peak begins or ends, and each piece counts for its share of the window.
    """
    cuts = sorted({window.start, window.end, *(time for _, span in found for time in (span.start, span.end))})
    factor = added = 0.0
    for start, end in itertools.pairwise(cuts):
        holding = [peak for peak, span in found if span.start <= start and end <= span.end]
        rates = [peak.rate for peak in holding if peak.rate is not None]
        share = (end - start) / window.length
        if rates:
            added += share * max(rates)
        else:
            factor += share * _product([peak.factor or 0.0 for peak in holding])
    return factor, added


def _product(factors: Sequence[float]) -> float:
    """Of a 0 it is 0, though the others come to more than a float can hold."""
    return math.prod(factors) if all(factors) else 0.0


def _as_utc(field: str, value: object) -> datetime:
    """Of two times of one zone Python subtracts the clocks' hands: a day that the clocks change on would have 24 hours."""
    if not isinstance(value, datetime) or value.utcoffset() is None:
        raise ForecastError(
            f"{field} must be a time with a time zone. Got {value!r}. Give datetime(..., tzinfo=UTC), as windows have it."
        )
    try:
        return value.astimezone(UTC)
    except OverflowError:
        raise ForecastError(
            f"{field} must lie in the years 1 to 9999 of UTC. Got {value}. Give a time that a window can have."
        ) from None


def _check_amount(field: str, value: float | None) -> None:
    if value is None:
        return
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not 0 <= value < MAX_COST:
        raise ForecastError(
            f"{field} must be a number from 0 up and below 2^53. Got {value!r}. Give 2 for twice the forecast, or a cost."
        )
