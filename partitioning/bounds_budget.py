"""The least imbalance that any plan inside the budgets of this very request can have."""

from dataclasses import replace

import numpy as np

from partitioning.bounds import bound_imbalance_of, bound_migration, bound_routes
from partitioning.ranking import Figures, Limits
from partitioning.request import PlanRequest

N_HALVINGS = 24  # to less than 1e-6 of the range of levels


def bound_imbalance_within(request: PlanRequest, figures: Figures) -> float:
    """
    A lower bound on θ of every plan that keeps the hard limits as well as one with these figures does.

    Below it, more state would have to move or more routes to exist than the limits, or where they are broken the
    figures, allow. Both needs fall as the level rises, so the level is found by bisection.

    Worked: bucket 0 holds 12 of cost in items of 1 with state 1, buckets 1 and 2 hold nothing; the mean is 4. With 3 of
    state to move it keeps 9: θ ≥ 9/4 - 1 = 1.25.
    """
    limits = Limits.of_request(request)
    allowed = replace(
        figures,
        migration=max(limits.migration, figures.migration),
        routes=max(limits.routes, figures.routes),
    )
    low = bound_imbalance_of(request, n_undrained=figures.undrained)
    high = figures.imbalance
    if high <= low or _is_conceivable(request, allowed, low):
        return low
    for _ in range(N_HALVINGS):
        level = (low + high) / 2
        low, high = (low, level) if _is_conceivable(request, allowed, level) else (level, high)
    return low


def _is_conceivable(request: PlanRequest, allowed: Figures, level: float) -> bool:
    """Whether no bound says that this level takes more than is allowed."""
    if bound_routes(request, imbalance=level) > allowed.routes:
        return False
    if np.isinf(allowed.migration):
        return True
    needed = bound_migration(request, imbalance=level, n_routes=allowed.routes, n_undrained=allowed.undrained)
    return needed <= allowed.migration
