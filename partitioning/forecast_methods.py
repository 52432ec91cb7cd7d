"""The forecasts there are, each as where smoothing begins and how fast it follows."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import repeat
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from partitioning.smoothing import Gain, Gains, Smoothing, State, begin, begin_seasonal_naive, misses

Floats = NDArray[np.float64]
Method = Literal["naive", "mean", "holt", "seasonal_naive", "seasonal_holt"]

# The simplest first: what comes first wins a tie.
METHODS: tuple[Method, ...] = ("naive", "mean", "holt", "seasonal_naive", "seasonal_holt")
SEASONAL: frozenset[Method] = frozenset({"seasonal_naive", "seasonal_holt"})
FITTED: frozenset[Method] = frozenset({"holt", "seasonal_holt"})

_PLAIN: dict[Method, Method] = {"seasonal_naive": "naive", "seasonal_holt": "holt"}


@dataclass(frozen=True, kw_only=True)
class Run:
    """One method on items that have the same number of windows."""

    method: Method
    n_seen: int  # windows that the state begins with
    n_warm_up: int  # windows whose errors say nothing: the method has seen them
    period: int  # 1 without a season

    @classmethod
    def of(cls, method: Method, n_windows: int, period: int | None) -> "Run":
        """
        The method, or its plain form where there are too few windows.

        ``seasonal_naive`` needs one period, ``seasonal_holt`` two and one window: it learns the trend from the second.
        """
        length = period or 1
        if method == "seasonal_naive" and n_windows >= length:
            return cls(method=method, n_seen=length, n_warm_up=length, period=length)
        if method == "seasonal_holt" and n_windows > 2 * length and length > 1:
            return cls(method=method, n_seen=length, n_warm_up=2 * length, period=length)
        return cls(method=_PLAIN.get(method, method), n_seen=1, n_warm_up=1, period=1)

    def begin(self, cost: Floats, shape: tuple[int, ...]) -> State:
        if self.method == "seasonal_naive":
            return begin_seasonal_naive(cost, shape, self.period)
        return begin(cost, shape, self.n_seen)

    def misses(
        self, state: State, cost: Floats, alpha: Gain, gamma: Gain, delta: Gain
    ) -> Iterator[tuple[int, Floats]]:
        """Runs through the windows; yields each window and how far its forecast missed, those of the warm-up too."""
        return misses(state, cost, self.n_seen, self._gains(alpha, gamma, delta))

    def _gains(self, alpha: Gain, gamma: Gain, delta: Gain) -> Iterator[Gains]:
        if self.method == "mean":
            return (Gains.of(1 / n_windows, 0.0, 0.0) for n_windows in range(2, 2**62))
        return repeat(Gains.of(alpha, gamma, delta))

    def weights(self, smoothing: Smoothing, n_windows: int) -> Floats:
        """
        What each window's cost counts for in the forecast of the next one: the method's answers to histories of one 1 and zeros.

        Every step of the recursion is linear, so the forecast of any history is its sum by these weights.
        Worked: Holt with alpha = gamma = 0.5 on two windows: 0.25 and 0.75, so 10, 20 is forecast at 17.5.
        """
        units = np.eye(n_windows)
        state = self.begin(units, (n_windows,))
        for _ in self.misses(state, units, smoothing.alpha, smoothing.gamma, smoothing.delta):
            pass
        return state.ahead(1, n_windows % self.period)

    def growth(self, smoothing: Smoothing, n_windows: int, n_ahead: int) -> Floats:
        """
        The standard deviation of the error 1, 2, … windows ahead, in those of one window ahead.

        An error in window t moves the forecast for j windows later by c_j = alpha (1 + gamma j), and by delta (1 - alpha) more at the same
        phase of a later period; so the variance k ahead is 1 + c_1² + … + c_{k-1}² (Hyndman et al., *Forecasting with
        exponential smoothing*, 2008, Sec. 6.2). Worked: naive has c = 1, so 4 windows ahead is twice as uncertain as 1.
        """
        alpha = 1 / (n_windows + 1) if self.method == "mean" else smoothing.alpha
        later = np.arange(1, n_ahead)
        effect = alpha * (1 + smoothing.gamma * later)
        if self.period > 1 or self.method == "seasonal_naive":
            effect = effect + np.where(later % self.period == 0, smoothing.delta * (1 - alpha), 0.0)
        return np.asarray(np.sqrt(np.concatenate([[1.0], 1.0 + np.cumsum(effect**2)])))


FIXED: dict[Method, Smoothing] = {
    "naive": Smoothing(alpha=1.0),
    "mean": Smoothing(alpha=0.0),  # replaced window by window: 1 over the windows seen
    "seasonal_naive": Smoothing(alpha=0.0, delta=1.0),
}
