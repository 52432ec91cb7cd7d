"""From standing still to the best level within reach: tries levels and prices, and measures all that comes of it."""

from dataclasses import dataclass

import numpy as np

from partitioning.bounds import bound_imbalance_of
from partitioning.measures import TOLERANCE, home_after
from partitioning.planners.evenkeel.beam import Aim
from partitioning.planners.evenkeel.candidates import Candidates
from partitioning.planners.evenkeel.ladder import Rung, price_of, relaxed_price, rungs
from partitioning.planners.evenkeel.levels import LevelSearch, lowest_level
from partitioning.planners.evenkeel.options import EvenkeelOptions
from partitioning.planners.evenkeel.problem import WHOLE, Flags, Integers, Pairs, Problem, pose
from partitioning.planners.evenkeel.solving import Solved, solve
from partitioning.standing_still import clean_table

PROVEN = 1 + 1e-9  # a migration this close to its bound is the least


def descend(candidates: Candidates, *, leaving: Flags, barred: Pairs, options: EvenkeelOptions) -> None:
    """
    Offers placements to the candidates: at the goal if it is within reach, else at the lowest level that is.

    If the best of them is at the goal already, nothing is offered.
    """
    if candidates.is_at_goal:
        return
    descent = _Descent.of(candidates, leaving=leaving, barred=barred, options=options)
    if descent.problem.n_items == 0:
        return
    goal = max(candidates.limits.imbalance, bound_imbalance_of(candidates.request))
    still = candidates.figures.imbalance
    low = lowest_level(descent.problem, max_moved=descent.max_moved, low=goal, high=max(goal, still))
    if low <= goal:
        reached = descent.try_level(goal, is_goal=True)
        if reached is not None and reached <= goal + TOLERANCE:
            return
    levels = LevelSearch(low=low, high=candidates.figures.imbalance)
    for level in levels:
        levels.tell(level, descent.try_level(level, is_goal=False))
    if levels.high < still:
        descent.try_level(candidates.figures.imbalance, is_goal=True)  # as even for less


@dataclass(frozen=True, kw_only=True, eq=False)
class _Descent:
    candidates: Candidates
    problem: Problem
    at_rest: Integers  # where items are that the problem leaves out
    max_routes: float  # for the problem's items
    max_moved: float  # beyond what must move, in parts of all state
    options: EvenkeelOptions

    @classmethod
    def of(
        cls, candidates: Candidates, *, leaving: Flags, barred: Pairs, options: EvenkeelOptions
    ) -> "_Descent":
        request, limits = candidates.request, candidates.limits
        problem = pose(request, leaving=leaving, barred=barred)
        is_gone = request.owner >= request.n_buckets
        at_rest = np.where(is_gone, request.start, request.owner)
        has_route = at_rest != home_after(request, at_rest)
        has_route[problem.item] = False
        forced = float(request.state[is_gone | leaving].sum())
        allowed = max(limits.migration, limits.still.migration)
        return cls(
            candidates=candidates,
            problem=problem,
            at_rest=at_rest,
            max_routes=max(limits.routes, limits.still.routes) - float(np.count_nonzero(has_route)),
            max_moved=(allowed - forced) * (WHOLE / request.total_state if request.total_state else 1.0),
            options=options,
        )

    def try_level(self, level: float, *, is_goal: bool) -> float | None:
        """The lowest imbalance of what was found inside the budgets; None if nothing was."""
        is_coarse = self.problem.n_items <= self.options.n_coarse
        relaxed = relaxed_price(self.problem, level=level, max_routes=self.max_routes)
        reached: list[float] = []
        least = np.inf
        ladder = rungs(is_coarse=is_coarse, is_goal=is_goal, has_table=bool(np.isfinite(self.max_routes)))
        for rung in ladder:
            price = price_of(rung, relaxed=relaxed, problem=self.problem)
            solved = self._solve(level, rung, price)
            for owner in solved.owners:
                imbalances = self._offer(owner)
                reached += imbalances
                if min(imbalances, default=np.inf) <= level + TOLERANCE:
                    least = min(least, self.problem.migration(owner))
            not_below = solved.dropped - (price * self.max_routes if price else 0.0)
            if least <= not_below * PROVEN + 1 or (np.isfinite(least) and not (is_coarse and is_goal)):
                break
        return min(reached, default=None)

    def _solve(self, level: float, rung: Rung, price: float) -> Solved:
        aim = Aim(limit=self.problem.limit(level), route_price=price, max_routes=self.max_routes)
        width = int(rung.width * self.options.width(self.problem.n_buckets))
        return solve(self.problem, aim, n_coarse=self.options.n_coarse, width=width)

    def _offer(self, placed: Integers) -> list[float]:
        """Offers a placement, and it with its table cleaned; the imbalances of those inside the budgets."""
        request, limits = self.candidates.request, self.candidates.limits
        owner = self.at_rest.copy()
        owner[self.problem.item] = self.problem.bucket[placed]
        offered = [self.candidates.offer(way) for way in (owner, *clean_table(request, owner, limits))]
        return [figures.imbalance for figures in offered if limits.admit(figures)]
