"""
LLFD, Least-Load Fit Decreasing: Phase III of every planner of Fang et al. (Sec. III-A, Alg. 1), and as a planner.

Candidates come by descending cost; each goes to the least loaded bucket that can take it. A bucket that would end
above Lmax may first push out smaller items (the exchange rule, ``Adjust``), which become candidates themselves.

Worked (Fig. 4 left, Lmax = 10): bucket 0 holds costs 7, 4, 5 and bucket 1 holds 2, 1, 1. Phase II takes the 7.
It goes to bucket 1 (4) and pushes out the 2, for 4 + 7 - 2 = 9. The 2 is refused by bucket 0 (9 + 2 > 10, nothing
smaller than 2 to push out), goes back to bucket 1 and pushes out a 1: 10. That 1 fits bucket 0: 10. Done at 10, 10.
"""

import heapq
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from partitioning.measures import load_per_bucket
from partitioning.plan import Plan
from partitioning.planners.fang_phases import (
    UNPLACED,
    Board,
    Selection,
    grain_of,
    highest_cost_first,
    items_with_cost,
    take_off_overloaded,
)
from partitioning.request import PlanRequest


def plan_llfd(request: PlanRequest) -> Plan:
    """
    LLFD on its own (Fig. 4 left): no cleaning, the costliest items of overloaded buckets first.

    Aims at θ_max alone: neither the routes nor the migration are limited. Buckets at or below the limit keep what
    they have unless an exchange needs it. Ties go to the lower position, and to the lower bucket.
    """
    owner = balance(Board.of(request), request.start, highest_cost_first(request.cost))
    return Plan(request=request, owner=owner, planner="llfd")


def balance(board: Board, owner: NDArray[np.int64], psi: Selection) -> NDArray[np.int64]:
    """Phases II and III from this placement. Returns a new one; the same items everywhere if none is overloaded."""
    placed = owner.copy()
    load = load_per_bucket(board.cost, placed, board.n_buckets)
    candidates = take_off_overloaded(board, placed, load, psi)
    if candidates.size:
        load -= load_per_bucket(board.cost[candidates], placed[candidates], board.n_buckets)
        placed[candidates] = UNPLACED
        assign(board, placed, load, psi, candidates=candidates)
    return placed


def assign(
    board: Board,
    owner: NDArray[np.int64],
    load: NDArray[np.float64],
    psi: Selection,
    *,
    candidates: NDArray[np.int64],
) -> None:
    """
    Phase III (Alg. 1): write a bucket into ``owner`` for every candidate; ``load`` is without them.

    A candidate that no bucket accepts goes to the least loaded one, which then exceeds the limit (the LPT rule that
    the proof of Theorem 1 needs). An item is popped at most once: what an exchange pushes out is strictly cheaper
    than what pushed it, so everything still to come is no costlier than anything placed.

    O(P log N) where candidates fit, with P the number of pops; a pop that needs an exchange costs O(N), and each
    bucket that is asked for one is sorted once. P is the number of candidates plus the items pushed out: at most K.
    """
    queue = _Queue(board.cost, candidates)
    buckets = Buckets(board, owner, load, psi)
    for item, cost in queue:
        bucket = buckets.load.least_loaded()
        if not buckets.load.fits(bucket, cost):  # then it fits nowhere without an exchange
            bucket, pushed_out = buckets.exchange(cost)
            owner[pushed_out] = UNPLACED
            queue.add(pushed_out)
        owner[item] = bucket
        buckets.add(bucket, cost)


class _Queue:
    """The candidate set C: items by descending cost, ties by position, while new ones come in (line 3)."""

    def __init__(self, cost: NDArray[np.float64], candidates: NDArray[np.int64]) -> None:
        self._cost = cost
        first = candidates[np.argsort(-cost[candidates], kind="stable")]
        self._first = list(zip((-cost[first]).tolist(), first.tolist(), strict=True))[::-1]  # next at the end
        self._later: list[tuple[float, int]] = []  # a heap

    def add(self, items: NDArray[np.int64]) -> None:
        for item in items.tolist():
            heapq.heappush(self._later, (-float(self._cost[item]), item))

    def __iter__(self) -> Iterator[tuple[int, float]]:
        first, later = self._first, self._later
        while first or later:
            if later and (not first or later[0] < first[-1]):
                negative, item = heapq.heappop(later)
            else:
                negative, item = first.pop()
            yield item, -negative


class RunningLoads:
    """The estimate L̂ of every bucket's load, and which bucket is the least loaded (Alg. 1, lines 2, 4 and 8)."""

    def __init__(self, load: NDArray[np.float64], limit: float) -> None:
        self.limit = limit
        self._grain = grain_of(limit)
        self._load: list[float] = load.tolist()
        self._heap = self.ascending()

    def __getitem__(self, bucket: int) -> float:
        return self._load[bucket]

    def to_array(self) -> NDArray[np.float64]:
        return np.array(self._load)

    def ascending(self) -> list[tuple[int, int]]:
        """(rank of the load, bucket) in the order buckets are tried: ties, to the grain, by lower bucket."""
        return sorted((round(load / self._grain), bucket) for bucket, load in enumerate(self._load))

    def least_loaded(self) -> int:
        return self._heap[0][1]

    def fits(self, bucket: int, cost: float) -> bool:
        return self._load[bucket] + cost <= self.limit  # "<=": k4 of Fig. 4 is accepted at exactly Lmax

    def add(self, bucket: int, cost: float) -> None:
        """Raise or, with a negative cost, lower a bucket's load."""
        self._load[bucket] += cost
        if self._heap[0][1] == bucket:
            heapq.heapreplace(self._heap, (round(self._load[bucket] / self._grain), bucket))
        else:
            self._heap = self.ascending()  # a sorted list is a heap


class Buckets:
    """What each bucket carries, and what it could push out."""

    def __init__(
        self, board: Board, owner: NDArray[np.int64], load: NDArray[np.float64], psi: Selection
    ) -> None:
        self.load = RunningLoads(load, board.limit)
        self._board = board
        self._owner = owner
        self._psi = psi
        self._given = [0.0] * load.size  # cost placed here by this run: it can never be pushed out again
        self._exchangeable: dict[int, _Exchangeable] = {}

    def add(self, bucket: int, cost: float) -> None:
        self.load.add(bucket, cost)
        self._given[bucket] += cost

    def exchange(self, cost: float) -> tuple[int, NDArray[np.int64]]:
        """
        The first bucket by load that can make room (Alg. 1, lines 14-18), and what it pushes out.

        The least loaded bucket and nothing if none can.
        """
        for _, bucket in self.load.ascending():
            if self._given[bucket] + cost > self.load.limit:
                continue  # not even if it pushed out all the rest
            excess = self.load[bucket] + cost - self.load.limit
            pushed_out, freed = self._exchangeable_of(bucket, cost).push_out(cost, excess=excess)
            if pushed_out.size:
                self.load.add(bucket, -freed)
                return bucket, pushed_out
        return self.load.least_loaded(), np.empty(0, dtype=np.int64)

    def _exchangeable_of(self, bucket: int, cost: float) -> "_Exchangeable":
        if bucket not in self._exchangeable:
            items = items_with_cost(self._board.cost, self._owner, bucket)
            items = items[self._board.cost[items] < cost]
            self._exchangeable[bucket] = _Exchangeable(items, self._board.cost[items], self._psi(items))
        return self._exchangeable[bucket]


class _Exchangeable:
    """
    The items one bucket may push out, in ψ order, while the cost they must stay under falls.

    That cost never rises, so an item once too costly stays so: each item is looked at once on its way out. Items
    that LLFD itself placed here are never among them: they are at least as costly as all that follow.
    """

    def __init__(
        self, items: NDArray[np.int64], cost: NDArray[np.float64], priority: NDArray[np.float64]
    ) -> None:
        order = np.argsort(-priority, kind="stable")
        self._items = items[order]
        self._cost = cost[order]
        self._next = 0  # everything before it in ψ order is gone or too costly
        self._by_cost = np.argsort(-self._cost, kind="stable")
        self._falling = -self._cost[self._by_cost]
        self._n_too_costly = 0  # of _by_cost
        self._is_gone = np.zeros(items.size, dtype=np.bool_)
        self._total = float(cost.sum())  # of what may still be pushed out

    def push_out(self, cost: float, *, excess: float) -> tuple[NDArray[np.int64], float]:
        """The shortest ψ-prefix of the items cheaper than ``cost`` that frees ``excess``; nothing if all is too little."""
        self._drop_from(cost)
        if self._total < excess:  # condition (iii) is out of reach
            return self._items[:0], 0.0
        end, chosen, freed = self._prefix(cost, excess)
        if freed < excess:
            return self._items[:0], 0.0
        self._next = end
        self._is_gone[chosen] = True
        self._total -= freed
        return self._items[chosen], freed

    def _drop_from(self, cost: float) -> None:
        """Items of this cost or more can no longer be pushed out: condition (ii) is strict."""
        end = int(np.searchsorted(self._falling, -cost, side="right"))
        if end > self._n_too_costly:
            dropped = self._by_cost[self._n_too_costly : end]
            self._total -= float(self._cost[dropped[~self._is_gone[dropped]]].sum())
            self._n_too_costly = end

    def _prefix(self, cost: float, excess: float) -> tuple[int, NDArray[np.int64], float]:
        """Where the prefix ends, the places of its items, and their total."""
        width = 32
        while True:
            window = self._cost[self._next : self._next + width]
            cheaper = np.flatnonzero(window < cost)
            freed = np.cumsum(window[cheaper])
            n_chosen = int(np.searchsorted(freed, excess, side="left")) + 1
            if n_chosen <= cheaper.size or self._next + width >= self._cost.size:
                chosen = self._next + cheaper[:n_chosen]
                total = float(freed[:n_chosen][-1]) if freed.size else 0.0
                return (int(chosen[-1]) + 1 if chosen.size else self._next), chosen, total
            width *= 4
