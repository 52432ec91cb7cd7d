"""
Where one plan cannot move enough to reach the goal: a part of the way that reaches it, not the lowest θ at any price.

Plans that each do the most for θ at once may fill the table, or move what must move on: the way gets longer than it need be, and in
the end items go there and back. So the search is asked without a limit on migration where the way ends, and this plan makes the
best of that way's moves that ``max_migration`` allows. The next plan finds the rest of the way, or a shorter one.

A plan on course is taken if θ is as good as with the best plan (``SMALL_LAG``), or if the best plan makes the way longer, or
makes it end higher up, and the plan on course is not far behind (``MAX_LAG``).

Worked: 14 routes and 40 of state a plan; the goal takes 101 of state and 7 routes, so three plans. The best first plan and the best
second one end at θ 0.150 with a full table, and from there two more plans, with items that go back, are needed. On course
the same two plans end at 0.161 with 10 routes, and the third is at the goal.
"""

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from partitioning.measures import TOLERANCE
from partitioning.planners.evenkeel.candidates import Candidates
from partitioning.planners.evenkeel.problem import Integers, Pairs
from partitioning.ranking import Limits, is_better
from partitioning.request import PlanRequest

SMALL_LAG = 0.01  # of θ: a plan on course may be this much behind, whatever the way
MAX_LAG = 0.5  # of what the best plan lowers θ by: so much if that plan is a detour

Search = Callable[[PlanRequest, Limits, Pairs], Candidates]


def stay_on_course(best: Candidates, barred: Pairs, search: Search) -> Candidates:
    """The best plan, or one that makes a part of the moves of the way to the goal; both keep the limits."""
    request, limits = best.request, best.limits
    if not 0 < limits.migration < np.inf or best.is_at_goal or request.drained.size:
        return best
    unlimited = replace(limits, migration=math.inf)
    way = search(request, unlimited, barred)
    if way.figures.imbalance >= best.figures.imbalance:
        return best
    on_course = search(*_narrowed(request, limits, way.owner, barred))
    lag = on_course.figures.imbalance - best.figures.imbalance
    gain = limits.still.imbalance - best.figures.imbalance
    if lag > max(SMALL_LAG, MAX_LAG * gain) or not is_better(on_course.figures, limits.still, limits):
        return best
    if lag > SMALL_LAG and _is_no_detour(search(*_onward(best, unlimited, barred)), way, limits):
        return best
    return on_course


def _narrowed(
    request: PlanRequest, limits: Limits, end: Integers, barred: Pairs
) -> tuple[PlanRequest, Limits, Pairs]:
    """What may move is what moves on the way to ``end``, and it may only go there."""
    moved = np.flatnonzero(end != request.owner)
    items, buckets = np.repeat(moved, request.n_buckets), np.tile(np.arange(request.n_buckets), moved.size)
    elsewhere = (buckets != request.owner[items]) & (buckets != end[items])
    pairs = np.append(barred[0], items[elsewhere]), np.append(barred[1], buckets[elsewhere])
    return replace(request, is_pinned=request.is_pinned | (end == request.owner)), limits, pairs


def _onward(best: Candidates, limits: Limits, barred: Pairs) -> tuple[PlanRequest, Limits, Pairs]:
    """The request after the best plan: its moves are made, and may not be undone."""
    request, owner = best.request, best.owner
    moved = np.flatnonzero((owner != request.owner) & (request.owner < request.n_buckets))
    after = replace(request, owner=owner, n_buckets_before=request.n_buckets, home_before=request.home)
    pairs = np.append(barred[0], moved), np.append(barred[1], request.owner[moved])
    return after, replace(limits, still=replace(best.figures, migration=0.0)), pairs


def _is_no_detour(rest: Candidates, way: Candidates, limits: Limits) -> bool:
    """Whether the way after the best plan ends as low as the whole way does, in no more plans, the best one counted."""
    end = max(way.figures.imbalance, limits.imbalance) + TOLERANCE
    n_plans = math.ceil(way.figures.migration / limits.migration)
    return rest.figures.imbalance <= end and 1 + rest.figures.migration / limits.migration <= n_plans
