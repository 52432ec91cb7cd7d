"""Which items leave drained buckets in this plan: as many as the budgets let go."""

from collections.abc import Iterator

import numpy as np

from partitioning.measures import home_after
from partitioning.planners.evenkeel.problem import Flags
from partitioning.ranking import Limits
from partitioning.request import PlanRequest


def ways_to_drain(request: PlanRequest, limits: Limits) -> Iterator[Flags]:
    """
    Sets of items that leave now, most first: all that ``max_migration`` lets go, then only those that need no route.

    The least state first, ties by position: that empties buckets by the most items a plan, and what is left over needs
    the fewest plans more. Without drained buckets there is one way: nothing leaves.
    """
    inside = np.isin(request.owner, request.drained) & ~request.is_pinned
    leaving = _least_state_first(request, limits, inside)
    yield leaving
    home = home_after(request, request.start)
    without_route = leaving & (request.is_slot | (request.is_live[home] & (home != request.owner)))
    if np.isfinite(limits.routes) and (without_route != leaving).any():
        yield without_route


def _least_state_first(request: PlanRequest, limits: Limits, inside: Flags) -> Flags:
    leaving = np.zeros(request.n_items, dtype=np.bool_)
    items = np.flatnonzero(inside)
    items = items[np.argsort(request.state[items], kind="stable")]
    gone = float(request.state[request.owner >= request.n_buckets].sum())
    leaving[items[np.cumsum(request.state[items]) + gone <= limits.migration]] = True
    return leaving
