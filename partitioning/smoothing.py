"""
Holt's two-parameter smoothing, and the naive, mean and seasonal forecasts as cases of the same recursion.

Holt (Balkesen, Tatbul, Özsu, *Adaptive input admission and management for parallel stream processing*, DEBS 2013,
Sec. 2.3) keeps a level L and a trend T:

    L_t = alpha X_t + (1 - alpha) (L_{t-1} + T_{t-1})        T_t = gamma (L_t - L_{t-1}) + (1 - gamma) T_{t-1}        X̂_{t+k} = L_t + k T_t

With F_t = L_{t-1} + T_{t-1}, the forecast of window t, and its miss m_t = F_t - X_t that is what runs here, with the fewest operations:

    T_t = T_{t-1} - alpha gamma m_t        L_t = X_t + (1 - alpha) m_t        F_{t+1} = L_t + T_t

A season S_p of declared period is added to the level (Winters' additive form): m_t = F_t + S_{t-p} - X_t, L_t = X_t - S_{t-p} + (1 - alpha) m_t
and S_t = S_{t-p} - delta (1 - alpha) m_t. The paper does not say where to begin: L_1 = X_1, T_1 = 0.

Worked: 10, 20 with alpha = gamma = 0.5: m = -10, T = 2.5, L = 20 - 5, so the next window is forecast at 17.5, the one after at 20.

Every step is one elementwise operation on all items, so the result has the same bits on every machine.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from partitioning.aligned import empty, filled
from partitioning.errors import ForecastError

Floats = NDArray[np.float64]
Gain = float | Floats  # Floats: one a row of the state, where many parameters are tried at once


@dataclass(frozen=True, kw_only=True)
class Smoothing:
    """How fast level, trend and season follow what is new: 0 never, 1 at once."""

    alpha: float  # level
    gamma: float = 0.0  # trend
    delta: float = 0.0  # season; of no effect without a period

    def __post_init__(self) -> None:
        for name in ("alpha", "gamma", "delta"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
                raise ForecastError(
                    f"Smoothing.{name} must be a number from 0 to 1. Got {value!r}. Leave the smoothing out to have it fitted."
                )


@dataclass(frozen=True, kw_only=True, eq=False)
class Gains:
    """What of a miss each part of the state takes in."""

    trend: Floats  # taken off the trend
    kept: Floats  # left of it in the level
    season: Floats  # taken off the season, of what is kept

    @classmethod
    def of(cls, alpha: Gain, gamma: Gain, delta: Gain) -> "Gains":
        """As arrays, of no dimension for one number: NumPy takes half as long to look at these as at a float."""
        return cls(trend=np.asarray(alpha * gamma), kept=np.asarray(1 - alpha), season=np.asarray(delta))


@dataclass(eq=False)
class State:
    """Forecast of the next window, trend and season after some windows; arrays of any one shape, changed in place."""

    forecast: Floats  # of the next window, without its season; between compare and learn the miss
    trend: Floats
    season: list[Floats] = field(default_factory=list)  # by phase; empty: no season
    scratch: Floats = field(init=False, repr=False)  # anybody's, for a moment

    def __post_init__(self) -> None:
        self.scratch = empty(self.forecast.shape)

    def compare(self, cost: Floats, phase: int) -> Floats:
        """How far the forecast of this window was above its cost. ``learn`` must follow."""
        miss = self.forecast
        miss -= cost
        if self.season:
            miss += self.season[phase]
        return miss

    def learn(self, cost: Floats, phase: int, gains: Gains) -> None:
        """Takes in the window that was compared: each line is one pass, and no array more than these is touched."""
        forecast, trend, scratch = self.forecast, self.trend, self.scratch
        trend -= np.multiply(forecast, gains.trend, out=scratch)
        forecast *= gains.kept
        if self.season:
            season = self.season[phase]
            np.multiply(forecast, gains.season, out=scratch)
            forecast -= season
            season -= scratch
        forecast += cost
        forecast += trend

    def ahead(self, n_windows: int, phase: int) -> Floats:
        """The forecast for ``n_windows`` after the last one seen; ``phase`` is that window's."""
        forecast = self.forecast + (n_windows - 1) * self.trend
        return forecast + self.season[phase] if self.season else forecast


def begin(cost: Floats, shape: tuple[int, ...], n_first: int) -> State:
    """
    The state after the first ``n_first`` windows of ``cost``: 1 without a season, the period with one.

    A season needs two periods. The trend is what the second mean is above the first, so the season of a line is 0.
    """
    if n_first == 1:
        return State(forecast=filled(cost[0], shape), trend=filled(0.0, shape))
    # Row by row: NumPy's own mean adds in another order where there is one item.
    first, second = (sum(part) / n_first for part in (cost[:n_first], cost[n_first : 2 * n_first]))
    trend = (second - first) / n_first
    middle = (n_first - 1) / 2
    season = [filled(cost[phase] - first - (phase - middle) * trend, shape) for phase in range(n_first)]
    return State(
        forecast=filled(first + (middle + 1) * trend, shape), trend=filled(trend, shape), season=season
    )


def begin_seasonal_naive(cost: Floats, shape: tuple[int, ...], period: int) -> State:
    """All is season: with delta = 1 and alpha = 0 a window is forecast at what was there one period before."""
    season = [filled(cost[phase], shape) for phase in range(period)]
    return State(forecast=filled(0.0, shape), trend=filled(0.0, shape), season=season)


def misses(state: State, cost: Floats, n_seen: int, gains: Iterator[Gains]) -> Iterator[tuple[int, Floats]]:
    """Window and miss of each step; the array is the state's own, to be read and not kept."""
    period = max(1, len(state.season))
    for window in range(n_seen, len(cost)):
        phase = window % period
        yield window, state.compare(cost[window], phase)
        state.learn(cost[window], phase, next(gains))
