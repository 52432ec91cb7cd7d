"""The papers' planners on the same requests, inside the same budgets: is any of them ever better?"""

from dataclasses import dataclass, field

from benchmarks.goals import Goal
from partitioning.measures import TOLERANCE
from partitioning.plan import Plan
from partitioning.planners import PLANNERS
from partitioning.planning import make_plan
from partitioning.ranking import Limits

SAME = 1e-9  # of a migration
# Redist and readj take a step an item squared; MixedBF a round of Mixed for every route.
MAX_ITEMS = {"redist": 200, "readj": 200, "mixed_bf": 150, "scan": 600}
NOT_RIVALS = ("evenkeel", "stay", "frequency_hash")  # the last without splits is the plain hash


@dataclass
class Rivalry:
    """Counts the requests on which a published planner has a lower θ, or the same θ with less migration."""

    n_requests: int = 0
    n_plans: int = 0
    beaten: list[str] = field(default_factory=list)

    def challenge(self, plan: Plan, name: str) -> None:
        """
        Lets every rival that is fast enough plan the same request, as ``make_plan`` fits it to the budgets.

        Imbalances within the goal count the same. Ranks before θ, as everywhere: limits kept, drains done.
        """
        request = plan.request
        self.n_requests += 1
        for planner in PLANNERS:
            if planner in NOT_RIVALS or request.n_items > MAX_ITEMS.get(planner, 20_000):
                continue
            self.challenge_with(plan, make_plan(request, planner), name)

    def challenge_with(self, plan: Plan, rival: Plan, name: str) -> None:
        """One rival; its request may describe the same table in other items."""
        self.n_plans += 1
        if is_beaten(plan, rival):
            self.beaten.append(
                f"{name}: {rival.planner} has θ {rival.imbalance:.4f} for {rival.migration:.6g}, ours"
                f" {plan.imbalance:.4f} for {plan.migration:.6g}"
            )

    def goal(self) -> Goal:
        for line in self.beaten:
            print(f"  beaten: {line}")
        return Goal(
            what=f"never worse than a published planner ({self.n_plans} plans on {self.n_requests} requests)",
            goal="0",
            result=f"{len(self.beaten)} times worse",
            met=not self.beaten,
        )


def is_beaten(plan: Plan, rival: Plan) -> bool:
    """Whether the rival keeps as many limits, drains as much, and is more even, or as even for less."""
    limits = Limits.of_request(plan.request)
    if limits.n_broken(rival.figures) > limits.n_broken(plan.figures):
        return False
    if rival.figures.undrained != plan.figures.undrained or not limits.admit(rival.figures):
        return rival.figures.undrained < plan.figures.undrained and limits.admit(rival.figures)
    if limits.n_broken(plan.figures) and not _breaks_no_more(rival, plan):
        return False
    for ours, theirs in (
        (plan.imbalance, rival.imbalance),
        (plan.figures.rest, rival.figures.rest),  # 0 unless N grows and an oversized item alone makes θ
    ):
        lead = max(ours, limits.imbalance) - max(theirs, limits.imbalance)
        if abs(lead) > TOLERANCE:
            return lead > 0
    return rival.migration < plan.migration * (1 - SAME)


def _breaks_no_more(rival: Plan, plan: Plan) -> bool:
    """Where ours breaks a limit, only a rival that is over by no more is inside the same budgets."""
    return rival.migration <= plan.migration and rival.figures.routes <= plan.figures.routes
