"""
For one level: prices on a route, and how wide to search, from cheap tries to dear ones.

The LP relaxation says which price makes the table just fit (``bounds_table``). Whole items may need a higher one, so the price
is raised while routes are too many. For the goal, where all items are coarse, the search also widens, until what was found is
proven best or the ladder ends.
"""

from dataclasses import dataclass

import numpy as np

from partitioning.bounds_cover import Shedding
from partitioning.bounds_table import route_prices
from partitioning.planners.evenkeel.problem import NOWHERE, WHOLE, Problem

# Where the relaxation sees no need for a price, tries beyond the first start from this share of a mean item's state.
FIRST_PRICE = 0.1

# Of all state. Worked: at 1 in 10,000 a table shorter by ten routes is worth moving 0.1 % of the state more.
ROUTE_WORTH = 1e-4


@dataclass(frozen=True, kw_only=True)
class Rung:
    """One try: the price as a multiple of the relaxation's, the width as a multiple of the usual."""

    price: float
    width: float


QUICK = (Rung(price=1, width=0.5), Rung(price=4, width=0.5), Rung(price=16, width=0.5))
FINE = (Rung(price=1, width=1), Rung(price=4, width=1), Rung(price=16, width=1))
THOROUGH = (
    Rung(price=1, width=1),
    Rung(price=3, width=1),
    Rung(price=10, width=1),
    Rung(price=1, width=4),
    Rung(price=3, width=4),
    Rung(price=30, width=4),
    Rung(price=300, width=8),
)


def least_price(problem: Problem) -> float:
    """What a route is worth where nothing else prices it: with slots there are ways around one, without hardly any."""
    return ROUTE_WORTH * WHOLE if problem.is_slot.any() else 0.0


def relaxed_price(problem: Problem, *, level: float, max_routes: float) -> float:
    """λ of the LP relaxation at this level: 0 if the table does not bind there."""
    if np.isinf(max_routes):
        return 0.0
    stays = np.flatnonzero(problem.origin != NOWHERE)
    shedding = Shedding(
        bucket=problem.origin[stays],
        cost=problem.cost[stays],
        state=problem.state[stays],
        routes=problem.routes_added[stays],
        excess=np.maximum(problem.load(problem.origin) - problem.limit(level), 0.0),
    )
    n_routes = np.count_nonzero(
        (problem.origin != problem.home) & ~problem.is_slot & (problem.origin != NOWHERE)
    )
    return route_prices(shedding, n_too_many=float(n_routes) - max_routes)[-1]


def price_of(rung: Rung, *, relaxed: float, problem: Problem) -> float:
    """The price of a route on this rung."""
    if relaxed > 0:
        return rung.price * relaxed
    return FIRST_PRICE * max(0.0, rung.price - 1) * float(problem.state.mean())
