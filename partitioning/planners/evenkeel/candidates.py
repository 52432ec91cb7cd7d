"""Placements that were found, measured on the request itself, and the best of them."""

from partitioning.measures import TOLERANCE
from partitioning.planners.evenkeel.problem import Integers
from partitioning.ranking import Figures, Limits, measure, rank
from partitioning.request import PlanRequest


class Candidates:
    """Keeps the best placement so far; of equals the first."""

    def __init__(self, request: PlanRequest, limits: Limits, owner: Integers) -> None:
        self.request, self.limits = request, limits
        self.owner, self.figures = owner, measure(request, owner)
        self.n_tries = 0  # levels and prices tried so far

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
