"""
What there is to even out below an item that no bucket can hold: the other buckets, around the load they could all have.

Such an item alone decides θ, whatever the others do. That is no reason to leave new buckets empty: when N grows, how even the
rest is comes right after θ. Without a growth it counts for nothing, since moving would gain no time.

Worked: N goes from 3 to 5 and costs are 12, 4 and 4 in a bucket each. The mean is 4, and the 12 alone makes θ = 2. The rest could have
(20 - 12) / 4 = 2 a bucket; it has 4, 4, 0 and 0: an imbalance of 1.
"""

import numpy as np
from numpy.typing import NDArray

from partitioning.measures import TOLERANCE, load_per_bucket, mean_load
from partitioning.request import PlanRequest

Floats = NDArray[np.float64]


def oversized_items(request: PlanRequest) -> NDArray[np.int64]:
    """Positions of items that are above the target in the widest bucket by themselves; none unless N grows."""
    if request.n_buckets <= request.n_buckets_before:
        return np.empty(0, dtype=np.int64)
    widest = float(request.capacity[request.is_live].max())
    limit = (1.0 + request.budgets.target + TOLERANCE) * mean_load(request) * widest
    return np.flatnonzero(request.cost > limit)


def imbalance_of_rest(request: PlanRequest, owner: NDArray[np.int64]) -> float:
    """How far the hottest of the others is above what they could all have; 0 without an oversized item, or others."""
    items = oversized_items(request)
    if items.size == 0:
        return 0.0
    fair, seated = fair_rest(request, owner, items)
    beside = load_per_bucket(request.cost, owner, request.n_buckets) - seated
    scale = float(fair.max())
    if scale <= 0:
        return 0.0
    even = scale / float(request.capacity[fair.argmax()])
    excess = (beside - fair)[request.is_live] / (even * request.capacity[request.is_live])
    return max(0.0, float(excess.max()))


def fair_rest(
    request: PlanRequest, owner: NDArray[np.int64], items: NDArray[np.int64]
) -> tuple[Floats, Floats]:
    """
    The cost each bucket should hold beside oversized items, and what those are in each bucket.

    A bucket with such an item should hold nothing else; the others share the rest by capacity.
    """
    seated = load_per_bucket(request.cost[items], owner[items], request.n_buckets)
    capacity = np.where(request.is_live & (seated == 0), request.capacity, 0.0)
    total = float(capacity.sum())
    rest = float(request.cost.sum() - seated.sum())
    return (capacity * (rest / total) if total > 0 else np.zeros_like(capacity)), seated
