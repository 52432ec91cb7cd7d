"""MinMig: the least migration (Fang et al., Sec. III-B, Alg. 3)."""

from dataclasses import dataclass

from partitioning.plan import Plan
from partitioning.planners.fang_phases import Board, check_beta, largest_gamma_first
from partitioning.planners.llfd import balance
from partitioning.request import PlanRequest


@dataclass(frozen=True, kw_only=True)
class MinMigOptions:
    """``beta`` weighs cost against state in gamma = c^β / S: larger moves fewer, heavier items (Fig. 20, 21)."""

    beta: float = 1.5  # what the paper settles on (Appendix)

    def __post_init__(self) -> None:
        check_beta("MinMigOptions.beta", self.beta)


DEFAULTS = MinMigOptions()


def plan_min_mig(request: PlanRequest, options: MinMigOptions = DEFAULTS) -> Plan:
    """
    Keep every route, and take the items off overloaded buckets that shed the most cost for the least state.

    The number of routes is not limited. A request that is balanced already is left as it is.
    """
    psi = largest_gamma_first(request.cost, request.state, beta=options.beta)
    owner = balance(Board.of(request), request.start, psi)  # Phase I: do nothing
    return Plan(request=request, owner=owner, planner="min_mig")
