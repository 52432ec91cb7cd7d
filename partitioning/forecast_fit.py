"""
Which smoothing would have forecast a history best: the least sum of squared one-window errors over all items.

Errors are linear in the history, e = A x, with a matrix A that depends on the smoothing alone. So the sum of their squares
over all items is tr(A G Aᵀ) with G = Σ x xᵀ, a matrix of windows by windows that one pass over the history makes. Any
number of smoothings is then tried without looking at an item again.
"""

from collections.abc import Iterator
from itertools import product

import numpy as np
from numpy.typing import NDArray

from partitioning.forecast_history import CostHistory
from partitioning.forecast_methods import Method, Run
from partitioning.smoothing import Smoothing

Floats = NDArray[np.float64]

STEPS = tuple(step / 20 for step in range(21))
SEASON_STEPS = tuple(step / 10 for step in range(0, 11, 2))
MAX_FIT_WINDOWS = 128  # of the newest: the work grows with the cube
_BATCH = 1 << 21  # numbers held at once
# Sums of floats: smoothings whose errors differ by less than this are equally good, and the first is taken.
_SAME = 1e-9
_NOISE = 1e-12


def fit_smoothing(history: CostHistory, method: Method, period: int | None = None) -> Smoothing:
    """
    The best smoothing on a grid of 0.05 (with a season 0.1, and 0.2 for delta), for all items together.

    Together, because an item's few windows cannot tell alpha from gamma; heavy items count most, as they do in a bucket's load.
    Of equally good ones the first is taken: the quickest level, then the steadiest trend and season, so that without
    evidence Holt is the naive forecast. With very long histories the newest windows decide (``MAX_FIT_WINDOWS``, or three
    periods where that is more).
    """
    newest = history.newest(max(MAX_FIT_WINDOWS, 3 * (period or 1)))
    grid = _grid(has_season=method == "seasonal_holt")
    squares, scale = np.zeros(len(grid)), 0.0
    for cohort in newest.cohorts():
        gram = cohort.cost @ cohort.cost.T
        run = Run.of(method, cohort.cost.shape[0], period)
        squares += np.concatenate(list(_squares(run, gram, grid)))
        scale += float(np.trace(gram))
    least = float(squares.min())
    best = int(np.argmax(squares <= least * (1 + _SAME) + scale * _NOISE))
    alpha, gamma, delta = grid[best].tolist()
    return Smoothing(alpha=alpha, gamma=gamma, delta=delta)


def _grid(*, has_season: bool) -> Floats:
    steps = STEPS[::2] if has_season else STEPS
    return np.array(list(product(steps[::-1], steps, SEASON_STEPS if has_season else (0.0,))))


def _squares(run: Run, gram: Floats, grid: Floats) -> Iterator[Floats]:
    """The sum of squared errors of each smoothing of the grid, batch by batch."""
    size = max(1, _BATCH // len(gram) ** 2)
    for first in range(0, len(grid), size):
        yield _batch_squares(run, gram, grid[first : first + size])


def _batch_squares(run: Run, gram: Floats, grid: Floats) -> Floats:
    """A's rows are the errors on unit histories: (window of the history, smoothing), one window after the other."""
    alpha, gamma, delta = grid.T.copy()
    cost = np.eye(len(gram))[:, :, np.newaxis]
    state = run.begin(cost, (len(gram), len(grid)))
    squares = np.zeros(len(grid))
    for window, miss in run.misses(state, cost, alpha, gamma, delta):
        if window >= run.n_warm_up:
            squares += np.multiply(gram @ miss, miss, out=state.scratch).sum(axis=0)
    return squares
