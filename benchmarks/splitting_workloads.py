"""Seeded streams of keys: LN1, LN2 and ZF of Nasir et al. (Sec. 6.1), and stand-ins for data we do not have."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Keys = NDArray[np.int64]


@dataclass(frozen=True)
class LogNormal:
    """Keys that are rounded draws of a log-normal distribution."""

    mu: float
    sigma: float


LN1 = LogNormal(1.789, 2.366)
LN2 = LogNormal(2.245, 1.133)


def draw_lognormal(workload: LogNormal, n_rows: int, *, seed: int = 0) -> Keys:
    """Keys in arrival order."""
    rng = np.random.default_rng(seed)
    return np.rint(rng.lognormal(workload.mu, workload.sigma, n_rows)).astype(np.int64)


def draw_zipf(n_rows: int, *, n_keys: int, exponent: float, seed: int = 0) -> Keys:
    """Keys in arrival order; key r - 1 with a frequency in proportion to r^-z."""
    below = np.cumsum(np.arange(1, n_keys + 1, dtype=np.float64) ** -exponent)
    drawn = np.random.default_rng(seed).random(n_rows) * below[-1]
    keys: Keys = np.searchsorted(below, drawn, side="right")
    return keys


def exponent_of(hottest_share: float, n_keys: int) -> float:
    """The exponent at which the first of so many Zipf keys has this share of all rows."""
    ranks: NDArray[np.float64] = np.log(np.arange(1, n_keys + 1, dtype=np.float64))
    low, high = 0.0, 4.0
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if 1 / np.exp(-middle * ranks).sum() < hottest_share else (low, middle)
    return low
