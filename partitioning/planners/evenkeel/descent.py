"""From standing still to the best level within reach: tries levels and prices, and measures all that comes of it."""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from partitioning.bounds import bound_imbalance_of
from partitioning.measures import TOLERANCE, home_after
from partitioning.planners.evenkeel.beam import Aim
from partitioning.planners.evenkeel.candidates import Candidates
from partitioning.planners.evenkeel.filling import limits_of_rest
from partitioning.planners.evenkeel.ladder import (
    FINE,
    QUICK,
    THOROUGH,
    Rung,
    least_price,
    price_of,
    relaxed_price,
)
from partitioning.planners.evenkeel.levels import LevelSearch, lowest_level
from partitioning.planners.evenkeel.options import EvenkeelOptions
from partitioning.planners.evenkeel.polishing import MAX_UNITS, polish
from partitioning.planners.evenkeel.problem import (
    NOWHERE,
    WHOLE,
    Flags,
    Floats,
    Integers,
    Pairs,
    Problem,
    pose,
)
from partitioning.planners.evenkeel.solving import solve
from partitioning.standing_still import clean_table

PROVEN = 1 + 1e-9  # a migration this close to its bound is the least


def descend(candidates: Candidates, *, leaving: Flags, barred: Pairs, options: EvenkeelOptions) -> None:
    """
    Offers placements to the candidates: at the goal if it is within reach, else at the lowest level that is.

    Keys may leave their slots as far as the table has room for their routes; if the goal is not reached, as far as it
    would have if it were empty. Where items are few enough to be decided one by one, all of this is tried, and with every key
    on its own, though the goal be reached: it may be for less. Else, if the best candidate is at the goal, nothing is offered.
    """
    is_coarse = candidates.request.n_items <= options.n_coarse
    for max_routes in _tables(candidates):
        sizes = {0}  # of problems seen; one more or less apart that changes nothing is the same problem
        for n_apart in _numbers_apart(candidates, max_routes, is_coarse=is_coarse):
            if candidates.is_at_goal and (len(sizes) == 1 or not is_coarse):
                return
            problem = pose(candidates.request, leaving=leaving, barred=barred, n_apart=n_apart)
            if problem.n_items not in sizes:
                descent = _Descent.of(candidates, problem, max_routes=max_routes, options=options)
                descent.run()
                descent.polish()
                descent.fill()
            sizes.add(problem.n_items)


def _tables(candidates: Candidates) -> Iterator[float]:
    """The most routes to plan for: the limit, and what there are now if that is more and cannot be mended."""
    limits = candidates.limits
    yield limits.routes
    if candidates.figures.routes > limits.routes:
        yield max(limits.routes, candidates.figures.routes)


def _numbers_apart(candidates: Candidates, max_routes: float, *, is_coarse: bool) -> list[float]:
    """How many keys may leave their slots, to be tried one after the other."""
    if not candidates.request.has_slots or max_routes >= candidates.request.n_items:
        return [np.inf]
    room = max(0.0, max_routes - candidates.figures.routes)
    if is_coarse:
        return [room, max_routes, np.inf]
    return [room] if room >= max_routes / 2 else [room, max_routes]


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
        cls, candidates: Candidates, problem: Problem, *, max_routes: float, options: EvenkeelOptions
    ) -> "_Descent":
        request, limits = candidates.request, candidates.limits
        at_rest = np.where(request.owner < request.n_buckets, request.owner, request.start)
        has_route = at_rest != home_after(request, at_rest)
        has_route[problem.unit != NOWHERE] = False
        must_leave = problem.origin == NOWHERE
        allowed = limits.migration * (WHOLE / request.total_state if request.total_state else 1.0)
        return cls(
            candidates=candidates,
            problem=problem,
            at_rest=at_rest,
            max_routes=max_routes - float(np.count_nonzero(has_route)),
            max_moved=max(0.0, allowed - float(problem.state[must_leave].sum())),
            options=options,
        )

    def run(self) -> None:
        candidates, problem = self.candidates, self.problem
        goal = max(candidates.limits.imbalance, bound_imbalance_of(candidates.request))
        still = candidates.figures.imbalance
        low = lowest_level(problem, max_moved=self.max_moved, low=goal, high=max(goal, still))
        if low <= goal:
            reached = self.try_level(goal, is_goal=True)
            if reached is not None and reached <= goal + TOLERANCE:
                return
        high = candidates.figures.imbalance
        levels = LevelSearch(low=low, high=high, n_tries=self.options.n_levels)
        for level in levels:
            levels.tell(level, self.try_level(level, is_goal=False))
        if levels.high < still:
            self.try_level(candidates.figures.imbalance, is_goal=True)  # as even for less

    def polish(self) -> None:
        """Polishes the best candidate as it is in this problem's units; not while anything is left in a bucket that goes."""
        if self.problem.n_items > MAX_UNITS or not self.problem.share.any():
            return
        placed = self.problem.gather(self.candidates.owner)
        if (placed == NOWHERE).any():
            return
        goal = max(self.candidates.limits.imbalance, bound_imbalance_of(self.candidates.request))
        polished = polish(
            self.problem,
            placed,
            goal=goal,
            max_moved=self.max_moved,
            max_routes=self.max_routes,
        )
        self._offer(polished, _Tried(dropped=np.inf))

    def fill(self) -> None:
        """After a growth below an oversized item: the same levels for the rest, which shares the other buckets."""
        candidates = self.candidates
        limit = limits_of_rest(candidates, self.problem)
        if limit is None:
            return
        goal, price = candidates.limits.imbalance, least_price(self.problem)
        if candidates.figures.rest > goal:
            self._try(limit(goal), QUICK[0], price)
        levels = LevelSearch(low=goal, high=candidates.figures.rest, n_tries=self.options.n_levels)
        for level in levels:
            self._try(limit(level), QUICK[0], price)
            levels.tell(level, candidates.figures.rest)

    def try_level(self, level: float, *, is_goal: bool) -> float | None:
        """The lowest imbalance of what was found inside the budgets; None if nothing was."""
        if self._is_spent:
            return None
        is_coarse = self.problem.n_items <= self.options.n_coarse
        if is_goal and is_coarse:
            return self._climb(level)
        relaxed = self._price(level)
        reached: list[float] = []
        for rung in FINE if is_goal else QUICK:
            tried = self._try(
                self.problem.limit(level), rung, price_of(rung, relaxed=relaxed, problem=self.problem)
            )
            reached += tried.imbalances
            is_table_kept = tried.n_routes <= self.candidates.limits.routes
            is_all_seen = is_coarse and np.isinf(tried.dropped)
            if is_table_kept or is_all_seen or tried.least_moved(level) < np.inf:
                break
        return min(reached, default=None)

    @property
    def _is_spent(self) -> bool:
        return self.candidates.n_tries >= self.options.max_tries

    def _price(self, level: float) -> float:
        relaxed = relaxed_price(self.problem, level=level, max_routes=self.max_routes)
        return max(relaxed, least_price(self.problem))

    def _climb(self, level: float) -> float | None:
        """The same where every item is coarse: until the least migration is proven, or the ladder ends."""
        has_table = bool(np.isfinite(self.max_routes))
        relaxed = self._price(level)
        reached: list[float] = []
        least = np.inf
        for rung in THOROUGH[: self.options.n_rungs]:
            if rung.price > 1 and not has_table:
                continue
            price = price_of(rung, relaxed=relaxed, problem=self.problem)
            tried = self._try(self.problem.limit(level), rung, price)
            reached += tried.imbalances
            least = min(least, tried.least_moved(level))
            not_below = tried.dropped - price * self.max_routes if price else tried.dropped
            if least <= not_below * PROVEN + 1 or np.isinf(tried.dropped):
                break
        return min(reached, default=None)

    def _try(self, limit: Floats, rung: Rung, price: float) -> "_Tried":
        if self._is_spent:
            return _Tried(dropped=np.inf)
        self.candidates.n_tries += 1
        aim = Aim(limit=limit, route_price=price, max_routes=self.max_routes)
        width = int(rung.width * self.options.width(self.problem.n_buckets))
        solved = solve(self.problem, aim, n_coarse=self.options.n_coarse, width=width)
        tried = _Tried(dropped=solved.dropped)
        for placed in solved.owners:
            self._offer(placed, tried)
        return tried

    def _offer(self, placed: Integers, tried: "_Tried") -> None:
        """Offers a placement to the candidates, and it with its table cleaned; notes those inside the budgets."""
        request, limits = self.candidates.request, self.candidates.limits
        owner = self.problem.spread(placed, self.at_rest)
        figures = self.candidates.offer(owner)
        tried.n_routes = min(tried.n_routes, figures.routes)
        offered = [figures, *(self.candidates.offer(way) for way in clean_table(request, owner, limits))]
        for way in offered:
            if limits.admit(way):
                tried.imbalances.append(way.imbalance)
                tried.moved.append(self.problem.migration(placed))


@dataclass(kw_only=True)
class _Tried:
    """What came of one try: the placements inside the budgets, and the fewest routes of any."""

    dropped: float
    n_routes: float = np.inf
    imbalances: list[float] = field(default_factory=list)
    moved: list[float] = field(default_factory=list)

    def least_moved(self, level: float) -> float:
        """The least that was moved to be as even as asked; infinite if nothing was."""
        even = [
            moved
            for moved, imbalance in zip(self.moved, self.imbalances, strict=True)
            if imbalance <= level + TOLERANCE
        ]
        return min(even, default=np.inf)
