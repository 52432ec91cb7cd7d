"""Holds any planner's answer to what the request forbids: pins, drained buckets, and ways back."""

import math

import numpy as np
from numpy.typing import NDArray

from partitioning.ranking import Limits, is_better, measure
from partitioning.request import PlanRequest

Owner = NDArray[np.int64]


def permit(request: PlanRequest, owner: Owner) -> Owner:
    """The same placement, but forbidden moves are not made: those items are where ``request.start`` has them."""
    forbidden = request.is_pinned | (~request.is_live[owner] & (owner != request.owner))
    if not forbidden.any():
        return owner
    return np.where(forbidden, request.start, owner)


def without_ways_back(request: PlanRequest, owner: Owner) -> Owner:
    """The same placement, but what would go back to a bucket it left lately is where ``request.start`` has it."""
    items, buckets = request.ways_back
    returns = items[owner[items] == buckets]
    if returns.size == 0:
        return owner
    stays = owner.copy()
    stays[returns] = request.start[returns]
    return stays


def is_worth_going_back(request: PlanRequest, limits: Limits, *, steady: Owner, free: Owner) -> bool:
    """
    Whether a placement with ways back may be chosen over one without: the rule of ``History``.

    It must be better, and lower θ ``min_gain`` times as much; imbalances within the goal count the same.
    """
    figures, steady_figures = measure(request, free), measure(request, steady)
    if math.isinf(request.history.min_gain) or not is_better(figures, steady_figures, limits):
        return False
    still = max(limits.still.imbalance, limits.imbalance)
    gain = still - max(figures.imbalance, limits.imbalance)
    return gain >= request.history.min_gain * (still - max(steady_figures.imbalance, limits.imbalance))
