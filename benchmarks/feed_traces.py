"""
The workloads of Balkesen et al. (Sec. 6.1.1), generated to their description: rows of 80 feeds in every window.

The paper gives kinds, not numbers: ours are feeds of 50 to 150 rows (in hundreds) that switch between 0.5 and 1.5 of that about every
ten windows. Rows arrive at random (Poisson), as with exponential times in between.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

N_FEEDS = 80
HALF = 10  # windows from high to low
AHEAD = 3  # windows: the k of the forecasts, as in load_window
LOW, HIGH = 0.5, 1.5


@dataclass(frozen=True, kw_only=True, eq=False)
class Trace:
    """What came, and what the feeds' owners could have said about it; a row a window, a column a feed."""

    rows: Floats
    declared: Floats  # the next window's rate, noise aside, for feeds that go by the clock; NaN for bursts
    declared_later: Floats  # the highest within the next AHEAD windows; of bursts the peak


def _waves(n_windows: int, phase: NDArray[np.int64], *, is_step: bool) -> Floats:
    """From LOW to HIGH and back in 2 HALF windows: in steps, or along lines."""
    way = (np.arange(n_windows)[:, np.newaxis] + phase) / HALF % 2
    return np.where(way < 1, LOW, HIGH) if is_step else LOW + (HIGH - LOW) * np.abs(1 - way)


def _pairs(n_windows: int, rng: np.random.Generator, *, is_step: bool) -> Floats:
    """Two and two feeds go up and down against each other: the total stays."""
    phase = rng.integers(0, 2 * HALF, N_FEEDS // 2)
    return _waves(n_windows, np.stack([phase, phase + HALF], axis=1).ravel(), is_step=is_step)


def _together(n_windows: int, rng: np.random.Generator, *, is_step: bool) -> Floats:
    """All feeds go up and down within a few windows of each other: the total varies."""
    return _waves(n_windows, rng.integers(0, HALF // 2, N_FEEDS), is_step=is_step)


def _bursts(n_windows: int, rng: np.random.Generator) -> Floats:
    """On and off for exponentially distributed times."""
    level = np.zeros((n_windows, N_FEEDS))
    for feed in range(N_FEEDS):
        ends = np.cumsum(rng.exponential(HALF, 2 * n_windows)) - rng.uniform(0, HALF)
        level[:, feed] = np.searchsorted(ends, np.arange(n_windows)) % 2
    return level


KINDS: dict[str, Callable[[int, np.random.Generator], Floats]] = {
    "constw": lambda n_windows, _: np.ones((n_windows, N_FEEDS)),
    "psfcw": lambda n_windows, rng: _pairs(n_windows, rng, is_step=True),
    "ptfcw": lambda n_windows, rng: _pairs(n_windows, rng, is_step=False),
    "sfvar": lambda n_windows, rng: _together(n_windows, rng, is_step=True),
    "tfvar": lambda n_windows, rng: _together(n_windows, rng, is_step=False),
    "bursty": _bursts,
}


def make_trace(kind: str, n_windows: int, rng: np.random.Generator) -> Trace:
    """Feeds of one kind; in pairs both have the same mean, so that the total is as constant as the paper says."""
    base = np.repeat(rng.uniform(5_000, 15_000, N_FEEDS // 2), 2)
    level = base * KINDS[kind](n_windows + AHEAD, rng)
    if kind == "bursty":
        declared, later = np.full((n_windows, N_FEEDS), np.nan), np.tile(base, (n_windows, 1))
    else:
        declared = level[1 : n_windows + 1]
        later = np.stack([level[window : window + AHEAD].max(axis=0) for window in range(1, n_windows + 1)])
    return Trace(
        rows=rng.poisson(level[:n_windows]).astype(np.float64), declared=declared, declared_later=later
    )
