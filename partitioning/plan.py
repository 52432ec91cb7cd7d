"""What every planner returns: a full placement, and what it costs."""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from partitioning import item_checks, measures
from partitioning.bounds import Bounds, bound_plan
from partitioning.churn import Churn, churn_by_cause
from partitioning.ranking import Figures, Limits, measure
from partitioning.request import PlanRequest
from partitioning.verdict import give_verdict


def _no_positions() -> NDArray[np.int64]:
    return np.empty(0, dtype=np.int64)


@dataclass(frozen=True, kw_only=True, eq=False)
class Plan:
    """
    A placement of every item of ``request``. All figures follow from the request and ``owner`` alone.

    ``make_plan`` adds ``reasons`` and ``given_up``; a planner's own answer has neither.
    """

    request: PlanRequest
    owner: NDArray[np.int64]  # bucket of each item after the plan
    planner: str  # name in PLANNERS
    reasons: tuple[str, ...] = ()  # what the verdict rests on: bucket, item, number
    given_up: NDArray[np.int64] = field(
        default_factory=_no_positions
    )  # moves left out to keep a hard limit, ascending

    def __post_init__(self) -> None:
        owner = item_checks.as_buckets("Plan.owner", self.owner, n_buckets=self.request.n_buckets)
        item_checks.check_length("Plan.owner", owner, self.request.n_items)
        object.__setattr__(self, "owner", owner)  # a read-only copy: nobody can change a plan afterwards

    @cached_property
    def moved(self) -> NDArray[np.int64]:
        """Positions whose bucket changes, ascending."""
        return np.flatnonzero(self.owner != self.request.owner)

    @cached_property
    def load(self) -> NDArray[np.float64]:
        """Load per bucket after the plan: its cost, over its capacity where capacities differ."""
        return measures.loads(self.request, self.owner)

    @cached_property
    def figures(self) -> Figures:
        return measure(self.request, self.owner)

    @property
    def imbalance(self) -> float:
        """θ after the plan."""
        return self.figures.imbalance

    @property
    def underload(self) -> float:
        """θ of the other sign: how far the coolest bucket in use is below the mean."""
        mean = measures.mean_load(self.request)
        coolest = float(self.load[self.request.is_live].min())
        return max(0.0, 1.0 - coolest / mean) if mean > 0 else 0.0

    @property
    def migration(self) -> float:
        """State that changes bucket, in the unit of ``PlanRequest.state``."""
        return self.figures.migration

    @property
    def n_routes(self) -> int:
        """Explicit routes of the new function."""
        return int(self.figures.routes)

    @cached_property
    def churn(self) -> Churn:
        """The moves by cause: change of N, balance, cleaning."""
        return churn_by_cause(self.request, self.owner)

    @cached_property
    def within_budgets(self) -> bool:
        """Whether both hard limits, ``max_routes`` and ``max_migration``, are kept. θ_max is a goal, not a limit."""
        return Limits.of_request(self.request).hold_for(self.figures)

    @cached_property
    def bounds(self) -> Bounds:
        """What no plan as even as this one, or as the goal asks, can beat: see ``bounds.bound_plan``."""
        return bound_plan(
            self.request,
            reached=self.imbalance,
            n_routes=self.n_routes,
            n_undrained=self.figures.undrained,
        )

    @cached_property
    def verdict(self) -> str:
        """One of the four in ``verdict.VERDICTS``."""
        return give_verdict(self.request, self.owner)
