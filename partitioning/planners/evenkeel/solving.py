"""One level, one price of a route: search the coarse items, settle the rest."""

from dataclasses import dataclass

import numpy as np

from partitioning.planners.evenkeel.beam import Aim, search
from partitioning.planners.evenkeel.problem import Integers, Problem
from partitioning.planners.evenkeel.settling import settle

AMONG_SAND = 0.75  # of the coarse items: where there is sand to even things out, fewer decide
N_COMPLETED = 2  # of the search's answers: the best of them need not be the best once the rest is settled


@dataclass(frozen=True, kw_only=True, eq=False)
class Solved:
    """Placements for one level, best first as far as the search could tell."""

    owners: tuple[Integers, ...]
    dropped: float  # no placement that was not looked into moves less, routes at their price included


def solve(problem: Problem, aim: Aim, *, n_coarse: int, width: int) -> Solved:
    """
    Placements that aim below the limits; they may miss them, and routes are only as few as their price makes them.

    If all items are coarse, every placement keeps the limits and ``max_routes``; there may be none.
    """
    coarse = coarse_items(problem, n_coarse)
    found = search(problem, aim, coarse=coarse, width=width, n_best=N_COMPLETED)
    owners = []
    for decided in found.owner:
        owner = problem.origin.copy()
        owner[coarse] = decided
        owners.append(owner if coarse.size == problem.n_items else _settled(problem, aim, owner, coarse))
    return Solved(owners=tuple(owners), dropped=found.dropped)


def coarse_items(problem: Problem, n_coarse: int) -> Integers:
    """The heaviest items, heaviest first, ties by position. All of them if they are few enough, else fewer."""
    heaviest = np.argsort(-problem.cost, kind="stable")
    if problem.n_items <= n_coarse:
        return heaviest
    heaviest = heaviest[: int(AMONG_SAND * n_coarse)]
    return heaviest[problem.cost[heaviest] > 0]


def _settled(problem: Problem, aim: Aim, owner: Integers, coarse: Integers) -> Integers:
    is_settled = np.zeros(problem.n_items, dtype=np.bool_)
    is_settled[coarse] = True
    return settle(problem, owner, limit=aim.limit, route_price=aim.route_price, is_settled=is_settled)
