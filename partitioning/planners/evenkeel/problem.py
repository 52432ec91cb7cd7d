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
from partitioning.request import NO_SLOT, PlanRequest

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
    Units that may move, and the buckets in use, both numbered anew from 0.

    A unit is one item, or a slot with keys that go wherever it goes. One that must leave (its bucket goes away, or is being drained) has its origin NOWHERE. A key without a bucket in
    which it needs no route has its home NOWHERE.
    """

    unit: Integers  # of each item of the request; NOWHERE if it does not move
    bucket: Integers  # number of each bucket in the request
    cost: Floats
    state: Floats
    origin: Integers  # bucket it stays in for nothing
    home: Integers  # bucket in which it needs no route
    is_slot: Flags  # never needs a route itself
    left_behind: Floats  # keys of a slot that need a route if it leaves without them
    share: Floats  # fair load of each bucket: its part of all cost by capacity
    fixed: Floats  # load of each bucket that cannot move
    barred: Pairs  # (item, bucket) pairs that are out of the question

    @property
    def n_items(self) -> int:
        return self.cost.size

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
        added = np.where(self.is_slot, self.left_behind, added)
        return np.where(self.origin == NOWHERE, 0.0, added)

    def gather(self, owner: Integers) -> Integers:
        """The bucket of each unit in a placement of the request's items, that of its first item; NOWHERE if that is not in use."""
        moves = np.flatnonzero(self.unit != NOWHERE)
        _, first = np.unique(self.unit[moves], return_index=True)
        wanted = owner[moves[first]]
        place = np.minimum(np.searchsorted(self.bucket, wanted), self.n_buckets - 1)
        return np.where(self.bucket[place] == wanted, place, NOWHERE)

    def spread(self, placed: Integers, at_rest: Integers) -> Integers:
        """The placement of the request's items; ``at_rest`` is where those are that do not move."""
        moves = self.unit != NOWHERE
        owner = at_rest.copy()
        owner[moves] = self.bucket[placed[self.unit[moves]]]
        return owner


def whole_parts(amount: Floats) -> Floats:
    """Amounts in parts of 2^44 of their total."""
    total = float(amount.sum())
    return np.rint(amount * (WHOLE / total)) if total > 0 else np.zeros_like(amount)


def pose(request: PlanRequest, *, leaving: Flags, barred: Pairs, n_apart: float) -> Problem:
    """
    The problem of a request, once it is decided which items of drained buckets leave now.

    What is pinned, or stays in a drained bucket, is load that cannot move; so is an item with every other bucket barred.
    ``barred`` names (position, bucket) pairs of the request; what must leave is barred from nothing. Of the keys that
    sit in a slot that is an item, the ``n_apart`` heaviest may leave it; the others go where it goes.
    """
    must_leave = leaving | (request.owner >= request.n_buckets)
    barred = _of_those_that_may_stay(barred, must_leave)
    number = _numbers(request)
    is_fixed = request.is_pinned | (~must_leave & (number[request.owner] == NOWHERE))
    is_fixed |= _has_nowhere_to_go(request, barred)
    leader = _leaders(request, is_fixed | np.isin(np.arange(request.n_items), barred[0]), n_apart)
    first, unit = np.unique(np.where(is_fixed, NOWHERE, leader), return_inverse=True)
    unit -= int(is_fixed.any())  # NOWHERE is the first of the unique, if any is
    first = first[first != NOWHERE]
    return _problem(request, first, unit, must_leave, barred)


def _problem(
    request: PlanRequest, first: Integers, unit: Integers, must_leave: Flags, barred: Pairs
) -> Problem:
    """The problem of these units: the first item of each, and the unit of each item."""
    number = _numbers(request)
    moves, fixed = np.flatnonzero(unit != NOWHERE), np.flatnonzero(unit == NOWHERE)
    cost, state = whole_parts(request.cost), whole_parts(request.state)
    in_use = np.flatnonzero(request.is_live)
    at_rest = np.where(request.owner < request.n_buckets, request.owner, request.start)
    home = np.where(request.is_slot, NOWHERE, number[home_after(request, request.start)])
    return Problem(
        unit=unit,
        bucket=in_use,
        cost=load_per_bucket(cost[moves], unit[moves], first.size),
        state=load_per_bucket(state[moves], unit[moves], first.size),
        origin=np.where(must_leave, NOWHERE, number[request.owner])[first],
        home=home[first],
        is_slot=request.is_slot[first],
        left_behind=_left_behind(request, unit)[first],
        share=_shares(request)[in_use],
        fixed=load_per_bucket(cost[fixed], at_rest[fixed], request.n_buckets)[in_use],
        barred=_renumbered(barred, unit=unit, number=number),
    )


def _leaders(request: PlanRequest, is_alone: Flags, n_apart: float) -> Integers:
    """Each item itself, or the slot that it goes with: all but the heaviest keys that sit in their slots."""
    leader = np.arange(request.n_items)
    keys = np.flatnonzero(request.slot != NO_SLOT)
    slots = request.slot[keys]
    keys = keys[(request.owner[keys] == request.owner[slots]) & ~is_alone[keys] & ~is_alone[slots]]
    if keys.size > n_apart:
        together = keys[np.argsort(-request.cost[keys], kind="stable")][int(n_apart) :]
        leader[together] = request.slot[together]
    return leader


def _left_behind(request: PlanRequest, unit: Integers) -> Floats:
    """For each slot the keys that sit in it and do not go with it."""
    keys = np.flatnonzero(request.slot != NO_SLOT)
    slots = request.slot[keys]
    apart = (request.owner[keys] == request.owner[slots]) & (unit[keys] != unit[slots])
    return np.bincount(slots[apart], minlength=request.n_items).astype(np.float64)


def _of_those_that_may_stay(pairs: Pairs, must_leave: Flags) -> Pairs:
    stays = ~must_leave[pairs[0]]
    return pairs[0][stays], pairs[1][stays]


def _has_nowhere_to_go(request: PlanRequest, barred: Pairs) -> Flags:
    """Whether every bucket in use but its own is barred."""
    items, buckets = barred
    in_use = request.is_live[buckets] & (buckets != request.owner[items])
    pairs = np.unique(items[in_use] * request.n_buckets + buckets[in_use])
    n_open = request.is_live.sum() - request.is_live[np.minimum(request.owner, request.n_buckets - 1)]
    n_barred = np.bincount(pairs // request.n_buckets, minlength=request.n_items)
    return np.asarray((n_barred > 0) & (n_barred >= n_open))


def _numbers(request: PlanRequest) -> Integers:
    """The problem's number of each bucket of the request, NOWHERE for those not in use."""
    number = np.full(max(request.n_buckets, request.n_buckets_before), NOWHERE)
    number[np.flatnonzero(request.is_live)] = np.arange(int(request.is_live.sum()))
    return number


def _shares(request: PlanRequest) -> Floats:
    capacity = np.where(request.is_live, request.capacity, 0.0)
    total = WHOLE if request.cost.any() else 0.0
    return np.asarray(total * capacity / float(capacity.sum()))


def _renumbered(pairs: Pairs, *, unit: Integers, number: Integers) -> Pairs:
    units, buckets = unit[pairs[0]], number[pairs[1]]
    matters = (units != NOWHERE) & (buckets != NOWHERE)
    return units[matters], buckets[matters]
