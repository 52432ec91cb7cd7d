"""
What the planners of Fang et al. share: the load limit, the selection orders, Phase I and Phase II (Sec. III).

All of them answer in three phases. Phase I (cleaning) sends some routed keys home, Phase II (preparing) takes keys
off overloaded buckets, Phase III (assigning, ``llfd.py``) gives every key that was taken off a bucket again.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from partitioning.errors import PlanRequestError
from partitioning.measures import home_after
from partitioning.request import PlanRequest

UNPLACED = -1  # bucket of a key that waits in the candidate set C

# Sums of floats depend on their order and on the unit of cost. Loads this close (as a share of the limit) count as
# equal, so neither may flip a decision.
LOAD_SLACK = 1e-12

# Amounts are ranked in grains of this fraction of their limit, for the same reason. A power of two: a decimal fraction
# can put loads of round numbers exactly between two ranks, where the last bit decides.
GRAIN = 2.0**-34

# The logarithm of gamma is compared to this many decimals, for the same reason: gammas that differ by less than
# 1e-10 of themselves tie.
GAMMA_DECIMALS = 10

# ψ of the paper: the priority of the items at these positions; the largest is taken first, ties by position.
Selection = Callable[[NDArray[np.int64]], NDArray[np.float64]]


@dataclass(frozen=True, kw_only=True, eq=False)
class Board:
    """What stays fixed while the phases work on one request: costs, homes, and the load a bucket may carry."""

    cost: NDArray[np.float64]
    home: NDArray[np.int64]  # the bucket of each item without a route, as of ``PlanRequest.start``
    n_buckets: int
    limit: float  # Lmax = (1 + θ_max)·mean, with the slack

    @classmethod
    def of(cls, request: PlanRequest) -> "Board":
        l_max = (1.0 + request.budgets.max_imbalance) * float(request.cost.sum()) / request.n_buckets
        return cls(
            cost=request.cost,
            home=home_after(request, request.start),
            n_buckets=request.n_buckets,
            limit=l_max * (1.0 + LOAD_SLACK),
        )


def grain_of(limit: float) -> float:
    """The unit in which amounts around this limit are compared; never 0, however small the limit."""
    return max(GRAIN * limit, math.ulp(0.0))


def highest_cost_first(cost: NDArray[np.float64]) -> Selection:
    """ψ of MinTable (Alg. 2, line 2)."""
    return lambda items: cost[items]


def largest_gamma_first(cost: NDArray[np.float64], state: NDArray[np.float64], *, beta: float) -> Selection:
    """
    ψ of MinMig and Mixed (Alg. 3 and 4, line 2): gamma = c^β / S, as its logarithm, which cannot overflow.

    An item without state moves for nothing: its priority is infinite. Items without cost must not be asked for.
    """

    def log_gamma(items: NDArray[np.int64]) -> NDArray[np.float64]:
        with np.errstate(divide="ignore"):  # log 0 = -inf is what makes S = 0 infinitely urgent
            gamma = beta * np.log(cost[items]) - np.log(state[items])
        return np.round(gamma, GAMMA_DECIMALS)

    return log_gamma


def check_beta(field: str, beta: float) -> None:
    """Refuse a weight of cost against state that is no number, or that would prefer small costs."""
    is_number = isinstance(beta, int | float) and not isinstance(beta, bool)
    if not is_number or not math.isfinite(beta) or beta < 0:
        raise PlanRequestError(
            f"{field} must be a finite number, 0 or more. Got {beta!r}. Give 1.5, the paper's value, or 1 to weigh"
            " cost and state alike."
        )


def send_home(
    owner: NDArray[np.int64], home: NDArray[np.int64], routed: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Phase I: the same placement with the routes of these items removed. Virtual: nothing has moved yet."""
    cleaned = owner.copy()
    cleaned[routed] = home[routed]
    return cleaned


def take_off_overloaded(
    board: Board, owner: NDArray[np.int64], load: NDArray[np.float64], psi: Selection
) -> NDArray[np.int64]:
    """
    Phase II: the candidate set C, ascending positions.

    From every bucket above the limit, the shortest ψ-prefix of its items that brings it to the limit. Items without
    cost are never taken: they cannot help.
    """
    overloaded = np.flatnonzero(load > board.limit)
    taken = [
        shortest_prefix(
            items_with_cost(board.cost, owner, int(bucket)),
            board.cost,
            psi,
            excess=load[bucket] - board.limit,
        )
        for bucket in overloaded
    ]
    return np.sort(np.concatenate(taken)) if taken else np.empty(0, dtype=np.int64)


def items_with_cost(cost: NDArray[np.float64], owner: NDArray[np.int64], bucket: int) -> NDArray[np.int64]:
    """Positions of the items in this bucket that carry load, ascending."""
    items = np.flatnonzero(owner == bucket)
    return items[cost[items] > 0]


def shortest_prefix(
    items: NDArray[np.int64], cost: NDArray[np.float64], psi: Selection, *, excess: float
) -> NDArray[np.int64]:
    """
    The fewest items in ψ order whose costs sum to ``excess`` or more; all of them if even that is too little.

    Sorts only as many of the most urgent items as it needs: O(items), plus the sort of at most four times the
    prefix.
    """
    priority = psi(items)
    n_sorted = 256
    while True:
        urgent = _most_urgent(priority, n_sorted)
        order = items[urgent[np.argsort(-priority[urgent], kind="stable")]]
        covered = np.cumsum(cost[order])
        n_taken = int(np.searchsorted(covered, excess, side="left")) + 1
        if n_taken <= order.size or order.size == items.size:
            return order[:n_taken]
        n_sorted *= 4


def _most_urgent(priority: NDArray[np.float64], n_items: int) -> NDArray[np.int64]:
    """Positions of the ``n_items`` largest priorities and everything that ties with the last, ascending."""
    if n_items >= priority.size:
        return np.arange(priority.size)
    last = np.partition(priority, priority.size - n_items)[priority.size - n_items]
    return np.flatnonzero(priority >= last)
