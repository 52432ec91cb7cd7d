"""How far a plan is from the best possible: lower bounds for this very request, the gaps, and a proof where there is one."""

from dataclasses import dataclass

from partitioning.bounds_budget import bound_imbalance_within
from partitioning.measures import TOLERANCE, is_within
from partitioning.plan import Plan
from partitioning.planners.evenkeel.proof import is_least_migration, is_most_even

MAX_KEYS = 60
MAX_BUCKETS = 5
SAME = 1e-9  # of a migration


@dataclass(frozen=True, kw_only=True)
class Certificate:
    """
    Bounds hold for every plan that keeps the hard limits as well as this one, from any planner.

    The goal counts: an imbalance within θ_max has no gap. ``proof`` says why nothing better exists; None if the bounds
    leave room and the request is too large to search, or the search found no proof.
    """

    imbalance: float
    imbalance_bound: float  # no plan inside the budgets is more even
    migration: float
    migration_bound: float  # no plan as even as this one, or as the goal asks, moves less
    proof: str | None

    def __post_init__(self) -> None:
        object.__setattr__(self, "imbalance_bound", min(self.imbalance_bound, self.imbalance))

    @property
    def migration_ratio(self) -> float:
        """Migration as a multiple of its bound; 1 if nothing moves, infinite if something does and nothing must."""
        if self.migration <= self.migration_bound * (1 + SAME):
            return 1.0
        return self.migration / self.migration_bound if self.migration_bound > 0 else float("inf")

    @property
    def is_optimal(self) -> bool:
        return self.proof is not None


def certify(plan: Plan) -> Certificate:
    """The certificate of any planner's plan."""
    bound = bound_imbalance_within(plan.request, plan.figures)
    return Certificate(
        imbalance=plan.imbalance,
        imbalance_bound=bound,
        migration=plan.migration,
        migration_bound=plan.bounds.migration,
        proof=_prove(plan, bound),
    )


def imbalance_gap(plan: Plan, bound: float) -> float:
    """How far θ is above what can be asked of it: the goal, or the bound if that is higher."""
    return max(0.0, plan.imbalance - max(bound, plan.request.budgets.max_imbalance))


def _prove(plan: Plan, bound: float) -> str | None:
    is_small = _is_small(plan)
    if is_within(plan.imbalance, plan.request.budgets.max_imbalance):
        even = "the goal is reached"
    elif imbalance_gap(plan, bound) <= TOLERANCE:
        even = "no plan is more even: the bound is met"
    elif is_small and is_most_even(plan):
        even = "no plan is more even: all were searched"
    else:
        return None
    if plan.migration <= plan.bounds.migration * (1 + SAME):
        return f"{even}; none as even moves less: the bound is met"
    if is_small and is_least_migration(plan):
        return f"{even}; none as even moves less: all were searched"
    return None


def _is_small(plan: Plan) -> bool:
    """Whether a search can prove something: few keys and buckets, and routes that do not hang on slots."""
    request = plan.request
    return request.n_items <= MAX_KEYS and request.n_buckets <= MAX_BUCKETS and not request.has_slots
