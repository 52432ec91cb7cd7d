"""The least imbalance any placement can have: somewhere heavy items must share a bucket, or one fills it alone."""

import numpy as np
from numpy.typing import NDArray

from partitioning import measures
from partitioning.request import PlanRequest

# Two sums of the same million floats in another order differ by less than this, as a fraction of them.
ROUNDING = 1e-12

MAX_CROWDED = 8  # times the number of buckets: crowding matters among the heaviest items
N_HALVINGS = 50


def bound_imbalance(cost: NDArray[np.float64], n_buckets: int) -> float:
    """
    The least θ any placement of these costs can have.

    Pigeonhole: of the qN + 1 largest items some bucket holds q + 1, at best the q + 1 smallest of them. q = 0 is the
    heaviest item alone. Worked: costs 3, 3, 2 in two buckets: q = 1 puts 3 + 2 = 5 somewhere, the mean is 4, θ ≥ 0.25.
    """
    mean = float(cost.sum()) / n_buckets
    if mean <= 0:
        return 0.0
    running = np.concatenate(([0.0], np.cumsum(-np.sort(-cost))))
    q = np.arange((cost.size - 1) // n_buckets + 1)
    crowded = running[q * n_buckets + 1] - running[q * (n_buckets - 1)]
    return max(0.0, (float(crowded.max()) - ROUNDING * float(running[-1])) / mean - 1.0)


def bound_imbalance_of(request: PlanRequest, *, n_undrained: int = 0) -> float:
    """
    The least θ of any plan for this request, whatever it moves: capacities, drains and pins included.

    Plans may leave up to ``n_undrained`` items in drained buckets, where they are no load: at best the heaviest.
    """
    is_pinned = request.is_pinned & (request.owner < request.n_buckets)
    bound = _bound_pinned(request, is_pinned)
    if request.is_plain:
        return max(bound, bound_imbalance(request.cost, request.n_buckets))
    is_inside = np.isin(request.owner, request.drained)
    leaving = np.sort(request.cost[is_inside & ~is_pinned])
    leaving = leaving[: max(0, leaving.size - n_undrained)]
    return max(bound, _bound_unlike(request, np.concatenate([request.cost[~is_inside], leaving])))


def _bound_pinned(request: PlanRequest, is_pinned: NDArray[np.bool_]) -> float:
    """What pinned items load a bucket with, no plan takes away."""
    mean = measures.mean_load(request)
    if not is_pinned.any() or mean <= 0:
        return 0.0
    pinned = measures.load_per_bucket(request.cost[is_pinned], request.owner[is_pinned], request.n_buckets)
    highest = float((pinned / request.capacity)[request.is_live].max())
    return max(0.0, highest * (1 - ROUNDING) / mean - 1.0)


def _bound_unlike(request: PlanRequest, cost: NDArray[np.float64]) -> float:
    """
    Pigeonhole for buckets that differ: at level L a bucket holds at most so many of the m largest as its limit takes
    of the smallest of them; if all buckets together hold fewer than m, L is too low.

    Worked: items 4, 4, 4 and capacities 1 and 3, mean 3. At L < 4 the first bucket holds none, the second at most two
    (L · 3 < 12): no placement is below L = 4, so θ ≥ 1/3.
    """
    mean = measures.mean_load(request)
    if mean <= 0 or cost.size == 0:
        return 0.0
    capacity = request.capacity[request.is_live]
    largest = -np.sort(-cost)[: MAX_CROWDED * capacity.size]
    running = np.concatenate(([0.0], np.cumsum(largest)))
    low, high = 0.0, max(float(running[-1]) / float(capacity.max()), mean)
    if _holds_all(running, mean * capacity):
        return 0.0
    for _ in range(N_HALVINGS):
        level = (low + high) / 2
        low, high = (low, level) if _holds_all(running, level * capacity) else (level, high)
    return max(0.0, low * (1 - ROUNDING) / mean - 1.0)


def _holds_all(running: NDArray[np.float64], limit: NDArray[np.float64]) -> bool:
    """Whether for every m the buckets together have room for m items, each bucket for the smallest of them."""
    n = np.arange(1, running.size)
    slack = ROUNDING * float(running[-1])
    first = np.searchsorted(running, running[n, None] - limit[None, :] - slack, side="left")
    return bool(((n[:, None] - first).sum(axis=1) >= n).all())
