"""Placements that were found, measured on the request itself, and the best of them."""

import numpy as np

from partitioning.measures import TOLERANCE
from partitioning.planners.evenkeel.problem import Integers
from partitioning.ranking import Figures, Limits, measure
from partitioning.request import PlanRequest


class Candidates:
    """Keeps the best placement so far; of equals the first."""

    def __init__(self, request: PlanRequest, limits: Limits, owner: Integers) -> None:
        self.request, self.limits = request, limits
        self.owner, self.figures = owner, measure(request, owner)

    def offer(self, owner: Integers) -> Figures:
        """Takes a placement into account, and says what it is worth."""
        figures = measure(self.request, owner)
        if rank(figures, self.limits) < rank(self.figures, self.limits):
            self.owner, self.figures = owner, figures
        return figures

    @property
    def is_at_goal(self) -> bool:
        return (
            self.limits.hold_for(self.figures)
            and self.figures.undrained == 0
            and self.figures.imbalance <= self.limits.imbalance + TOLERANCE
        )


def rank(figures: Figures, limits: Limits) -> tuple[float, ...]:
    """
    What placements are compared by, lower is better: the objective as it stands in ``evenkeel``.

    Limits that standing still breaks may be broken by as much.
    """
    over_migration = max(figures.migration, limits.migration)
    over_routes = max(figures.routes, limits.routes)
    steps = np.floor(max(figures.imbalance - limits.imbalance, 0.0) / TOLERANCE)
    return (
        not limits.admit(figures),
        limits.n_broken(figures),
        over_migration,
        figures.undrained,
        over_routes,
        max(0.0, float(steps) - 1),  # one tolerance is granted, as everywhere
        figures.migration,
        figures.routes,
    )
