"""
Which smoothing would have forecast a history best: the least sum of squared one-window errors over all items.

Errors are linear in the history, e = A x, with a matrix A that depends on the smoothing alone. So the sum of their squares
over all items is tr(A G Aᵀ) with G = Σ x xᵀ, a matrix of windows by windows that one pass over the history makes. Any
number of smoothings is then tried without looking at an item again.

Items that appeared later have fewer windows. Counted from when each appeared, their A is the beginning of the same A, so that all go
through it together; where some end, they are taken out of G. Each cohort by itself would cost as much as all of them: with keys that
come and go that was the number of windows times as much.
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
    for run, costs in _by_run(newest, method, period).items():
        gram = _gram(costs)
        squares += np.concatenate(list(_squares(run, gram, costs, grid)))
        scale += float(np.trace(gram))
    least = float(squares.min())
    best = int(np.argmax(squares <= least * (1 + _SAME) + scale * _NOISE))
    alpha, gamma, delta = grid[best].tolist()
    return Smoothing(alpha=alpha, gamma=gamma, delta=delta)


def _grid(*, has_season: bool) -> Floats:
    steps = STEPS[::2] if has_season else STEPS
    return np.array(list(product(steps[::-1], steps, SEASON_STEPS if has_season else (0.0,))))


def _by_run(history: CostHistory, method: Method, period: int | None) -> dict[Run, list[Floats]]:
    """The cohorts' costs by how they are forecast: with a season, or without one where they have too few windows."""
    found: dict[Run, list[Floats]] = {}
    for cohort in history.cohorts():
        found.setdefault(Run.of(method, cohort.cost.shape[0], period), []).append(cohort.cost)
    return found


def _gram(costs: list[Floats]) -> Floats:
    """G of all of them, windows counted from when each appeared."""
    n_windows = max(map(len, costs))
    gram = np.zeros((n_windows, n_windows))
    for cost in costs:
        gram[: len(cost), : len(cost)] += cost @ cost.T
    return gram


def _squares(run: Run, gram: Floats, costs: list[Floats], grid: Floats) -> Iterator[Floats]:
    """The sum of squared errors of each smoothing of the grid, batch by batch."""
    size = max(1, _BATCH // len(gram) ** 2)
    for first in range(0, len(grid), size):
        yield _batch_squares(run, gram.copy(), costs, grid[first : first + size])


def _batch_squares(run: Run, gram: Floats, costs: list[Floats], grid: Floats) -> Floats:
    """A's rows are the errors on unit histories: (window of the history, smoothing), one window after the other."""
    alpha, gamma, delta = grid.T.copy()
    units = np.eye(len(gram))[:, :, np.newaxis]
    state = run.begin(units, (len(gram), len(grid)))
    ends = {len(cost): cost for cost in costs}
    squares = np.zeros(len(grid))
    for window, miss in run.misses(state, units, alpha, gamma, delta):
        if window in ends:
            gram[:window, :window] -= ends[window] @ ends[window].T
        if window >= run.n_warm_up:
            known = slice(window + 1)  # no error looks further ahead
            errors = np.multiply(gram[known, known] @ miss[known], miss[known], out=state.scratch[known])
            squares += errors.sum(axis=0)
    return squares
