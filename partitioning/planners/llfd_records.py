"""
Phases II and III on compact records (Fang et al., Sec. IV-A): LLFD where one record stands for many like items.

The same decisions as ``llfd.py`` would make on the record's items one by one; a record is split where only some of
its items are taken, so no answer is coarser than single items.
"""

import heapq
import math

import numpy as np
from numpy.typing import NDArray

from partitioning.measures import load_per_bucket
from partitioning.planners.fang_phases import LOAD_SLACK, Selection
from partitioning.planners.llfd import RunningLoads
from partitioning.tracking.compact import CompactStatistics


class Pieces:
    """Parts of records and the bucket d' each is in: ``count[i]`` items of ``record[i]`` are in ``bucket[i]``."""

    def __init__(
        self, record: NDArray[np.int64], bucket: NDArray[np.int64], count: NDArray[np.int64]
    ) -> None:
        self.record = record
        self.bucket = bucket
        self.count = count

    def with_added(self, added: dict[tuple[int, int], int]) -> "Pieces":
        """These pieces and the added (record, bucket) ones, without those of no items."""
        where = np.array(list(added), dtype=np.int64).reshape(-1, 2)
        record = np.concatenate([self.record, where[:, 0]])
        bucket = np.concatenate([self.bucket, where[:, 1]])
        count = np.concatenate([self.count, np.fromiter(added.values(), dtype=np.int64, count=len(added))])
        kept = np.flatnonzero(count)
        return Pieces(record[kept], bucket[kept], count[kept])


def balance_records(
    statistics: CompactStatistics, pieces: Pieces, psi: Selection, *, n_buckets: int, max_imbalance: float
) -> Pieces:
    """
    Phases II and III from these pieces; ``psi`` ranks records. The pieces given are not changed.

    O(records) for each overloaded bucket and each exchange, and O(N) or O(log N) for each item placed, except that
    a record's items that fit beside each other are placed in one step.
    """
    run = _Run(statistics, Pieces(pieces.record, pieces.bucket, pieces.count.copy()), psi, n_buckets)
    run.start(max_imbalance)
    return run.finish()


class _Run:
    """One run of Phases II and III. ``waiting`` is the candidate set C: items of each record without a bucket."""

    def __init__(self, statistics: CompactStatistics, pieces: Pieces, psi: Selection, n_buckets: int) -> None:
        self._cost = statistics.cost
        self._pieces = pieces
        self._psi = psi
        self._n_buckets = n_buckets
        self._residents: dict[int, _Residents] = {}
        self._queue: list[tuple[float, int]] = []  # a heap of (-cost, record) for what waits
        self._waiting: dict[int, int] = {}
        self._given: dict[tuple[int, int], int] = {}

    def start(self, max_imbalance: float) -> None:
        """Phase II: the shortest prefix, in the order of psi, of every bucket above the limit starts to wait."""
        cost = self._cost[self._pieces.record] * self._pieces.count
        load = load_per_bucket(cost, self._pieces.bucket, self._n_buckets)
        limit = (1.0 + max_imbalance) * float(load.mean()) * (1.0 + LOAD_SLACK)
        for bucket in np.flatnonzero(load > limit).tolist():
            load[bucket] -= self._push_out(bucket, math.inf, excess=float(load[bucket]) - limit)
        self._load = RunningLoads(load, limit)

    def finish(self) -> Pieces:
        """Phase III: the costliest waiting record first, ties by record, until none waits."""
        while self._queue:
            _, record = heapq.heappop(self._queue)
            self._place(record, self._waiting.pop(record), float(self._cost[record]))
        return self._pieces.with_added(self._given)

    def _place(self, record: int, n_items: int, cost: float) -> None:
        while n_items:
            n_items -= self._fill(record, n_items, cost, up_to=self._load.limit)
            if not n_items:
                return
            bucket = self._make_room(cost)
            if bucket is None:  # refused: least loaded, and so are the others of this record
                n_items -= self._fill(record, n_items, cost, up_to=math.inf)
            else:
                self._give(record, bucket, 1, cost)
                n_items -= 1

    def _fill(self, record: int, n_items: int, cost: float, *, up_to: float) -> int:
        """Give items to the least loaded bucket of the moment while that ends at most at ``up_to``. How many."""
        n_left = n_items
        if n_items > 2 * self._n_buckets:
            n_each = level_out(self._load.to_array(), n_items=n_items, cost=cost, up_to=up_to)
            for bucket in np.flatnonzero(n_each).tolist():
                self._give(record, bucket, int(n_each[bucket]), cost)
            n_left -= int(n_each.sum())
        while n_left and self._load[bucket := self._load.least_loaded()] + cost <= up_to:
            self._give(record, bucket, 1, cost)
            n_left -= 1
        return n_items - n_left

    def _give(self, record: int, bucket: int, n_items: int, cost: float) -> None:
        self._given[record, bucket] = self._given.get((record, bucket), 0) + n_items
        self._load.add(bucket, n_items * cost)

    def _make_room(self, cost: float) -> int | None:
        """The exchange rule: the first bucket by load that pushed out cheaper items so that one more fits."""
        for _, bucket in self._load.ascending():
            freed = self._push_out(bucket, cost, excess=self._load[bucket] + cost - self._load.limit)
            if freed:
                self._load.add(bucket, -freed)
                return bucket
        return None

    def _push_out(self, bucket: int, cost: float, *, excess: float) -> float:
        """Let the shortest prefix of items cheaper than ``cost`` that frees ``excess`` wait. What it frees, or 0."""
        if bucket not in self._residents:
            self._residents[bucket] = _Residents(self._pieces, bucket, self._cost, self._psi)
        chosen, n_items, freed = self._residents[bucket].prefix(cost, excess)
        self._pieces.count[chosen] -= n_items
        for record, n in zip(self._pieces.record[chosen].tolist(), n_items.tolist(), strict=True):
            if record not in self._waiting:
                heapq.heappush(self._queue, (-float(self._cost[record]), record))
            self._waiting[record] = self._waiting.get(record, 0) + n
        return freed


class _Residents:
    """The pieces in one bucket that carry load, in the order of psi, ties by record."""

    def __init__(self, pieces: Pieces, bucket: int, cost: NDArray[np.float64], psi: Selection) -> None:
        here = np.flatnonzero((pieces.bucket == bucket) & (cost[pieces.record] > 0))
        here = here[np.argsort(pieces.record[here], kind="stable")]
        self._here = here[np.argsort(-psi(pieces.record[here]), kind="stable")]
        self._cost = cost[pieces.record[self._here]]
        self._pieces = pieces

    def prefix(self, cost: float, excess: float) -> tuple[NDArray[np.int64], NDArray[np.int64], float]:
        """The pieces of the shortest prefix that frees ``excess``, the items of each, their cost; or nothing."""
        count = np.where(self._cost < cost, self._pieces.count[self._here], 0)
        freed = np.cumsum(count * self._cost)
        last = int(np.searchsorted(freed, excess, side="left"))
        if last == freed.size:
            return self._here[:0], count[:0], 0.0
        before = float(freed[last - 1]) if last else 0.0
        count[last] = min(
            math.ceil((excess - before) / self._cost[last]), int(count[last])
        )  # split the last one
        chosen = np.flatnonzero(count[: last + 1])
        return self._here[chosen], count[chosen], before + float(count[last] * self._cost[last])


def level_out(load: NDArray[np.float64], *, n_items: int, cost: float, up_to: float) -> NDArray[np.int64]:
    """
    How many of ``n_items`` equal items each bucket gets at least, if each goes to the least loaded of the moment.

    All but at most N of them, and no bucket ends above ``up_to``: buckets are filled to one water level, rounded
    down to whole items.
    """
    height = load / cost
    rising = np.sort(height)
    levels = (n_items + np.cumsum(rising)) / np.arange(
        1, load.size + 1
    )  # if the lowest 1, 2, … buckets share them
    n_sharing = int(np.flatnonzero(levels > rising)[-1]) + 1
    level = min(float(levels[n_sharing - 1]), up_to / cost)
    return np.maximum(np.floor(level - height), 0).astype(np.int64)
