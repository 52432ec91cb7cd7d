"""
Senders that keep keys whole: a key goes where its first row went, by the loads that row's source knew then.

What all of PoTC, On-Greedy and cAM come down to. Only the first row of a key needs a choice, so rows of keys that are known are looked up
and counted many at once; only rows of keys that were new a few thousand rows ago go one by one.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from partitioning.splitters.key_buckets import NOT_SENT, KeyBuckets

# The candidate buckets of each of these keys, a column a key.
Candidates = Callable[[NDArray[np.int64]], NDArray[np.int64]]

_TWO = 2
_STRETCH = 16_384  # rows that are looked up at once
_FEW = 64  # places in the loads, up to which rows of known keys are counted sooner beforehand


class WholeKeySenders:
    """S sources with loads of their own that agree, at once and for ever, on the bucket of every key."""

    def __init__(self, n_buckets: int, n_sources: int, candidates: Candidates) -> None:
        self.load = np.zeros((n_sources, n_buckets), dtype=np.int64)
        self._candidates = candidates
        self._known = KeyBuckets()

    def send(self, key_hash: NDArray[np.int64], source: NDArray[np.int64]) -> NDArray[np.int64]:
        """The bucket of each row. However a stream is cut into batches, the answers are the same."""
        bucket = np.empty(key_hash.size, dtype=np.int64)
        own = source * self.load.shape[1]  # where the loads that the row's source knows begin
        length = max(_STRETCH, self.load.size)  # enough rows for going through all loads to pay
        for start in range(0, key_hash.size, length):
            rows = slice(start, start + length)
            bucket[rows] = self._send_stretch(key_hash[rows], own[rows])
        return bucket

    def _send_stretch(self, key_hash: NDArray[np.int64], own: NDArray[np.int64]) -> NDArray[np.int64]:
        bucket = self._known.buckets_of(key_hash)
        new = np.flatnonzero(bucket == NOT_SENT)
        if new.size:
            self._choose(_NewRows(new, key_hash[new], own[new], _known_places(own, bucket)))
            bucket[new] = self._known.buckets_of(key_hash[new])
        self.load += np.bincount(own + bucket, minlength=self.load.size).reshape(self.load.shape)
        return bucket

    def _choose(self, rows: "_NewRows") -> None:
        """Remember the bucket of each new key."""
        candidates = self._candidates(rows.key_hash)
        is_quick = candidates.shape[0] == _TWO and self.load.size <= _FEW
        choose = _choose_of_two if is_quick else _choose_of_any
        chosen = choose(self.load.reshape(-1).tolist(), rows, candidates)
        self._known.add(
            np.fromiter(chosen, dtype=np.int64, count=len(chosen)),
            np.fromiter(chosen.values(), dtype=np.int64, count=len(chosen)),
        )


@dataclass(frozen=True, eq=False)
class _NewRows:
    """The rows of new keys in a stretch, and what goes on around them."""

    row: NDArray[np.int64]  # position in the stretch
    key_hash: NDArray[np.int64]
    own: NDArray[np.int64]  # where the loads that the row's source knows begin
    known: NDArray[np.int64]  # of every row of the stretch, its place in the loads; NOT_SENT: a new key

    def known_before(self, n_places: int) -> NDArray[np.int64]:
        """How many rows of known keys come before each new row, by place: a row of the answer a new row."""
        is_known = self.known != NOT_SENT
        after = np.cumsum(~is_known)[is_known]  # so many new rows
        counts = np.bincount(
            after * n_places + self.known[is_known], minlength=(self.row.size + 1) * n_places
        )
        return counts.reshape(-1, n_places).cumsum(axis=0)


def _known_places(own: NDArray[np.int64], bucket: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.where(bucket == NOT_SENT, NOT_SENT, own + bucket)


def _choose_of_two(load: list[int], rows: _NewRows, candidates: NDArray[np.int64]) -> dict[int, int]:
    """
    The bucket of each new key: the less loaded of its two candidates when its first row arrives, the first if they are equal.

    Rows of known keys are counted beforehand: ``ahead`` is how many more of them the second candidate has got by then.
    """
    known, each = rows.known_before(len(load)), np.arange(rows.row.size)
    first_place, second_place = candidates + rows.own
    n_ahead = known[each, second_place] - known[each, first_place]
    columns = (rows.key_hash, rows.own, first_place, second_place, n_ahead)
    chosen: dict[int, int] = {}
    for key, own, first, second, ahead in zip(*(column.tolist() for column in columns), strict=True):
        if key in chosen:
            place = own + chosen[key]
        else:
            place = second if load[second] + ahead < load[first] else first
            chosen[key] = place - own
        load[place] += 1
    return chosen


def _choose_of_any(load: list[int], rows: _NewRows, candidates: NDArray[np.int64]) -> dict[int, int]:
    """The same for any number of candidates, and of places; rows of known keys are counted as they go by."""
    known, counted = rows.known.tolist(), 0
    chosen: dict[int, int] = {}
    for row, key, own, options in zip(
        rows.row.tolist(), rows.key_hash.tolist(), rows.own.tolist(), candidates.T, strict=True
    ):
        for place in known[counted:row]:
            load[place] += 1
        counted = row + 1
        if key not in chosen:
            chosen[key] = _least_loaded(load, own, options.tolist())
        load[own + chosen[key]] += 1
    return chosen


def _least_loaded(load: list[int], own: int, options: list[int]) -> int:
    """The first of the least loaded of these buckets; ``own`` is where the loads that the source knows begin."""
    best = options[0]
    for bucket in options[1:]:
        if load[own + bucket] < load[own + best]:
            best = bucket
    return best
