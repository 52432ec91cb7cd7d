"""Why items move: because N changed, for balance, or to clean the route table."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from partitioning import measures
from partitioning.request import PlanRequest


@dataclass(frozen=True, kw_only=True, eq=False)
class Churn:
    """
    The moves of one placement by cause. Every moved item has exactly one cause; positions ascend.

    ``change_of_n``: the new number of buckets moves it before any balancing, whatever became of it afterwards.
    ``cleaning``: it had a route and went home, so the table shrinks. ``balance``: every other move.
    """

    request: PlanRequest
    change_of_n: NDArray[np.int64]
    balance: NDArray[np.int64]
    cleaning: NDArray[np.int64]

    def state(self, cause: str) -> float:
        """Migration by one cause: the name of a field. The three add up to the plan's migration."""
        positions: NDArray[np.int64] = getattr(self, cause)
        return float(self.request.state[positions].sum())


def churn_by_cause(request: PlanRequest, owner: NDArray[np.int64]) -> Churn:
    """Splits the moves from ``request.owner`` to ``owner`` by cause."""
    moved = owner != request.owner
    by_change_of_n = moved & (request.start != request.owner)
    had_route = request.start != measures.home_after(request, request.start)
    goes_home = owner == measures.home_after(request, owner)
    cleaned = moved & ~by_change_of_n & had_route & goes_home
    return Churn(
        request=request,
        change_of_n=np.flatnonzero(by_change_of_n),
        balance=np.flatnonzero(moved & ~by_change_of_n & ~cleaned),
        cleaning=np.flatnonzero(cleaned),
    )
