"""
The request as this planner sees it: what may move, where it may go, and what it costs, in whole numbers.

Cost and state are counted in parts of 2^44 of their totals. Sums of whole numbers are exact in any order, so neither
the unit a request is given in nor the order of its items decides anything.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from partitioning.measures import TOLERANCE, home_after, load_per_bucket
from partitioning.request import PlanRequest

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Flags = NDArray[np.bool_]
Pairs = tuple[Integers, Integers]  # items, and a bucket for each

WHOLE = 2.0**44
NOWHERE = -1
NO_PAIRS: Pairs = (np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64))


@dataclass(frozen=True, kw_only=True, eq=False)
class Problem:
    """
    Items that may move, and the buckets in use, both numbered anew from 0.

    An item that must leave (its bucket goes away, or is being drained) has its origin NOWHERE. A key without a bucket in
    which it needs no route has its home NOWHERE.
    """

    item: Integers  # position of each item in the request
    bucket: Integers  # number of each bucket in the request
    cost: Floats
    state: Floats
    origin: Integers  # bucket it stays in for nothing
    home: Integers  # bucket in which it needs no route
    is_slot: Flags  # never needs a route
    share: Floats  # fair load of each bucket: its part of all cost by capacity
    fixed: Floats  # load of each bucket that cannot move
    barred: Pairs  # (item, bucket) pairs that are out of the question

    @property
    def n_items(self) -> int:
        return self.item.size

    @property
    def n_buckets(self) -> int:
        return self.bucket.size

    def limit(self, level: float) -> Floats:
        """The most each bucket may hold at imbalance ``level``, what cannot move aside."""
        return np.asarray(np.floor((1.0 + level + TOLERANCE / 2) * self.share) - self.fixed)

    def load(self, owner: Integers) -> Floats:
        """Load per bucket of the items that have one, what cannot move aside."""
        placed = owner != NOWHERE
        return load_per_bucket(self.cost[placed], owner[placed], self.n_buckets)

    def imbalance(self, owner: Integers) -> float:
        """θ of a placement."""
        if not self.share.any():
            return 0.0
        return max(0.0, float(((self.load(owner) + self.fixed) / self.share).max()) - 1.0)

    def migration(self, owner: Integers) -> float:
        """What changes bucket, in parts of all state; items that must leave are not counted."""
        return float(self.state[(owner != self.origin) & (self.origin != NOWHERE)].sum())

    @cached_property
    def is_barred(self) -> Flags | None:
        """One row an item, one column a bucket; None if everything is allowed."""
        if self.barred[0].size == 0:
            return None
        table = np.zeros((self.n_items, self.n_buckets), dtype=np.bool_)
        table[self.barred] = True
        return table

    @cached_property
    def routes_added(self) -> Floats:
        """What leaving adds to the table at best: +1 from home, -1 from elsewhere if there is a home to go to."""
        at_home = self.home == self.origin
        has_home = self.home != NOWHERE
        added = np.where(has_home, np.where(at_home, 1.0, -1.0), 0.0)
        return np.where(self.is_slot | (self.origin == NOWHERE), 0.0, added)


def whole_parts(amount: Floats) -> Floats:
    """Amounts in parts of 2^44 of their total."""
    total = float(amount.sum())
    return np.rint(amount * (WHOLE / total)) if total > 0 else np.zeros_like(amount)


def pose(request: PlanRequest, *, leaving: Flags, barred: Pairs) -> Problem:
    """
    The problem of a request, once it is decided which items of drained buckets leave now.

    What is pinned, or stays in a drained bucket, is load that cannot move; so is an item with every other bucket barred.
    ``barred`` names (position, bucket) pairs of the request; what must leave is barred from nothing.
    """
    must_leave = leaving | (request.owner >= request.n_buckets)
    barred = tuple(part[~must_leave[barred[0]]] for part in barred)  # type: ignore[assignment]
    number = _numbers(request)
    is_fixed = request.is_pinned | (~must_leave & (number[request.owner] == NOWHERE))
    is_fixed |= np.bincount(barred[0], minlength=request.n_items) >= request.is_live.sum() - 1 + (
        must_leave * request.n_buckets
    )
    item, fixed = np.flatnonzero(~is_fixed), np.flatnonzero(is_fixed)
    cost = whole_parts(request.cost)
    in_use = np.flatnonzero(request.is_live)
    at_rest = np.where(request.owner < request.n_buckets, request.owner, request.start)
    home = np.where(request.is_slot, NOWHERE, number[home_after(request, request.start)])
    return Problem(
        item=item,
        bucket=in_use,
        cost=cost[item],
        state=whole_parts(request.state)[item],
        origin=np.where(must_leave, NOWHERE, number[request.owner])[item],
        home=home[item],
        is_slot=request.is_slot[item],
        share=_shares(request)[in_use],
        fixed=load_per_bucket(cost[fixed], at_rest[fixed], request.n_buckets)[in_use],
        barred=_renumbered(barred, item=item, number=number, n_items=request.n_items),
    )


def _numbers(request: PlanRequest) -> Integers:
    """The problem's number of each bucket of the request, NOWHERE for those not in use."""
    number = np.full(max(request.n_buckets, request.n_buckets_before), NOWHERE)
    number[np.flatnonzero(request.is_live)] = np.arange(int(request.is_live.sum()))
    return number


def _shares(request: PlanRequest) -> Floats:
    capacity = np.where(request.is_live, request.capacity, 0.0)
    total = WHOLE if request.cost.any() else 0.0
    return np.asarray(total * capacity / float(capacity.sum()))


def _renumbered(pairs: Pairs, *, item: Integers, number: Integers, n_items: int) -> Pairs:
    place = np.full(n_items, NOWHERE)
    place[item] = np.arange(item.size)
    items, buckets = place[pairs[0]], number[pairs[1]]
    matters = (items != NOWHERE) & (buckets != NOWHERE)
    return items[matters], buckets[matters]
