"""
How even to aim for: the goal if the budgets allow it, else the lowest level they do.

The migration that a level takes falls as the level rises, so levels are searched between what no plan can beat and the
best that was found: first close to the former, which is often within reach, then halfway.
"""

from collections.abc import Iterator

import numpy as np

from partitioning.planners.evenkeel.problem import Floats, Problem

FIRST_STEP = 1 / 64  # of the range of levels
CLOSE_ENOUGH = 1e-3  # of the hottest load: levels closer than this are not worth another look
N_HALVINGS = 30


class LevelSearch:
    """Proposes levels between one that is out of reach and one that is reached; told how each try went."""

    def __init__(self, *, low: float, high: float, n_tries: int) -> None:
        self.low, self.high = low, high
        self._n_tries = n_tries

    def __iter__(self) -> Iterator[float]:
        step = FIRST_STEP
        for _ in range(self._n_tries):
            if self.high - self.low <= CLOSE_ENOUGH * (1.0 + self.low):
                return
            yield self.low + step * (self.high - self.low)
            step = 0.5

    def tell(self, level: float, reached: float | None) -> None:
        """``reached`` is the imbalance of a plan inside the budgets, or None if there was none."""
        if reached is not None and reached < self.high:
            self.high = reached
        if reached is None or reached > level:
            self.low = level


def lowest_level(problem: Problem, *, max_moved: float, low: float, high: float) -> float:
    """
    A level below which more must move than may: no plan is more even. At least ``low``.

    Every bucket sheds its excess in its cheapest items, the last one in part.
    """
    if not np.isfinite(max_moved) or not problem.share.any():
        return low
    curves = [_shedding_curve(problem, bucket) for bucket in range(problem.n_buckets)]
    load = problem.load(problem.origin)

    def needed(level: float) -> float:
        excess = np.maximum(load - problem.limit(level), 0.0)
        return sum(
            float(np.interp(amount, shed, paid))
            for amount, (shed, paid) in zip(excess.tolist(), curves, strict=True)
            if amount > 0
        )

    if needed(low) <= max_moved:
        return low
    for _ in range(N_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if needed(middle) > max_moved else (low, middle)
    return low


def _shedding_curve(problem: Problem, bucket: int) -> tuple[Floats, Floats]:
    """Cost shed and state moved, running totals in the order of state per cost."""
    items = np.flatnonzero((problem.origin == bucket) & (problem.cost > 0))
    items = items[np.argsort(problem.state[items] / problem.cost[items], kind="stable")]
    shed, paid = np.cumsum(problem.cost[items]), np.cumsum(problem.state[items])
    return np.concatenate(([0.0], shed)), np.concatenate(([0.0], paid))
