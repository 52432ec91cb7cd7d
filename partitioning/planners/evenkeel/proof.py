"""
Proofs by search: that no placement inside the budgets is more even, or that none as even moves less.

The beam's value of a node is never above what any completion of it costs. So if every node that was dropped for want of
width is worth more than what is to be beaten, nothing that was not looked into can beat it.
"""

import numpy as np

from partitioning.plan import Plan
from partitioning.planners.evenkeel.beam import Aim
from partitioning.planners.evenkeel.ladder import relaxed_price
from partitioning.planners.evenkeel.problem import NO_PAIRS, NOWHERE, WHOLE, Problem, pose
from partitioning.planners.evenkeel.solving import Solved, solve
from partitioning.ranking import Limits

WIDTH = 2_000
A_LITTLE = 1e-6  # an imbalance lower by this is a lower one


def is_least_migration(plan: Plan) -> bool:
    """Whether no placement as even as this one, with a table no longer than allowed, moves less. Keys only."""
    problem = _problem(plan)
    level = max(plan.request.budgets.target, plan.imbalance)
    solved, route_cost = _search(plan, problem, level)
    moved = plan.migration * _parts(plan) - _forced(problem)
    slack = float(problem.n_items)  # every amount was rounded to a whole part
    found = min((problem.migration(owner) for owner in solved.owners), default=np.inf)
    return moved <= min(found, solved.dropped - route_cost) + slack


def is_most_even(plan: Plan) -> bool:
    """Whether no placement that keeps the limits as well as this one is more even. Keys only."""
    problem = _problem(plan)
    solved, route_cost = _search(plan, problem, plan.imbalance - A_LITTLE)
    limits = Limits.of_request(plan.request)
    room = max(limits.migration, plan.migration) * _parts(plan) - _forced(problem) + problem.n_items
    found = min((problem.migration(owner) for owner in solved.owners), default=np.inf)
    return min(found, solved.dropped - route_cost) > room or bool(np.isinf(min(found, solved.dropped)))


def _problem(plan: Plan) -> Problem:
    """Everything that may move, ways back included: a proof must not rest on the rule against them."""
    request = plan.request
    leaving = np.isin(request.owner, request.drained) & (plan.owner != request.owner)
    return pose(request, leaving=leaving, barred=NO_PAIRS, n_apart=np.inf)


def _search(plan: Plan, problem: Problem, level: float) -> tuple[Solved, float]:
    """The search at this level with all items coarse, and what routes add to the values at most."""
    limits = Limits.of_request(plan.request)
    max_routes = max(limits.routes, plan.n_routes)
    price = relaxed_price(problem, level=level, max_routes=max_routes)
    aim = Aim(limit=problem.limit(level), route_price=price, max_routes=max_routes, grain=1.0)
    solved = solve(problem, aim, n_coarse=max(1, problem.n_items), width=WIDTH)
    return solved, price * max_routes if price else 0.0


def _parts(plan: Plan) -> float:
    return WHOLE / plan.request.total_state if plan.request.total_state else 1.0


def _forced(problem: Problem) -> float:
    return float(problem.state[problem.origin == NOWHERE].sum())
