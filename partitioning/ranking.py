"""Which of two placements is better: hard limits first, then drains and the imbalance, then what it costs."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from partitioning import measures
from partitioning.measures import TOLERANCE
from partitioning.oversized import imbalance_of_rest
from partitioning.request import PlanRequest


@dataclass(frozen=True, kw_only=True)
class Figures:
    """What a placement is judged by."""

    imbalance: float
    migration: float
    routes: float  # a whole number; infinite where figures stand for a limit
    undrained: int = 0  # items left in buckets that are to be emptied
    rest: float = 0.0  # imbalance below an oversized item, if N grows: ``oversized``


def measure(request: PlanRequest, owner: NDArray[np.int64]) -> Figures:
    """The figures of one placement of the request's items."""
    return Figures(
        imbalance=measures.imbalance(request, owner),
        migration=measures.migration(request, owner),
        routes=measures.count_routes(request, owner),
        undrained=measures.count_undrained(request, owner),
        rest=imbalance_of_rest(request, owner),
    )


@dataclass(frozen=True, kw_only=True)
class Limits:
    """The goal and the two hard limits in the units of ``Figures``; infinite where there is none."""

    imbalance: float
    migration: float
    routes: float
    still: Figures  # of ``request.start``: where standing still breaks a limit, no plan may break it by more

    @classmethod
    def of_request(cls, request: PlanRequest) -> "Limits":
        return cls(
            imbalance=request.budgets.target,
            migration=request.budgets.migration_limit(request.total_state),
            routes=request.budgets.route_limit(),
            still=measure(request, request.start),
        )

    def hold_for(self, figures: Figures) -> bool:
        """Whether both hard limits are kept. Exact: a sum that is above a limit by one bit breaks it."""
        return figures.migration <= self.migration and figures.routes <= self.routes

    def admit(self, figures: Figures) -> bool:
        """Whether no hard limit is broken by more than standing still breaks it."""
        keeps_migration = figures.migration <= max(self.migration, self.still.migration)
        return keeps_migration and figures.routes <= max(self.routes, self.still.routes)

    def n_broken(self, figures: Figures) -> int:
        """How many of the two hard limits are broken."""
        return int(figures.migration > self.migration) + int(figures.routes > self.routes)


def is_better(one: Figures, other: Figures, limits: Limits) -> bool:
    """
    Whether ``one`` is admissible and strictly better than ``other``. No placement is better than itself.

    Breaking fewer hard limits comes first, then migration above its limit. Then fewer items in drained buckets win,
    then a lower imbalance, where all imbalances within the goal count the same, then a lower one of the rest below an
    oversized item; routes above their limit must not grow for any of them. At the same imbalance ``one`` must cost less without costing more: no more state, no more routes, and less of at least one; while the
    table is over its limit, fewer routes are worth state.
    """
    if not limits.admit(one) or limits.n_broken(one) != limits.n_broken(other):
        return limits.admit(one) and limits.n_broken(one) < limits.n_broken(other)
    over, over_other = max(one.migration, limits.migration), max(other.migration, limits.migration)
    if over != over_other:
        return over < over_other
    table, table_other = max(one.routes, limits.routes), max(other.routes, limits.routes)
    if one.undrained != other.undrained:
        return one.undrained < other.undrained and table <= table_other
    for ours, theirs in ((one.imbalance, other.imbalance), (one.rest, other.rest)):
        lead = max(theirs, limits.imbalance) - max(ours, limits.imbalance)
        if abs(lead) > TOLERANCE:
            return lead > 0 and table <= table_other
    if table != table_other:
        return table < table_other
    costs, costs_other = (one.migration, one.routes), (other.migration, other.routes)
    return costs != costs_other and costs[0] <= costs_other[0] and costs[1] <= costs_other[1]


def rank(figures: Figures, limits: Limits) -> tuple[float, ...]:
    """
    What any number of placements are ordered by, lower is better: ``is_better`` with migration before routes.

    Limits kept, then how far migration is over its limit, drains, routes over their limit, the imbalance above the goal in
    steps of the tolerance, that of the rest below an oversized item, migration, routes.
    """
    over, over_rest = (
        max(0.0, imbalance - limits.imbalance - TOLERANCE) for imbalance in (figures.imbalance, figures.rest)
    )
    return (
        not limits.admit(figures),
        limits.n_broken(figures),
        max(figures.migration, limits.migration),
        figures.undrained,
        max(figures.routes, limits.routes),
        float(np.ceil(over / TOLERANCE)),
        float(np.ceil(over_rest / TOLERANCE)),
        figures.migration,
        figures.routes,
    )
