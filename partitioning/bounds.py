"""
What no plan can beat: lower bounds on imbalance, migration and routes.

Each bound looks at one necessity and ignores all others, so it holds for every plan, from any planner, with slots
or without. How close they come:

- imbalance: exact if the heaviest item outweighs what the others need, and for items of equal cost.
- migration: exact if the other buckets have room for what the hot ones shed, nothing else moves, the table does not
  bind, and costs are whole numbers (``bounds_whole`` says how large): the cheapest whole items that cover each overload.
  With many items, or broken costs, it falls short by less than one item a hot bucket. A table that binds is priced
  (``bounds_table``): exact if a cheapest cover at that price just fills the table.
- routes: exact for keys whose owner is their home if the largest of each hot home fit elsewhere.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from partitioning.bounds_cover import Shedding, cover
from partitioning.bounds_crowding import ROUNDING, bound_imbalance, bound_imbalance_of
from partitioning.bounds_table import route_prices
from partitioning.groups import sum_before_in_group
from partitioning.measures import TOLERANCE, load_per_bucket, mean_load
from partitioning.request import NO_SLOT, PlanRequest

__all__ = ["Bounds", "bound_imbalance", "bound_imbalance_of", "bound_migration", "bound_plan", "bound_routes"]


@dataclass(frozen=True, kw_only=True)
class Bounds:
    """Lower bounds, in the units of the plan's own figures."""

    imbalance: float  # no placement of these items has a lower θ
    migration: float  # state that every plan as even as asked must move
    routes: int  # explicit routes that every plan as even as asked must have


def bound_plan(
    request: PlanRequest, *, reached: float = 0.0, n_routes: int = 0, n_undrained: int = 0
) -> Bounds:
    """
    Bounds for a plan that ended at imbalance ``reached`` with ``n_routes`` and ``n_undrained`` items to drain.

    Migration and routes are bounded at the level max(θ_max, the bound on θ, ``reached``), with max(A_max, ``n_routes``)
    routes: no plan that is as even as this one, with a table no longer, moves less, and none that reaches the goal (or
    what is possible of it) does either. A plan that falls short of the goal is so never compared with work it did
    not do.
    """
    imbalance = bound_imbalance_of(request, n_undrained=n_undrained)
    level = max(request.budgets.max_imbalance, imbalance, reached)
    return Bounds(
        imbalance=imbalance,
        migration=bound_migration(request, imbalance=level, n_routes=n_routes, n_undrained=n_undrained),
        routes=bound_routes(request, imbalance=level),
    )


def bound_migration(
    request: PlanRequest, *, imbalance: float, n_routes: float = 0, n_undrained: int = 0
) -> float:
    """
    The least state a plan with θ ≤ ``imbalance`` and at most max(A_max, ``n_routes``) routes moves.

    A bucket that is going away loses everything it holds, a drained one all but its pinned and ``n_undrained`` others.
    Any other must shed what it holds above the level; at best it does so in the items that are cheapest to move
    (``bounds_cover``), with a price on routes where A_max binds. If not even fractions of items can keep the table, the
    bound is that without it.
    """
    forced = _forced_migration(request, n_undrained)
    routes = _routes_added_by_leaving(request)
    n_too_many = float(np.count_nonzero(routes < 0)) - max(request.budgets.route_limit(), n_routes)
    shedding = _shedding(request, routes, limit=_load_limit(request, imbalance))
    return max(
        forced + _priced_cover(shedding, route_price, n_too_many)
        for route_price in route_prices(shedding, n_too_many=n_too_many)
    ) * (1 - ROUNDING)


def bound_routes(request: PlanRequest, *, imbalance: float) -> int:
    """
    The fewest routes of a plan with θ ≤ ``imbalance``.

    Keys without a route sit at home, so each home must send away what its own keys exceed the level by: at best the
    fewest, its largest. A key whose slot is an item has no fixed home, and counts for nothing here.
    """
    fixed = np.flatnonzero(~request.is_slot & (request.slot == NO_SLOT))
    home, cost = request.home[fixed], request.cost[fixed]
    excess = _excess_per_bucket(home, cost, _load_limit(request, imbalance))
    hot = excess[home] > 0
    home, cost = home[hot], cost[hot]
    order = np.lexsort((-cost, home))
    home, cost = home[order], cost[order]
    return int(np.count_nonzero(sum_before_in_group(home, cost) < excess[home]))


def _load_limit(request: PlanRequest, imbalance: float) -> NDArray[np.float64]:
    """The most cost each bucket may hold; the tolerance that lets a plan count as within θ is granted here too."""
    limit = (1.0 + imbalance + TOLERANCE) * mean_load(request) * request.capacity
    return np.where(request.is_live, limit, np.inf)  # a drained bucket counts for no imbalance


def _excess_per_bucket(
    bucket: NDArray[np.int64], cost: NDArray[np.float64], limit: NDArray[np.float64]
) -> NDArray[np.float64]:
    return np.maximum(load_per_bucket(cost, bucket, limit.size) - limit, 0.0)


def _forced_migration(request: PlanRequest, n_undrained: int) -> float:
    """The state of items that have no bucket to stay in, but for the ``n_undrained`` largest to drain."""
    gone = request.owner >= request.n_buckets
    forced = float(request.state[gone].sum())
    if request.drained.size == 0:
        return forced
    to_drain = np.isin(request.owner, request.drained) & ~request.is_pinned
    ascending = np.sort(request.state[to_drain])
    return forced + float(ascending[: max(0, ascending.size - n_undrained)].sum())


def _routes_added_by_leaving(request: PlanRequest) -> NDArray[np.float64]:
    """+1 for a key at its fixed home, -1 for one that is routed away from it, 0 where the home may move along."""
    fixed = ~request.is_slot & (request.slot == NO_SLOT) & (request.owner < request.n_buckets)
    return np.where(fixed, np.where(request.owner == request.home, 1.0, -1.0), 0.0)


def _priced_cover(shedding: Shedding, route_price: float, n_too_many: float) -> float:
    if not route_price:
        return cover(shedding, shedding.state)  # R - A may be infinite
    price = shedding.price(route_price)
    rounding = ROUNDING * route_price * (abs(n_too_many) + shedding.cost.size)  # large terms that cancel
    return route_price * n_too_many + cover(shedding, price) - rounding


def _shedding(request: PlanRequest, routes: NDArray[np.float64], *, limit: NDArray[np.float64]) -> Shedding:
    """The items whose leaving may matter: all of overloaded buckets, and the routed ones of others."""
    n_gone = max(0, request.n_buckets_before - request.n_buckets)
    limit = np.concatenate(
        [limit, np.full(n_gone, np.inf)]
    )  # a bucket that goes away is paid in full already
    excess = _excess_per_bucket(request.owner, request.cost, limit)
    concerned = np.flatnonzero(((excess[request.owner] > 0) | (routes < 0)) & ~request.is_pinned)
    return Shedding(
        bucket=request.owner[concerned],
        cost=request.cost[concerned],
        state=request.state[concerned],
        routes=routes[concerned],
        excess=excess,
    )
