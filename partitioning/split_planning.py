"""
Planning with keys that may be split: which keys to cut, into how many parts, and when to join them again.

What a cut is worth is told on one scale, that of θ. All buckets wait for the hottest, for θ mean loads; then the partial results of
split keys are merged, one more for each further bucket of a key, each taken to cost as much as one unit of cost (one row):

    θ' = θ + g          g = partial results beyond one a key · PARTIAL_COST / mean load

Worked: 8 buckets have a mean load of 1,000 rows and a key of 4,800. In 5 parts of 960 it adds 4 partial results, g = 0.004, where
whole it makes θ = 3.8. With a mean load of 10 rows the same cut would add 0.4.

The least number of parts is tried first, one more as long as the target is missed. A key that got cooler keeps its parts until fewer
would do even if it had ``1 / COOL`` times its cost: so a key that swings around a level is not cut and joined in turn.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from partitioning import measures
from partitioning.parting import Cut, PartedRequest, n_partials
from partitioning.payback import Payback
from partitioning.plan import Plan
from partitioning.request import PlanRequest
from partitioning.splits import N_GRAINS, Parts, even_weights

PARTIAL_COST = 1.0  # of merging one partial result, in the unit of cost
COOL = 0.8  # below this share of what the parts were made for, they are too many
MAX_MORE = 8  # how many parts beyond the least are tried
MAX_IN_VAIN = 2  # of them in a row, if they make nothing more even
MAX_PIECES = 64  # of a key, where the budget lets only small ones move

Ask = Callable[[PlanRequest], Plan]


@dataclass(frozen=True, kw_only=True, eq=False)
class SplitPlan:
    """A plan whose items may be parts of keys, and what splitting costs."""

    parted: PartedRequest
    plan: Plan

    @cached_property
    def parts(self) -> dict[int, Parts]:
        """Of each key that is split before or afterwards, by its position in the whole request."""
        return self.parted.parts_after(self.plan.owner)

    @property
    def n_partials_before(self) -> int:
        return n_partials(self.parted.today)

    @property
    def n_partials(self) -> int:
        """Partial results to merge in a window beyond one a key."""
        return n_partials(self.parts)

    def merge_cost(self, n_partials: int) -> float:
        """What merging so many partial results costs, in the unit of θ: the g above."""
        mean = measures.mean_load(self.parted.whole)
        return n_partials * PARTIAL_COST / mean if mean > 0 else 0.0

    @cached_property
    def migration(self) -> float:
        return self.parted.migration(self.plan.owner)

    @cached_property
    def payback(self) -> Payback:
        """As ``payback.weigh``, with θ' in the place of θ."""
        whole, request = self.parted.whole, self.parted.request
        total = float(whole.cost.sum())
        before = measures.imbalance(request, request.start) + self.merge_cost(self.n_partials_before)
        after = self.plan.imbalance + self.merge_cost(self.n_partials)
        price = whole.payback.price
        if price is None:
            price = total / whole.total_state if whole.total_state > 0 else 0.0
        n_windows = whole.payback.n_windows
        return Payback(
            saved=n_windows * (before - after) * total, spent=self.migration * price, n_windows=n_windows
        )

    @property
    def is_even(self) -> bool:
        return measures.is_within(self.plan.imbalance, self.parted.whole.budgets.target)

    @property
    def rank(self) -> tuple[bool, float, int]:
        """Lower is better: what pays first, then θ' where all θ within the target count the same, then fewer parts."""
        theta = max(self.plan.imbalance, self.parted.whole.budgets.target)
        score = round(theta + self.merge_cost(self.n_partials), 12)
        return not self.payback.is_worth_it, score, self.parted.origin.size


def plan_with_splits(
    whole: PlanRequest, today: Mapping[int, Parts], ask: Ask, *, may_split: bool
) -> SplitPlan:
    """
    The best plan that ``ask`` makes of some ways to cut the request's keys.

    ``today`` holds the parts of the keys that are split, by position. Without ``may_split`` no key is cut, and those that are split are
    joined, as far as ``max_migration`` lets that happen. Ties go to what was tried first; standing still is.
    """
    tried: list[SplitPlan] = []
    for cut in _cuts(whole, today, tried, may_split=may_split):
        parted = PartedRequest(whole=whole, today=today, cut=cut)
        if parted.is_affordable:
            tried.append(SplitPlan(parted=parted, plan=ask(parted.request)))
    if not may_split and today and len(tried) > 1:
        return tried[1]
    return min(tried, key=lambda one: one.rank)


def _cuts(
    whole: PlanRequest, today: Mapping[int, Parts], tried: list[SplitPlan], *, may_split: bool
) -> Iterator[Cut]:
    """
    The cuts to try, in order; ``tried`` says what came of those so far.

    As things are; cooled keys in fewer parts; heavy keys in the least number of parts, then in more; heavy keys that were split already
    cut evenly anew.
    """
    keep = {item: tuple(part.weight for part in parts) for item, parts in today.items()}
    yield keep
    level = _level(whole)
    base = {
        item: weights
        for item, kept in keep.items()
        if len(weights := _cooled(whole, today, item, kept, level) if may_split else (N_GRAINS,)) > 1
    }
    if base != keep:
        yield base
        base = base if len(tried) > 1 else keep
    heavy = _heavy(whole, today, base, level)
    if not may_split or level <= 0 or not heavy:
        return
    counts = {
        item: [_n_pieces(whole, item, weight, level) for weight in base.get(item, (N_GRAINS,))]
        for item in heavy
    }
    yield from _more_and_more(base, counts, tried)
    if not tried[-1].is_even and any(item in base for item in heavy):
        even = {item: tuple(even_weights(_n_needed(float(whole.cost[item]), level))) for item in heavy}
        yield {**base, **even}


def _level(whole: PlanRequest) -> float:
    """The load that the target allows the widest bucket in use."""
    widest = float(whole.capacity[whole.is_live].max())
    return (1.0 + whole.budgets.target) * measures.mean_load(whole) * widest


def _n_needed(cost: float, level: float) -> int:
    """The fewest even parts of which none is above the level."""
    return min(max(1, math.ceil(cost / level - measures.TOLERANCE)), N_GRAINS)


def _cooled(
    whole: PlanRequest, today: Mapping[int, Parts], item: int, kept: tuple[int, ...], level: float
) -> tuple[int, ...]:
    """The weights of a split key: as they are, or fewer and even if the key has become too light for so many buckets."""
    cost = float(whole.cost[item])
    n_buckets = len({part.bucket for part in today[item]})
    if cost >= COOL * (n_buckets - 1) * level:
        return kept
    return tuple(even_weights(_n_needed(cost, level) if level > 0 else 1))


def _heavy(whole: PlanRequest, today: Mapping[int, Parts], base: Cut, level: float) -> list[int]:
    """Keys of which one bucket holds more than the level, ascending: whole ones, and those whose parts are not apart yet."""
    limit = level * (1 + measures.TOLERANCE)
    found = np.flatnonzero((whole.cost > limit) & ~whole.is_slot).tolist()
    return [item for item in found if float(whole.cost[item]) * _largest_share(today, base, item) > limit]


def _largest_share(today: Mapping[int, Parts], base: Cut, item: int) -> float:
    """The share of the key's rows that one bucket holds, or one part of a new cut."""
    if item not in base:
        return 1.0
    parts = today[item]
    if base[item] != tuple(part.weight for part in parts):
        return max(base[item]) / N_GRAINS
    held: Counter[int] = Counter()
    for bucket, weight in parts:
        held[bucket] += weight
    return max(held.values()) / N_GRAINS


def _n_pieces(whole: PlanRequest, item: int, weight: int, level: float) -> int:
    """
    Into how many pieces a part of this weight is cut at least: none above the level, and none of more state than may move.

    The latter is what a tight ``max_migration`` lets a heavy key do: leave piece by piece, some in each window.
    """
    cost, state = (weight / N_GRAINS * float(amount[item]) for amount in (whole.cost, whole.state))
    limit = whole.budgets.migration_limit(whole.total_state)
    for_budget = math.ceil(state / limit) if 0 < limit < state else 1
    return max(_n_needed(cost, level), min(for_budget, MAX_PIECES))


def _pieces(weights: tuple[int, ...], counts: list[int]) -> tuple[int, ...]:
    """Each weight cut into so many, as alike as whole numbers can be."""
    return tuple(
        weight // n + (piece < weight % n)
        for weight, n in zip(weights, counts, strict=True)
        for piece in range(min(n, weight))
    )


def _cut_into(base: Cut, counts: Mapping[int, list[int]]) -> Cut:
    cut = {item: _pieces(base.get(item, (N_GRAINS,)), n) for item, n in counts.items()}
    return {**base, **{item: weights for item, weights in cut.items() if len(weights) > 1}}


def _more_and_more(base: Cut, counts: Mapping[int, list[int]], tried: list[SplitPlan]) -> Iterator[Cut]:
    """The least number of pieces, then one more of the key that the hottest bucket has most of: until that reaches the target, or helps no more."""
    counts = {item: list(n) for item, n in counts.items()}
    least, n_in_vain = math.inf, 0
    for _ in range(1 + MAX_MORE):
        yield _cut_into(base, counts)
        theta = tried[-1].plan.imbalance
        n_in_vain = 0 if theta < least - measures.TOLERANCE else n_in_vain + 1
        least = min(least, theta)
        item = _in_hottest(tried[-1])
        if tried[-1].is_even or n_in_vain >= MAX_IN_VAIN or item not in counts:
            return
        weights = base.get(item, (N_GRAINS,))
        coarsest = max(range(len(weights)), key=lambda run: weights[run] / counts[item][run])
        counts[item][coarsest] += 1


def _in_hottest(one: SplitPlan) -> int | None:
    """The split key of which the hottest bucket holds the heaviest part, by its position in ``whole``; None if it holds none."""
    plan, parted = one.plan, one.parted
    load = np.where(plan.request.is_live, plan.load, -np.inf)
    inside = [
        position
        for item in parted.cut
        for position in parted.positions(item)
        if plan.owner[position] == load.argmax()
    ]
    heaviest = max(inside, key=lambda position: float(plan.request.cost[position]), default=None)
    return None if heaviest is None else int(parted.origin[heaviest])
