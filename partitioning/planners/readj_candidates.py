"""
The readjustments that can lower the balance penalty, found without looking at the others (Gedik, Sec. 4.2.4, Alg. 4).

Let i be the source, j the target and x the load a readjustment shifts. max - min falls only if load leaves the only
highest bucket or reaches the only lowest one, and only if 0 < x < load(i) - load(j): with more, one of the two becomes
the new extreme. So 2N of the N² pairs of buckets matter, and of each a range of partners in order of size.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from partitioning.planners.gedik_state import SAME, Floats, Ints

NOTHING = -1  # d2 = ∅: a move, not a swap
MAX_CANDIDATES = 1 << 17  # judged at a time: bounds memory to some 20 MB, whatever the number of items


class Readjustments(NamedTuple):
    """Candidates <i, d1, j, d2> (Eq. 21): item d1 goes from bucket i to j and d2, or nothing, from j to i."""

    item: Ints  # d1
    source: Ints  # i
    target: Ints  # j
    partner: Ints  # d2, or NOTHING


class Mapping(NamedTuple):
    """One resource, and the mapping as it is."""

    owner: Ints  # bucket of each item
    old: Ints  # p(t): where going back takes migration back
    is_free: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]  # may still be moved
    state: Floats  # what an item migrates if it leaves its old bucket
    cost: Floats  # of each item
    size: Floats  # load of each item: rises with its cost
    load: Floats  # of each bucket


class Bar(NamedTuple):
    """
    What a readjustment that brings no item back must pass to gain as much as the best one so far.

    It shifts cost x, takes at most y off max - min load, and migrates state z: its gain is at most
    (per_load · y - per_state · z) / x.
    """

    gain: float
    per_load: float
    per_state: float
    noise: float  # what rounding may add to the numerator: ties must pass


class SizeOrder:
    """Items by size, and by bucket and size: answers which items, or items of a bucket, lie between two sizes."""

    def __init__(self, size: Floats) -> None:
        self.items = np.argsort(size, kind="stable")
        self._sorted = size[self.items]
        self._rank = np.empty(size.size, dtype=np.int64)
        self._rank[self.items] = np.arange(size.size)

    def group(self, owner: Ints) -> "SizeOrder":
        """Brings the items of each bucket together, by size."""
        self._stride = owner.size + 1
        self._keys = np.sort(owner * self._stride + self._rank)
        self.items_by_bucket = self.items[self._keys % self._stride]
        return self

    def between(self, bucket: Ints, low: Floats, high: Floats) -> tuple[Ints, Ints]:
        """Begin and end, in ``items_by_bucket``, of those of each bucket with low < size < high."""
        first = np.searchsorted(self._sorted, low, side="right")
        last = np.searchsorted(self._sorted, high, side="left")
        base = bucket * self._stride
        return np.searchsorted(self._keys, base + first), np.searchsorted(self._keys, base + last)


def moves(mapping: Mapping) -> Readjustments:
    """All moves out of the highest bucket, and all others into the lowest."""
    high, low = int(mapping.load.argmax()), int(mapping.load.argmin())
    can_move = mapping.is_free & (mapping.size > 0) & (mapping.owner != low)
    can_move &= mapping.size < mapping.load[mapping.owner] - mapping.load[low]
    leaving = np.flatnonzero(can_move & (mapping.owner == high))
    arriving = np.flatnonzero(can_move & (mapping.owner != high))
    targets = np.delete(np.arange(mapping.load.size), high)
    item = np.concatenate([np.repeat(leaving, targets.size), arriving])
    target = np.concatenate([np.tile(targets, leaving.size), np.full(arriving.size, low)])
    return Readjustments(item, mapping.owner[item], target, np.full(item.size, NOTHING))


def merged(portions: Iterator[Readjustments]) -> Iterator[Readjustments]:
    """The same candidates in few portions, each of bounded memory: judging many small ones takes longer."""
    waiting: list[Readjustments] = []
    n_waiting = 0
    for portion in portions:
        waiting.append(portion)
        n_waiting += portion.item.size
        if n_waiting >= MAX_CANDIDATES:
            yield Readjustments(*map(np.concatenate, zip(*waiting, strict=True)))
            waiting, n_waiting = [], 0
    if n_waiting:
        yield Readjustments(*map(np.concatenate, zip(*waiting, strict=True)))


def swaps_from_highest(mapping: Mapping, order: SizeOrder, bar: Bar | None) -> Iterator[Readjustments]:
    """Swaps that take load from the highest bucket; without those that cannot pass the bar. ``order`` is of sizes."""
    for item, partner in _out_of_highest(mapping, order, bar):
        yield _swaps(mapping, item, partner)


def swaps_into_lowest(mapping: Mapping, order: SizeOrder, bar: Bar | None) -> Iterator[Readjustments]:
    """Swaps that bring load to the lowest bucket; without those that cannot pass the bar. ``order`` is of -sizes."""
    # With all signs turned, what reaches the lowest bucket leaves the highest one.
    mirrored = mapping._replace(cost=-mapping.cost, size=-mapping.size, load=-mapping.load)
    for partner, item in _out_of_highest(mirrored, order, bar):
        yield _swaps(mapping, item, partner)


def _out_of_highest(mapping: Mapping, order: SizeOrder, bar: Bar | None) -> Iterator[tuple[Ints, Ints]]:
    """Items of the highest bucket, each with smaller partners elsewhere."""
    high, low = int(mapping.load.argmax()), int(mapping.load.argmin())
    in_order = np.sort(mapping.load)
    lowest, second_lowest, second_highest, highest = in_order[[0, 1, -2, -1]]
    # Max - min falls by at most this: the maximum stays at the second highest load or above it, and the minimum, which
    # rises only if the partner is in the lowest bucket, at the second lowest or below.
    off_top, off_bottom = float(highest - second_highest), float(second_lowest - lowest)
    owner = mapping.owner[order.items]
    in_lowest = order.items[owner == low]
    between = order.items[(owner != low) & (owner != high)]
    yield from _partners(mapping, in_lowest, float(highest - lowest), bar, off_top + off_bottom)
    yield from _partners(mapping, between, float(highest - second_lowest), bar, off_top)
    if bar is not None:
        yield from _returning(mapping, order.group(mapping.owner), high)


def _partners(
    mapping: Mapping, pool: Ints, gap: float, bar: Bar | None, off_spread: float
) -> Iterator[tuple[Ints, Ints]]:
    """Items of the highest bucket, each with those of the pool (in order of size) that are smaller by less than gap."""
    size = mapping.size
    item = np.flatnonzero(mapping.is_free & (mapping.owner == mapping.load.argmax()))
    pool_size = size[pool]
    begin = np.searchsorted(pool_size, size[item] - gap, side="right")
    end = np.searchsorted(pool_size, size[item], side="left")
    if bar is None:
        yield from _pairs(item, pool, begin, end)
        return
    # To pass, per_state · z + gain · x < per_load · y (see Bar). The left side is a sum of one term for the item and one for
    # the partner: with the pool in order of the latter, those that may pass come first.
    to_migrate = bar.per_state * mapping.state * (mapping.owner == mapping.old)
    item_term = (to_migrate + bar.gain * mapping.cost)[item]
    partner_term = (to_migrate - bar.gain * mapping.cost)[pool]
    by_term = np.argsort(partner_term, kind="stable")
    limit = bar.per_load * off_spread - item_term
    slack = bar.noise + SAME * (np.abs(limit) + np.abs(item_term))
    n_passing = np.searchsorted(partner_term[by_term], limit + slack, side="right")
    # Two ways to leave partners out, by size and by the bar: for each item the one that leaves fewer.
    is_barred = n_passing < end - begin
    yield from _pairs(item[~is_barred], pool, begin[~is_barred], end[~is_barred])
    yield from _pairs(item[is_barred], pool[by_term], np.zeros_like(begin[is_barred]), n_passing[is_barred])


def _returning(mapping: Mapping, order: SizeOrder, high: int) -> Iterator[tuple[Ints, Ints]]:
    """Swaps that bring an item back to its old bucket: for them the bar does not hold."""
    owner, old, size = mapping.owner, mapping.old, mapping.size
    gap = mapping.load[high] - mapping.load
    item = np.flatnonzero(mapping.is_free & (owner == high) & (old != high) & (old < gap.size))
    ranges = order.between(old[item], size[item] - gap[old[item]], size[item])
    yield from _pairs(item, order.items_by_bucket, *ranges)
    partner = np.flatnonzero(mapping.is_free & (old == high) & (owner != high))
    to_highest = np.full(partner.size, high)
    ranges = order.between(to_highest, size[partner], size[partner] + gap[owner[partner]])
    for returning, leaving in _pairs(partner, order.items_by_bucket, *ranges):
        yield leaving, returning


def _pairs(item: Ints, pool: Ints, begin: Ints, end: Ints) -> Iterator[tuple[Ints, Ints]]:
    """Each item with its range of the pool, in portions of bounded memory."""
    has_some = end > begin
    item, begin, count = item[has_some], begin[has_some], (end - begin)[has_some]
    so_far = np.cumsum(count)
    start = 0
    while start < item.size:
        before = so_far[start] - count[start]
        stop = max(start + 1, int(np.searchsorted(so_far, before + MAX_CANDIDATES, side="right")))
        n = count[start:stop]
        first = np.repeat(begin[start:stop] - (so_far[start:stop] - n - before), n)
        yield np.repeat(item[start:stop], n), pool[first + np.arange(first.size)]
        start = stop


def _swaps(mapping: Mapping, item: Ints, partner: Ints) -> Readjustments:
    are_free = mapping.is_free[item] & mapping.is_free[partner]
    item, partner = item[are_free], partner[are_free]
    return Readjustments(item, mapping.owner[item], mapping.owner[partner], partner)
