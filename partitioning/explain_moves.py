"""For each move of a plan: why, what it relieves, and how even things would be without it."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from partitioning import measures
from partitioning.plan import Plan

N_HIGHEST = 3  # the hottest bucket aside from any two is among the three hottest


@dataclass(frozen=True, kw_only=True)
class MoveReason:
    """One item that changes bucket."""

    item: int
    source: int  # may be a bucket that goes away
    target: int
    cost: float
    state: float
    cause: str  # relief, room, drain, cleaning or change of N
    imbalance_without: float  # θ of the plan with this one move not made; as it is if the bucket is gone

    def __str__(self) -> str:
        return (
            f"item {self.item} moves from bucket {self.source} to {self.target}: {why(self.cause, self.source)};"
            f" without it the imbalance is {self.imbalance_without:.4g}"
        )


_WHY = {
    "relief": "bucket {source} was above the goal",
    "room": "bucket {source} makes room for what it receives",
    "drain": "bucket {source} is to be emptied",
    "cleaning": "it goes home and needs no route any more",
    "change of N": "the number of buckets changes",
    "split": "the key's rows are cut into other parts",
}


def why(cause: str, source: int) -> str:
    """A cause as a sentence about the bucket that the item leaves."""
    return _WHY[cause].format(source=source)


def explain_moves(plan: Plan) -> tuple[MoveReason, ...]:
    """One reason a move, the most missed first, ties by position."""
    request, moved = plan.request, plan.moved
    causes = _causes(plan)
    without = _imbalances_without(plan)
    order = np.argsort(-without, kind="stable")
    return tuple(
        MoveReason(
            item=int(moved[place]),
            source=int(request.owner[moved[place]]),
            target=int(plan.owner[moved[place]]),
            cost=float(request.cost[moved[place]]),
            state=float(request.state[moved[place]]),
            cause=causes[place],
            imbalance_without=float(without[place]),
        )
        for place in order.tolist()
    )


def _causes(plan: Plan) -> list[str]:
    request = plan.request
    limit = (1.0 + request.budgets.max_imbalance + measures.TOLERANCE) * measures.mean_load(request)
    was_hot = measures.loads(request, request.start) > limit
    cause = {int(item): "change of N" for item in plan.churn.change_of_n}
    cause |= {int(item): "cleaning" for item in plan.churn.cleaning}
    for item in plan.churn.balance.tolist():
        source = int(request.owner[item])
        cause[item] = "relief" if was_hot[source] else "room"
    for item in plan.moved[np.isin(request.owner[plan.moved], request.drained)].tolist():
        cause[item] = "drain"
    return [cause[item] for item in plan.moved.tolist()]


def _imbalances_without(plan: Plan) -> NDArray[np.float64]:
    """θ with each move not made. Only two loads differ, so the three hottest buckets tell the rest."""
    request, moved = plan.request, plan.moved
    mean = measures.mean_load(request)
    source, target = request.owner[moved], plan.owner[moved]
    stays = source < request.n_buckets
    if mean <= 0 or not stays.any():
        return np.full(moved.size, plan.imbalance)
    load = np.where(request.is_live, plan.load, -np.inf)
    source = np.where(stays, source, target)
    cost = np.where(stays, request.cost[moved], 0.0)
    highest = np.zeros(moved.size)
    hottest = np.argsort(-load, kind="stable")[:N_HIGHEST]
    for bucket in hottest.tolist():
        is_other = (source != bucket) & (target != bucket)
        highest = np.maximum(highest, np.where(is_other, load[bucket], 0.0))
    back = load[source] + cost / request.capacity[source]
    left = load[target] - np.where(source == target, 0.0, cost / request.capacity[target])
    highest = np.maximum(highest, np.maximum(back, left))
    return np.asarray(np.maximum(highest / mean - 1.0, 0.0))
