"""How even, how much moved, how many routes: the figures every plan is judged by."""

import numpy as np
from numpy.typing import NDArray

from partitioning.request import NO_SLOT, PlanRequest

# Loads are sums of floats: two imbalances closer than this are the same imbalance.
TOLERANCE = 1e-9


def load_per_bucket(
    cost: NDArray[np.float64], owner: NDArray[np.int64], n_buckets: int
) -> NDArray[np.float64]:
    """The sum of cost per bucket; buckets without items have load 0."""
    return np.bincount(owner, weights=cost, minlength=n_buckets).astype(np.float64)


def overload(load: NDArray[np.float64]) -> float:
    """θ: how far the hottest bucket is above the mean, as a fraction of the mean. 0 where there is no load."""
    return max(0.0, max_over_mean(load) - 1.0)


def underload(load: NDArray[np.float64]) -> float:
    """How far the coolest bucket is below the mean, as a fraction of the mean, from 0 to 1 (an empty bucket)."""
    mean = float(load.mean())
    return max(0.0, 1.0 - float(load.min()) / mean) if mean > 0 else 0.0


def max_over_mean(load: NDArray[np.float64]) -> float:
    """The hottest bucket in mean loads. 1 where there is no load."""
    mean = float(load.mean())
    return float(load.max()) / mean if mean > 0 else 1.0


def max_over_min(load: NDArray[np.float64]) -> float:
    """The hottest bucket in loads of the coolest: infinite if that is empty, 1 where there is no load at all."""
    highest, lowest = float(load.max()), float(load.min())
    if lowest > 0:
        return highest / lowest
    return float("inf") if highest > 0 else 1.0


def loads(request: PlanRequest, owner: NDArray[np.int64]) -> NDArray[np.float64]:
    """Load per bucket: its cost over its capacity."""
    cost = load_per_bucket(request.cost, owner, request.n_buckets)
    return cost if request.is_plain else np.asarray(cost / request.capacity)


def mean_load(request: PlanRequest) -> float:
    """The load of every bucket in use if all were even: all cost over all their capacity."""
    if request.is_plain:
        return float(request.cost.sum()) / request.n_buckets
    return float(request.cost.sum()) / float(request.capacity[request.is_live].sum())


def imbalance(request: PlanRequest, owner: NDArray[np.int64]) -> float:
    """
    θ: how far the hottest bucket in use is above the mean load, as a fraction of it. 0 where there is no load.

    Worked: capacities 1, 1, 2 and costs 3, 1, 4 have loads 3, 1, 2 and the mean 8 / 4 = 2, so θ = 0.5.
    """
    load = loads(request, owner)
    if request.is_plain:
        return overload(load)
    mean = mean_load(request)
    return max(0.0, float(load[request.is_live].max()) / mean - 1.0) if mean > 0 else 0.0


def count_undrained(request: PlanRequest, owner: NDArray[np.int64]) -> int:
    """Items that could leave a drained bucket and are still there."""
    if request.drained.size == 0:
        return 0
    return int(np.count_nonzero(~request.is_live[owner] & ~request.is_pinned))


def is_within(imbalance: float, max_imbalance: float) -> bool:
    """Whether an imbalance keeps the goal, as far as sums of floats can tell (``TOLERANCE``)."""
    return imbalance <= max_imbalance + TOLERANCE


def migration(request: PlanRequest, owner: NDArray[np.int64]) -> float:
    """The state of all items that change bucket."""
    return float(request.state[owner != request.owner].sum())


def home_after(request: PlanRequest, owner: NDArray[np.int64]) -> NDArray[np.int64]:
    """Each item's bucket if it has no route: a key's home is wherever its slot goes. Not to be written to."""
    if not request.has_slots:
        return request.home
    slot = request.slot
    return np.where(request.is_slot, owner, np.where(slot == NO_SLOT, request.home, owner[slot]))


def count_routes(request: PlanRequest, owner: NDArray[np.int64]) -> int:
    """Keys whose bucket differs from their home: each needs an explicit route."""
    return int(np.count_nonzero(owner != home_after(request, owner)))
