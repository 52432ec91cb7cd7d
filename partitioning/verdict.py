"""The four things a plan can say about itself."""

import numpy as np
from numpy.typing import NDArray

from partitioning.measures import is_within
from partitioning.ranking import Figures, Limits, is_better, measure
from partitioning.request import PlanRequest

BALANCED_ALREADY = "balanced already"
REACHES_TARGET = "reaches the target"
IMPROVES = "improves"
CANNOT_IMPROVE = "cannot improve within the budgets"
VERDICTS = (BALANCED_ALREADY, REACHES_TARGET, IMPROVES, CANNOT_IMPROVE)


def give_verdict(request: PlanRequest, owner: NDArray[np.int64]) -> str:
    """
    Judges a placement by its figures alone.

    Standing still means ``request.start``: what a change of N leaves, ``request.owner`` without one. A placement that
    breaks a hard limit, or leaves items in a drained bucket that could leave, reaches nothing, unless what a change of N
    forces breaks the limit by itself.
    """
    limits, figures = Limits.of_request(request), measure(request, owner)
    reaches = is_within(figures.imbalance, request.budgets.max_imbalance) and _keeps_what_it_can(
        request, figures, limits
    )
    if np.array_equal(owner, request.start):
        return BALANCED_ALREADY if reaches else CANNOT_IMPROVE
    if reaches:
        return REACHES_TARGET
    return IMPROVES if is_better(figures, measure(request, request.start), limits) else CANNOT_IMPROVE


def forced_migration(request: PlanRequest) -> float:
    """The state on buckets that are going away: it moves under every plan."""
    return float(request.state[request.owner >= request.n_buckets].sum())


def _keeps_what_it_can(request: PlanRequest, figures: Figures, limits: Limits) -> bool:
    return (
        figures.undrained == 0
        and figures.routes <= limits.routes
        and figures.migration <= max(limits.migration, forced_migration(request))
    )
