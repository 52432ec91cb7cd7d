"""
Our own planner: prices for the many, a search for the heavy few, both budgets at once.

Objective, in this order. Of all placements that keep ``max_routes`` and ``max_migration``,

    minimise   items left in drained buckets
    then       max(θ, target)                       θ = max over buckets in use of load / mean - 1
    then       migration = Σ state of items that change bucket
    then       routes

Worked: keys of cost 6, 4, 3, 3 and state 6, 4, 3, 1, all in bucket 0 of two; target 0.08. The mean is 8 and a bucket may hold
8.64, but whole keys only make 9 + 7, 10 + 6 and worse: θ ≥ 9/8 - 1 = 0.125. Loads 9 and 7 come from moving 6 + 3 (state 7 or 9)
or 4 + 3 (state 7 or 5). The plan moves the 4 and the second 3.

The phases, one file each:

1. ``draining``: which items leave drained buckets now.
2. ``problem``: what may move, in whole numbers. What is pinned is load that cannot.
3. ``levels``: the goal first; if that is out of reach, the lowest level the budgets allow.
4. ``ladder``: for one level, prices on a route from what the LP relaxation says upwards, until the table fits.
5. ``beam``: for one level and price, the heaviest items one by one, valued by ``covers`` of all the rest.
6. ``settling``: all other items: shed the cheapest (``shedding``), place, chain, give back.
7. ``polishing``: single moves and exchanges (``evening``), then returns for something cheaper (``returning``).
8. ``candidates``: what was found is measured on the request itself; the best wins, standing still included.
9. ``course``: if the goal is more than one plan away, this plan is a part of the way there.
"""

import math

from partitioning.permission import is_worth_going_back
from partitioning.plan import Plan
from partitioning.planners.evenkeel.candidates import Candidates
from partitioning.planners.evenkeel.course import stay_on_course
from partitioning.planners.evenkeel.descent import descend
from partitioning.planners.evenkeel.draining import ways_to_drain
from partitioning.planners.evenkeel.options import DEFAULTS, EvenkeelOptions
from partitioning.planners.evenkeel.problem import NO_PAIRS, Integers, Pairs
from partitioning.ranking import Limits
from partitioning.request import PlanRequest
from partitioning.standing_still import stand_still

__all__ = ["EvenkeelOptions", "plan_evenkeel"]


def plan_evenkeel(request: PlanRequest, options: EvenkeelOptions = DEFAULTS) -> Plan:
    """
    The best placement found inside both budgets; standing still if nothing is better.

    Swaps and chains are part of the search. An item heavier than its fair share ends with a bucket to itself, where that
    is cheapest. Items go back to a bucket they left lately only if that gains enough (``History``). The same request
    gives the same plan in any unit of cost and state; ties go to the lower position and the lower bucket. The work is
    bounded by steps: at most a few hundred thousand nodes, and a few passes over the items for each level tried.
    """
    limits = Limits.of_request(request)
    steady = _best_of(request, limits, options, barred=request.ways_back)
    if request.ways_back[0].size == 0 or steady.is_at_goal or math.isinf(request.history.min_gain):
        return Plan(request=request, owner=steady.owner, planner="evenkeel")
    free = _best_of(request, limits, options, barred=NO_PAIRS)
    goes_back = is_worth_going_back(request, limits, steady=steady.owner, free=free.owner)
    return Plan(request=request, owner=(free if goes_back else steady).owner, planner="evenkeel")


def _best_of(request: PlanRequest, limits: Limits, options: EvenkeelOptions, *, barred: Pairs) -> Candidates:
    def search(request: PlanRequest, limits: Limits, barred: Pairs) -> Candidates:
        return _search(request, limits, options, barred)

    best = search(request, limits, barred)
    return stay_on_course(best, barred, search) if options.n_ahead else best


def _search(request: PlanRequest, limits: Limits, options: EvenkeelOptions, barred: Pairs) -> Candidates:
    still: Integers = stand_still(request, limits)[0]
    candidates = Candidates(request, limits, still)
    for leaving in ways_to_drain(request, limits):
        descend(candidates, leaving=leaving, barred=barred, options=options)
        if candidates.figures.undrained == 0:
            break
    return candidates
