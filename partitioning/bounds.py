"""
What no plan can beat: lower bounds on imbalance, migration and routes.

Each bound looks at one necessity and ignores all others, so it holds for every plan, from any planner, with slots
or without. How close they come:

- imbalance: exact if the heaviest item outweighs what the others need, and for items of equal cost.
- migration: exact if each hot bucket can shed exactly its overload in whole items of its best state-to-cost ratio,
  and the other buckets have room for them (e.g. one hot bucket of equal items, overloaded by a whole number of them).
- routes: exact for keys whose owner is their home if the largest of each hot home fit elsewhere.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from partitioning.groups import sum_before_in_group
from partitioning.measures import TOLERANCE, load_per_bucket
from partitioning.request import NO_SLOT, PlanRequest

# Two sums of the same million floats in another order differ by less than this, as a fraction of them.
ROUNDING = 1e-12


@dataclass(frozen=True, kw_only=True)
class Bounds:
    """Lower bounds, in the units of the plan's own figures."""

    imbalance: float  # no placement of these items has a lower θ
    migration: float  # state that every plan as even as asked must move
    routes: int  # explicit routes that every plan as even as asked must have


def bound_plan(request: PlanRequest, *, reached: float = 0.0) -> Bounds:
    """
    Bounds for a plan that ended at imbalance ``reached``.

    Migration and routes are bounded at the level max(θ_max, the bound on θ, ``reached``): no plan that is as even as
    this one moves less, and none that reaches the goal (or what is possible of it) does either. A plan that falls
    short of the goal is so never compared with work it did not do.
    """
    imbalance = bound_imbalance(request.cost, request.n_buckets)
    level = max(request.budgets.max_imbalance, imbalance, reached)
    return Bounds(
        imbalance=imbalance,
        migration=bound_migration(request, imbalance=level),
        routes=bound_routes(request, imbalance=level),
    )


def bound_imbalance(cost: NDArray[np.float64], n_buckets: int) -> float:
    """
    The least θ any placement of these costs can have.

    Pigeonhole: of the qN + 1 largest items some bucket holds q + 1, at best the q + 1 smallest of them. q = 0 is the
    heaviest item alone. Worked: costs 3, 3, 2 in two buckets: q = 1 puts 3 + 2 = 5 somewhere, the mean is 4, θ ≥ 0.25.
    """
    mean = float(cost.sum()) / n_buckets
    if mean <= 0:
        return 0.0
    running = np.concatenate(([0.0], np.cumsum(-np.sort(-cost))))
    q = np.arange((cost.size - 1) // n_buckets + 1)
    crowded = running[q * n_buckets + 1] - running[q * (n_buckets - 1)]
    return max(0.0, (float(crowded.max()) - ROUNDING * float(running[-1])) / mean - 1.0)


def bound_migration(request: PlanRequest, *, imbalance: float) -> float:
    """
    The least state a plan with θ ≤ ``imbalance`` moves.

    A bucket that is going away loses everything it holds. Any other must shed what it holds above the level; at best
    it does so in items of the least state per cost, the last of them in part (a fractional cover).
    """
    gone = request.owner >= request.n_buckets
    forced = float(request.state[gone].sum())
    cover = _fractional_cover(request, limit=_load_limit(request, imbalance))
    return (forced + cover) * (1 - ROUNDING)


def bound_routes(request: PlanRequest, *, imbalance: float) -> int:
    """
    The fewest routes of a plan with θ ≤ ``imbalance``.

    Keys without a route sit at home, so each home must send away what its own keys exceed the level by: at best the
    fewest, its largest. A key whose slot is an item has no fixed home, and counts for nothing here.
    """
    fixed = np.flatnonzero(~request.is_slot & (request.slot == NO_SLOT))
    home, cost = request.home[fixed], request.cost[fixed]
    excess = _excess_per_bucket(home, cost, request.n_buckets, limit=_load_limit(request, imbalance))
    hot = excess[home] > 0
    home, cost = home[hot], cost[hot]
    order = np.lexsort((-cost, home))
    home, cost = home[order], cost[order]
    return int(np.count_nonzero(sum_before_in_group(home, cost) < excess[home]))


def _load_limit(request: PlanRequest, imbalance: float) -> float:
    """The most a bucket may hold; the tolerance that lets a plan count as within θ is granted here too."""
    return (1.0 + imbalance + TOLERANCE) * float(request.cost.sum()) / request.n_buckets


def _excess_per_bucket(
    bucket: NDArray[np.int64], cost: NDArray[np.float64], n_buckets: int, *, limit: float
) -> NDArray[np.float64]:
    return np.maximum(load_per_bucket(cost, bucket, n_buckets) - limit, 0.0)


def _fractional_cover(request: PlanRequest, *, limit: float) -> float:
    n_buckets = max(request.n_buckets, request.n_buckets_before)
    excess = _excess_per_bucket(request.owner, request.cost, n_buckets, limit=limit)
    excess[request.n_buckets :] = 0.0  # a bucket that goes away is paid in full already
    sheds = np.flatnonzero((excess[request.owner] > 0) & (request.cost > 0))
    owner, cost, state = request.owner[sheds], request.cost[sheds], request.state[sheds]
    with np.errstate(over="ignore"):  # next to no cost: infinitely dear, and sorted last
        order = np.lexsort((state / cost, owner))
    owner, cost, state = owner[order], cost[order], state[order]
    still_needed = excess[owner] - sum_before_in_group(owner, cost)
    return float((np.clip(still_needed, 0.0, cost) / cost * state).sum())
