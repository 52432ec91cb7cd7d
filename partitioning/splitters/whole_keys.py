"""
Senders that keep keys whole: a key goes where its first row went, by the loads that row's source knew then.

What all of PoTC, On-Greedy and cAM come down to. Only the first row of a key needs a choice; the rows between two
such rows are counted at once, so a window costs a sort, some microseconds a key and some nanoseconds a row.
"""

from collections.abc import Callable, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

# The candidate buckets of each of these keys, one sequence a key.
Candidates = Callable[[NDArray[np.int64]], Iterable[Sequence[int]]]

NOT_SENT = -1
_SHORT = 256  # rows that are counted sooner one by one


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
        batch = _Batch(self.load, own, code, bucket_of)
        for key, row, options in zip(
            new.tolist(), first[new].tolist(), self._candidates(keys[new]), strict=True
        ):
            bucket_of[key] = batch.choose(row, options)
        self.load[:] = batch.finish()
        self._bucket_of.update(zip(keys[new].tolist(), bucket_of[new].tolist(), strict=True))
        return bucket_of[code]

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
        own = int(self._own[row])
        load = self._load
        return min(options, key=lambda bucket: load[own + bucket])

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
