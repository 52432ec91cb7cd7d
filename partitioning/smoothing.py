"""
Holt's two-parameter smoothing, and the naive, mean and seasonal forecasts as cases of the same recursion.

Holt (Balkesen, Tatbul, Özsu, *Adaptive input admission and management for parallel stream processing*, DEBS 2013,
Sec. 2.3) keeps a level L and a trend T:

    L_t = alpha X_t + (1 - alpha) (L_{t-1} + T_{t-1})        T_t = gamma (L_t - L_{t-1}) + (1 - gamma) T_{t-1}        X̂_{t+k} = L_t + k T_t

With the error e_t = X_t - L_{t-1} - T_{t-1} that is L_t = L_{t-1} + T_{t-1} + alpha e_t and T_t = T_{t-1} + alpha gamma e_t. A season S_p
of declared period is added to the level (Winters' additive form): S_t = S_{t-p} + delta (1 - alpha) e_t. The paper does not say where
to begin: L_1 = X_1, T_1 = 0.

Worked: 10, 20 with alpha = gamma = 0.5: e = 10, L = 10 + 5, T = 2.5, so the next window is forecast at 17.5, the one after at 20.

Every step is one elementwise operation on all items, so the result has the same bits on every machine.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

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
    """What one unit of error adds to each part of the state."""

    level: Floats
    trend: Floats
    season: Floats

    @classmethod
    def of(cls, alpha: Gain, gamma: Gain, delta: Gain) -> "Gains":
        """As arrays, of no dimension for one number: NumPy takes half as long to look at these as at a float."""
        return cls(
            level=np.asarray(alpha), trend=np.asarray(alpha * gamma), season=np.asarray(delta * (1 - alpha))
        )


@dataclass(eq=False)
class State:
    """Level, trend and season after some windows; arrays of any one shape, changed in place."""

    level: Floats
    trend: Floats
    season: list[Floats] = field(default_factory=list)  # by phase; empty: no season
    _scaled: Floats = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._scaled = np.empty_like(self.level)

    def step(self, cost: Floats, phase: int, gains: Gains, error: Floats) -> None:
        """Takes in one window's cost; ``error`` receives how far the forecast of it was off."""
        self.level += self.trend
        np.subtract(cost, self.level, out=error)
        if self.season:
            season = self.season[phase]
            error -= season
            season += np.multiply(error, gains.season, out=self._scaled)
        self.level += np.multiply(error, gains.level, out=self._scaled)
        self.trend += np.multiply(error, gains.trend, out=self._scaled)

    def ahead(self, n_windows: int, phase: int) -> Floats:
        """The forecast for ``n_windows`` after the last one seen; ``phase`` is that window's."""
        forecast = self.level + n_windows * self.trend
        return forecast + self.season[phase] if self.season else forecast


def begin(cost: Floats, shape: tuple[int, ...], n_first: int) -> State:
    """
    The state after the first ``n_first`` windows of ``cost``: 1 without a season, the period with one.

    A season needs two periods. The trend is what the second mean is above the first, so the season of a line is 0.
    """
    if n_first == 1:
        return State(level=_filled(cost[0], shape), trend=np.zeros(shape))
    first, second = cost[:n_first].mean(axis=0), cost[n_first : 2 * n_first].mean(axis=0)
    trend = (second - first) / n_first
    middle = (n_first - 1) / 2
    season = [_filled(cost[phase] - first - (phase - middle) * trend, shape) for phase in range(n_first)]
    return State(level=_filled(first + middle * trend, shape), trend=_filled(trend, shape), season=season)


def begin_seasonal_naive(cost: Floats, shape: tuple[int, ...], period: int) -> State:
    """All is season: with delta = 1 and alpha = 0 a window is forecast at what was there one period before."""
    season = [_filled(cost[phase], shape) for phase in range(period)]
    return State(level=np.zeros(shape), trend=np.zeros(shape), season=season)


def _filled(value: Floats, shape: tuple[int, ...]) -> Floats:
    return np.array(np.broadcast_to(value, shape))


def errors(state: State, cost: Floats, n_seen: int, gains: Iterator[Gains]) -> Iterator[tuple[int, Floats]]:
    """Window and error of each step; the array of errors is used again for the next one."""
    error = np.empty_like(state.level)
    period = max(1, len(state.season))
    for window in range(n_seen, len(cost)):
        state.step(cost[window], window % period, next(gains), error)
        yield window, error
