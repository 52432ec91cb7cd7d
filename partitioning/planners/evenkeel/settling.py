"""
Brings every bucket down to its limit with the items that the search left undecided: shed, place, give back.

Rounds of two steps: every bucket above its limit sheds the cheapest items that cover its excess; what was shed is placed
heaviest first, at home if there is room, else where there is most room. An item that fits nowhere goes where there is most
room all the same, and that bucket sheds something smaller in the next round: a chain. Afterwards, what fits where it came
from goes back there.
"""

import numpy as np

from partitioning.planners.evenkeel.problem import NOWHERE, Flags, Floats, Integers, Problem
from partitioning.planners.evenkeel.shedding import cheapest_cover

N_ROUNDS = 8


def settle(
    problem: Problem, owner: Integers, *, limit: Floats, route_price: float, is_settled: Flags
) -> Integers:
    """
    A placement with every bucket at its limit or below, as far as ``N_ROUNDS`` rounds go.

    ``owner`` may hold NOWHERE for items that have no bucket yet. Settled items are not shed.
    """
    placement = _Placement(problem, owner, limit)
    for _ in range(N_ROUNDS):
        shed = _shed(problem, placement, route_price, is_settled)
        if shed.size == 0:
            break
        placement.place(shed)
    placement.give_back(route_price)
    return placement.owner


def _shed(problem: Problem, placement: "_Placement", route_price: float, is_settled: Flags) -> Integers:
    """Items without a bucket, and what overloaded buckets give up; these leave their buckets here."""
    excess = placement.load - placement.limit
    waiting = np.flatnonzero(placement.owner == NOWHERE)
    hot = np.flatnonzero(excess > 0)
    if hot.size == 0:
        return waiting
    is_hot = np.zeros(problem.n_buckets, dtype=np.bool_)
    is_hot[hot] = True
    owner = placement.owner
    items = np.flatnonzero(is_hot[owner] & (owner != NOWHERE) & ~is_settled)
    items = items[np.argsort(owner[items], kind="stable")]
    ends = np.searchsorted(owner[items], np.append(hot, problem.n_buckets))
    price = _prices(problem, owner, items, route_price)
    taken = [
        items[begin + cheapest_cover(problem.cost[items[begin:end]], price[begin:end], excess=excess[bucket])]
        for bucket, begin, end in zip(hot.tolist(), ends[:-1].tolist(), ends[1:].tolist(), strict=True)
    ]
    shed = np.sort(np.concatenate(taken))
    placement.take_off(shed)
    return np.concatenate((waiting, shed))


def _prices(problem: Problem, owner: Integers, items: Integers, route_price: float) -> Floats:
    """What has moved already moves on for nothing; routes at their price; never below 0."""
    paid = owner[items] != problem.origin[items]
    price = np.where(paid, 0.0, problem.state[items] + route_price * problem.routes_added[items])
    return np.maximum(price, 0.0)


class _Placement:
    """Where items are, and what each bucket holds."""

    def __init__(self, problem: Problem, owner: Integers, limit: Floats) -> None:
        self._problem = problem
        self.owner = owner.copy()
        self.limit = limit
        self.load = problem.load(owner)

    def take_off(self, items: Integers) -> None:
        self.load -= np.bincount(
            self.owner[items], weights=self._problem.cost[items], minlength=self.load.size
        )
        self.owner[items] = NOWHERE

    def place(self, items: Integers) -> None:
        """Heaviest first, ties by position: home if it fits, else most room."""
        problem = self._problem
        order = items[np.argsort(-problem.cost[items], kind="stable")]
        room = self.limit - self.load
        cost, home = problem.cost[order].tolist(), problem.home[order].tolist()
        chosen = []
        for item, amount, at_home in zip(order.tolist(), cost, home, strict=True):
            bucket = at_home
            if at_home == NOWHERE or room[at_home] < amount or self._is_barred(item, at_home):
                bucket = self._roomiest(room, item)
            room[bucket] -= amount
            chosen.append(bucket)
        self.owner[order] = chosen
        self.load = self.limit - room

    def give_back(self, route_price: float) -> None:
        """What fits into the bucket it came from returns, most state first, ties by position; routes have their price."""
        problem = self._problem
        moved = np.flatnonzero((self.owner != problem.origin) & (problem.origin != NOWHERE))
        fits = problem.cost[moved] <= (self.limit - self.load)[problem.origin[moved]]
        went_home = (self.owner == problem.home)[moved]
        moved = moved[fits & (problem.state[moved] > route_price * went_home)]
        for item in moved[np.argsort(-problem.state[moved], kind="stable")].tolist():
            origin, cost = problem.origin[item], problem.cost[item]
            if self.load[origin] + cost <= self.limit[origin]:
                self.load[self.owner[item]] -= cost
                self.load[origin] += cost
                self.owner[item] = origin

    def _is_barred(self, item: int, bucket: int) -> bool:
        barred = self._problem.is_barred
        return barred is not None and bool(barred[item, bucket])

    def _roomiest(self, room: Floats, item: int) -> int:
        barred = self._problem.is_barred
        if barred is None or not barred[item].any():
            return int(room.argmax())
        return int(np.where(barred[item], -np.inf, room).argmax())
