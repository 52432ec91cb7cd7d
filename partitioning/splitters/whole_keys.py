"""
Senders that keep keys whole: a key goes where its first row went, by the loads that row's source knew then.

What all of PoTC, On-Greedy and cAM come down to. Only the first row of a key needs a choice. Where new keys are rare, the
rows between two of them are counted at once: a sort, some microseconds a new key and some nanoseconds a row. Where they are
frequent, row after row is quicker. Both make the same choices.
"""

from collections.abc import Callable, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

# The candidate buckets of each of these keys, one sequence a key.
Candidates = Callable[[NDArray[np.int64]], Iterable[Sequence[int]]]

NOT_SENT = -1
_SHORT = 256  # rows that are counted sooner one by one
_FREQUENT = 32  # rows to a new key, up to which all rows are sent sooner one by one


class WholeKeySenders:
    """S sources with loads of their own that agree, at once and for ever, on the bucket of every key."""

    def __init__(self, n_buckets: int, n_sources: int, candidates: Candidates) -> None:
        self.load = np.zeros((n_sources, n_buckets), dtype=np.int64)
        self._candidates = candidates
        self._bucket_of: dict[int, int] = {}

    def send(self, key_hash: NDArray[np.int64], source: NDArray[np.int64]) -> NDArray[np.int64]:
        """The bucket of each row. However a stream is cut into batches, the answers are the same."""
        keys, first, code = np.unique(key_hash, return_index=True, return_inverse=True)
        bucket_of = self.known_buckets(keys)
        new = np.flatnonzero(bucket_of == NOT_SENT)
        new = new[np.argsort(first[new])]  # in order of arrival
        own = source * self.load.shape[1]  # where the loads that the row's source knows begin
        options = zip(new.tolist(), self._candidates(keys[new]), strict=True)
        if new.size * _FREQUENT >= key_hash.size:
            bucket_of = self._send_one_by_one(own, code, bucket_of, dict(options))
        else:
            self._send_between(own, code, bucket_of, first, options)
        self._bucket_of.update(zip(keys[new].tolist(), bucket_of[new].tolist(), strict=True))
        return bucket_of[code]

    def _send_between(
        self,
        own: NDArray[np.int64],
        code: NDArray[np.int64],
        bucket_of: NDArray[np.int64],
        first: NDArray[np.int64],
        options: Iterable[tuple[int, Sequence[int]]],
    ) -> None:
        """Choose for new keys, in order of arrival, and count the rows between them at once; fills ``bucket_of`` in."""
        batch = _Batch(self.load, own, code, bucket_of)
        for key, candidates in options:
            bucket_of[key] = batch.choose(int(first[key]), candidates)
        self.load[:] = batch.finish()

    def _send_one_by_one(
        self,
        own: NDArray[np.int64],
        code: NDArray[np.int64],
        bucket_of: NDArray[np.int64],
        options: dict[int, Sequence[int]],
    ) -> NDArray[np.int64]:
        """The same, row after row; the buckets of all keys of the batch."""
        load: list[int] = self.load.reshape(-1).tolist()
        chosen: list[int] = bucket_of.tolist()
        for start, key in zip(own.tolist(), code.tolist(), strict=True):
            bucket = chosen[key]
            if bucket == NOT_SENT:
                bucket = chosen[key] = _least_loaded(load, start, options[key])
            load[start + bucket] += 1
        self.load[:] = np.array(load, dtype=np.int64).reshape(self.load.shape)
        return np.array(chosen, dtype=np.int64)

    def known_buckets(self, keys: NDArray[np.int64]) -> NDArray[np.int64]:
        """The bucket agreed on for each key, NOT_SENT for a new one."""
        if not self._bucket_of:
            return np.full(keys.size, NOT_SENT, dtype=np.int64)
        known = (self._bucket_of.get(key, NOT_SENT) for key in keys.tolist())
        return np.fromiter(known, dtype=np.int64, count=keys.size)


class _Batch:
    """The loads while the rows of one batch go by."""

    def __init__(
        self,
        load: NDArray[np.int64],
        own: NDArray[np.int64],
        code: NDArray[np.int64],
        bucket_of: NDArray[np.int64],
    ) -> None:
        self._shape = load.shape
        self._load: list[int] = load.reshape(-1).tolist()
        self._own = own
        self._code = code
        self._bucket_of = bucket_of  # shared with the caller, who fills it in
        self._next = 0  # rows before it are counted

    def choose(self, row: int, options: Sequence[int]) -> int:
        """The first of the least loaded of these buckets, as known to the row's source when the row arrives."""
        self._count_until(row)
        return _least_loaded(self._load, int(self._own[row]), options)

    def finish(self) -> NDArray[np.int64]:
        """The loads after the last row."""
        self._count_until(self._code.size)
        return np.array(self._load, dtype=np.int64).reshape(self._shape)

    def _count_until(self, row: int) -> None:
        rows = slice(self._next, row)
        places = self._own[rows] + self._bucket_of[self._code[rows]]
        if places.size <= _SHORT:
            for place in places.tolist():
                self._load[place] += 1
        else:
            counts = np.bincount(places)
            for place in np.flatnonzero(counts).tolist():
                self._load[place] += int(counts[place])
        self._next = row


def _least_loaded(load: list[int], own: int, options: Sequence[int]) -> int:
    """The first of the least loaded of these buckets; ``own`` is where the loads that the source knows begin."""
    best = options[0]
    for bucket in options[1:]:
        if load[own + bucket] < load[own + best]:
            best = bucket
    return best
