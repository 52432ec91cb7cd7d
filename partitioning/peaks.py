"""
What users know in advance: peaks that no history tells (Balkesen et al., Sec. 2.4), laid over a forecast.

A peak says what a key or a feed will cost in a stretch of time: a factor scales the forecast, a rate replaces it. It may
repeat, and it is over by itself.
"""

import itertools
import math
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import numpy as np
from numpy.typing import ArrayLike, NDArray

from partitioning.errors import ForecastError
from partitioning.forecast_history import MAX_COST

Floats = NDArray[np.float64]


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

    def cut_to(self, other: "Span") -> "Span | None":
        """What both have in common, or None."""
        start, end = max(self.start, other.start), min(self.end, other.end)
        return Span(start=start, end=end) if start < end else None


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

    def is_over(self, at: datetime) -> bool:
        """Whether nothing of it is left from this time on."""
        if self.every is None:
            return self.during.end <= at
        if self.until is None:
            return False
        return (self._n_begun(self.until, self.every) - 1) * self.every <= at - self.during.end

    def occurrences(self, window: Span) -> Iterator[Span]:
        """What of it lies in the window, in order of time."""
        for number in self._repetitions(window):
            shift = number * (self.every or timedelta())
            # The window goes back, not the peak ahead: its next time may be later than the last day that a datetime holds.
            common = self.during.cut_to(Span(start=window.start - shift, end=window.end - shift))
            if common is not None:
                yield Span(start=common.start + shift, end=common.end + shift)

    def _repetitions(self, window: Span) -> range:
        """The numbers of those that may lie in the window; 0 is the first time."""
        if self.every is None:
            return range(1)
        first = max(0, (window.start - self.during.end) // self.every)
        return range(first, self._n_begun(min(window.end, self.until or window.end), self.every))

    def _n_begun(self, before: datetime, every: timedelta) -> int:
        return -((self.during.start - before) // every)  # rounded up


@dataclass(frozen=True, kw_only=True, eq=False)
class Expected:
    """A forecast with what was declared laid over it."""

    cost: Floats
    changed: tuple[int, ...]  # items that a peak says something about in this window, ascending
    missing: tuple[Peak, ...]  # peaks of this window whose item is not among those forecast


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
    position = {name: index for index, name in enumerate(names)}
    found: dict[int, list[tuple[Peak, Span]]] = {}
    missing = []
    for peak in peaks:
        spans = list(peak.occurrences(window))
        if peak.name in position:
            found.setdefault(position[peak.name], []).extend((peak, span) for span in spans)
        elif spans:
            missing.append(peak)
    changed = tuple(sorted(item for item, peaks_in in found.items() if peaks_in))
    for item in changed:
        cost[item] = _with_peaks(float(cost[item]), found[item], window)
    return Expected(cost=cost, changed=changed, missing=tuple(missing))


def _with_peaks(cost: float, peaks: list[tuple[Peak, Span]], window: Span) -> float:
    """One item's cost: the window is cut wherever a peak begins or ends, and each piece has its own rate."""
    cuts = sorted({window.start, window.end, *(time for _, span in peaks for time in (span.start, span.end))})
    total = 0.0
    for start, end in itertools.pairwise(cuts):
        holding = [peak for peak, span in peaks if span.start <= start and end <= span.end]
        total += (end - start) / window.length * _rate(cost, holding)
    return total


def _rate(cost: float, peaks: list[Peak]) -> float:
    rates = [peak.rate for peak in peaks if peak.rate is not None]
    if rates:
        return max(rates)
    factor = math.prod(peak.factor or 0.0 for peak in peaks)
    return cost * factor if factor else 0.0  # of an interval without end, too


def _as_utc(field: str, value: object) -> datetime:
    """Of two times of one zone Python subtracts the clocks' hands: a day that the clocks change on would have 24 hours."""
    if not isinstance(value, datetime) or value.utcoffset() is None:
        raise ForecastError(
            f"{field} must be a time with a time zone. Got {value!r}. Give datetime(..., tzinfo=UTC), as windows have it."
        )
    return value.astimezone(UTC)


def _check_amount(field: str, value: float | None) -> None:
    if value is None:
        return
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not 0 <= value < MAX_COST:
        raise ForecastError(
            f"{field} must be a number from 0 up and below 2^53. Got {value!r}. Give 2 for twice the forecast, or a cost."
        )
