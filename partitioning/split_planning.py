"""
Planning with keys that may be split: which keys to cut, into how many parts, and when to join them again.

The least number of parts is tried first, one more as long as the target is missed; what a cut is worth is told on the scale of θ
(``split_plan``). Where even parts do not fit, uneven ones that fill the room between everything else are tried (``split_placing``). Nothing
is cut while θ is within its limit.

A key that got cooler keeps its parts until fewer would do even if it had ``1 / COOL`` times its cost: so a key that swings around a level
is not cut and joined in turn. Then it gets fewer by a plan that pays. One that need not be split at all any more is joined also where that
does not pay in a few windows, once it has rested: its results are merged, by every job that reads it, in all windows to come. A join
never costs evenness, and moves no more than ``max_migration`` allows: if need be some of the rows in each window.
"""

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import islice

import numpy as np

from partitioning import measures
from partitioning.parting import Cut, PartedRequest
from partitioning.plan import Plan
from partitioning.reasons import give_reasons
from partitioning.request import PlanRequest
from partitioning.split_placing import drained, filled, packed
from partitioning.split_plan import SplitPlan
from partitioning.splits import N_GRAINS, Parts, even_weights, held_by

COOL = 0.8  # below this share of what the parts were made for, they are too many
MAX_MORE = 8  # how many parts beyond the least are tried
MAX_IN_VAIN = 2  # of them in a row, if they make nothing more even
MAX_PIECES = 64  # of a key, where the budget lets only small ones move
MAX_STEPS = 8  # how often half as much of a join is tried

Ask = Callable[[PlanRequest], Plan]


def plan_with_splits(
    whole: PlanRequest,
    today: Mapping[int, Parts],
    ask: Ask,
    *,
    may_split: bool,
    resting: Collection[int] = (),
) -> SplitPlan:
    """
    The best plan that ``ask`` makes of some ways to cut the request's keys.

    ``today`` holds the parts of the keys that are split, by position. Without ``may_split`` no key is cut, and those that are split are
    joined, as far as ``max_migration`` lets that happen. ``resting`` keys, cut lately, are joined only by a plan that pays. Ties go to what
    was tried first; standing still is.
    """
    tried: list[SplitPlan] = []
    for cut in _cuts(whole, today, tried, may_split=may_split):
        parted = PartedRequest(whole=whole, today=today, cut=cut)
        if parted.is_affordable:
            made = SplitPlan(parted=parted, plan=ask(parted.request))
            tried += [made] if not tried or _is_admitted(made) else []
    best = min(tried, key=lambda one: one.rank)
    if may_split and not tried[0].stands_still:
        best = min([best, *_fillings(best)], key=lambda one: one.rank)
    if not may_split:
        loose = [item for item in today if not whole.is_pinned[item]]
        return _with_joins(tried, best, loose, ask, at_any_theta=True)
    overdue = [item for item in _cold(whole, today) if item not in resting]
    return _with_joins(tried, best, overdue, ask, at_any_theta=False)


# Joining


def _cold(whole: PlanRequest, today: Mapping[int, Parts]) -> list[int]:
    """The split keys that one bucket can hold again, with room to spare."""
    fewer = {item: _fewer(whole, parts, item, may_split=True) for item, parts in today.items()}
    return [item for item, weights in fewer.items() if weights == (N_GRAINS,)]


def _with_joins(
    tried: list[SplitPlan], best: SplitPlan, overdue: list[int], ask: Ask, *, at_any_theta: bool
) -> SplitPlan:
    """The plan that joins most of these keys' rows, if that makes θ no worse where it matters; ``best`` if there is none."""
    limit = math.inf if at_any_theta else max(best.plan.imbalance, best.parted.whole.budgets.max_imbalance)

    def n_astray(one: SplitPlan) -> int:
        return sum(_n_astray(one, item) for item in overdue)

    def joins(plans: Iterable[SplitPlan]) -> Iterator[SplitPlan]:
        return (
            one
            for one in plans
            if measures.is_within(one.plan.imbalance, limit) and n_astray(one) < n_astray(best)
        )

    found = [*joins(tried)]
    if n_astray(best) and not any(n_astray(one) == 0 for one in found):
        start = _at_rest(tried[0]) if at_any_theta else best
        found += [*islice(joins(_step_by_step(start, overdue, ask)), 1)]
    return min([best, *found], key=lambda one: (n_astray(one), *one.rank))


def _n_astray(one: SplitPlan, item: int) -> int:
    """Grains of a key outside the bucket that holds most of it."""
    return N_GRAINS - max(held_by(one.parts[item]).values())


def _at_rest(one: SplitPlan) -> SplitPlan:
    """Everything where it is, so that all of ``max_migration`` is left."""
    return replace(one, plan=replace(one.plan, owner=one.plan.request.start))


def _step_by_step(best: SplitPlan, overdue: list[int], ask: Ask) -> Iterator[SplitPlan]:
    """``best`` with these keys joined as far as ``max_migration`` goes, then half as far, and so on; the rest of it makes room for them."""
    whole = best.parted.whole
    limit = whole.budgets.migration_limit(whole.total_state)
    left = min(max(0.0, limit - best.migration), whole.total_state)
    for step in range(MAX_STEPS):
        one = _drained(best, overdue, left / 2**step)
        for made in (one, _relieved(one, limit - one.migration, ask)):
            if _keeps_migration(made) and _is_admitted(made):
                yield made


def _drained(one: SplitPlan, overdue: list[int], left: float) -> SplitPlan:
    """So much state of these keys, one after the other, brought to the bucket that holds most of each."""
    for item in overdue:
        grain = float(one.parted.whole.state[item]) / N_GRAINS
        n_grains = min(_n_astray(one, item), int(left / grain) if grain > 0 else N_GRAINS)
        left -= grain * n_grains
        one = drained(one, item, n_grains)
    return one


def _relieved(one: SplitPlan, left: float, ask: Ask) -> SplitPlan:
    """The plan with everything but parts of keys evened out anew, where moving so much more state allows it."""
    request = one.plan.request
    is_part = np.isin(one.parted.origin, one.parted.concerned)
    share = min(1.0, max(0.0, left) / request.total_state) if request.total_state > 0 else 0.0
    there = replace(
        request,
        owner=one.plan.owner,
        home_before=request.home,
        n_buckets_before=request.n_buckets,
        is_pinned=request.is_pinned | is_part,
        budgets=replace(request.budgets, max_migration=None if math.isinf(left) else share),
    )
    plan = Plan(request=request, owner=ask(there).owner, planner=one.plan.planner)
    return replace(one, plan=replace(plan, reasons=give_reasons(plan, plan.given_up)))


def _keeps_migration(one: SplitPlan) -> bool:
    """Whether a plan that no planner made moves no more than may move."""
    return one.migration <= one.parted.whole.budgets.migration_limit(one.parted.whole.total_state)


def _is_admitted(one: SplitPlan) -> bool:
    """
    Whether the hard limits are kept, or broken no further than standing still does: with keys cut as they are today.

    A planner that is given a new cut takes all its parts in one bucket for standing still. Where that is not the key's home each of them is
    a route, and a plan with as many looks no worse to it than what there is.
    """
    whole, today = one.parted.whole, one.parted.as_today
    still, budgets = today.request.start, whole.budgets
    most_routes = max(budgets.route_limit(), today.n_routes(still))
    most_state = max(budgets.migration_limit(whole.total_state), today.migration(still))
    return one.parted.n_routes(one.plan.owner) <= most_routes and one.migration <= most_state


# Cutting


def _fillings(best: SplitPlan) -> list[SplitPlan]:
    """Uneven parts of the heaviest keys, where even ones miss the target or are more than the least there can be."""
    whole, level = best.parted.whole, _level(whole=best.parted.whole)
    keys = np.flatnonzero(~whole.is_slot & ~whole.is_pinned & (whole.cost > 0))
    heaviest = keys[np.argsort(-whole.cost[keys], kind="stable")][: whole.n_buckets].tolist()
    n_least = sum(_n_needed(float(whole.cost[item]), level) - 1 for item in heaviest)
    is_new = not best.parted.today
    if not heaviest or level <= 0 or (best.is_even and not (is_new and best.n_partials > n_least)):
        return []
    heaviest = sorted({*heaviest, *(item for item in best.parted.today if item in keys)})
    load = (1.0 + whole.budgets.target) * measures.mean_load(whole)
    starts = (best, *(packed(best, heaviest, load, has_keys_first=first) for first in (False, True)))
    found = (filled(start, heaviest, load) for start in starts if start is not None)
    return [one for one in found if one is not None and _keeps_migration(one) and _is_admitted(one)]


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
        if len(weights := _fewer(whole, today[item], item, may_split=may_split) or kept) > 1
    }
    if base != keep:
        yield base
        base = base if len(tried) > 1 else keep
    heavy = _heavy(whole, today, base, level)
    if not may_split or level <= 0 or not heavy or tried[0].stands_still:
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


def _fewer(whole: PlanRequest, parts: Parts, item: int, *, may_split: bool) -> tuple[int, ...] | None:
    """The weights that a split key is to have instead; None if it keeps its own."""
    if whole.is_pinned[item]:
        return None
    return _cooled(whole, parts, item, _level(whole)) if may_split else (N_GRAINS,)


def _cooled(whole: PlanRequest, parts: Parts, item: int, level: float) -> tuple[int, ...] | None:
    """Fewer and even weights for a split key that has become too light for so many buckets; None if it has not."""
    cost = float(whole.cost[item])
    n_buckets = len({part.bucket for part in parts})
    if n_buckets == 1 or cost >= COOL * (n_buckets - 1) * level > 0:
        return None
    return tuple(even_weights(_n_needed(cost / COOL, level) if level > 0 else 1))


def _heavy(whole: PlanRequest, today: Mapping[int, Parts], base: Cut, level: float) -> list[int]:
    """Keys of which one bucket holds more than the level, ascending: whole ones, and those whose parts are not apart yet."""
    limit = level * (1 + measures.TOLERANCE)
    found = np.flatnonzero((whole.cost > limit) & ~whole.is_slot & ~whole.is_pinned).tolist()
    return [item for item in found if float(whole.cost[item]) * _largest_share(today, base, item) > limit]


def _largest_share(today: Mapping[int, Parts], base: Cut, item: int) -> float:
    """The share of the key's rows that one bucket holds, or one part of a new cut."""
    if item not in base:
        return 1.0
    parts = today[item]
    if base[item] != tuple(part.weight for part in parts):
        return max(base[item]) / N_GRAINS
    return max(held_by(parts).values()) / N_GRAINS


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
