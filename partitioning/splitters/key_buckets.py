"""
The bucket of each of very many keys: a hash table of NumPy arrays that is asked, and told, about many keys at once.

A dict knows the same, at a Python object and some walks through memory a key: with a hundred thousand keys that costs more than
choosing their buckets. Here all keys of a batch are looked up in step (open addressing, double hashing); at most half of
the places are taken, so that a few steps are enough.
"""

import numpy as np
from numpy.typing import NDArray

NOT_SENT = -1
_FIRST_BITS = 8
_ROOM = 4  # places a key when the table is made anew; it is when fewer than half as many are left
_WORD = 64
_SPREAD = np.uint64(0x9E3779B97F4A7C15)  # 2^64 over the golden ratio: keys that differ little begin far apart


class KeyBuckets:
    """Keys that were sent, and the bucket of each."""

    def __init__(self) -> None:
        self._n_keys = 0
        self._clear(_FIRST_BITS)

    def buckets_of(self, keys: NDArray[np.int64]) -> NDArray[np.int64]:
        """The bucket of each key, NOT_SENT for one that is new."""
        mixed = self._mix(keys)
        place = self._first_places(mixed)
        bucket = self._bucket[place]
        left = self._held_by_others(keys, place, bucket)
        while left.size:
            place[left] = self._next_places(mixed[left], place[left])
            bucket[left] = self._bucket[place[left]]
            left = left[self._held_by_others(keys[left], place[left], bucket[left])]
        return bucket

    def add(self, keys: NDArray[np.int64], buckets: NDArray[np.int64]) -> None:
        """Remember keys that are new, each once."""
        self._n_keys += keys.size
        if 2 * self._n_keys > self._key.size:
            keys, buckets = self._begin_anew(keys, buckets)
        mixed = self._mix(keys)
        place = self._first_places(mixed)
        while keys.size:
            left = self._put(keys, buckets, place)
            keys, buckets, mixed = keys[left], buckets[left], mixed[left]
            place = self._next_places(mixed, place[left])

    def _put(
        self, keys: NDArray[np.int64], buckets: NDArray[np.int64], place: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """Put each key into its place if that is free; the positions of those that another key kept out."""
        is_in = self._bucket[place] == NOT_SENT
        self._key[place[is_in]] = keys[is_in]
        is_in &= self._key[place] == keys  # of several keys for one place one is in
        self._bucket[place[is_in]] = buckets[is_in]
        return np.flatnonzero(~is_in)

    def _begin_anew(
        self, keys: NDArray[np.int64], buckets: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Make room; these keys, and those that have to be put in again."""
        taken = np.flatnonzero(self._bucket != NOT_SENT)
        keys = np.concatenate([self._key[taken], keys])
        buckets = np.concatenate([self._bucket[taken], buckets])
        self._clear((_ROOM * keys.size - 1).bit_length())
        return keys, buckets

    def _clear(self, bits: int) -> None:
        self._bits = bits
        self._key = np.zeros(2**bits, dtype=np.int64)
        self._bucket = np.full(2**bits, NOT_SENT, dtype=np.int64)

    def _held_by_others(
        self, keys: NDArray[np.int64], place: NDArray[np.int64], bucket: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """Positions of the keys whose place another key has: they may be further on."""
        return np.flatnonzero((bucket != NOT_SENT) & (self._key[place] != keys))

    def _mix(self, keys: NDArray[np.int64]) -> NDArray[np.uint64]:
        return keys.view(np.uint64) * _SPREAD

    def _first_places(self, mixed: NDArray[np.uint64]) -> NDArray[np.int64]:
        """By the upper bits."""
        return (mixed >> np.uint64(_WORD - self._bits)).view(np.int64)

    def _next_places(self, mixed: NDArray[np.uint64], place: NDArray[np.int64]) -> NDArray[np.int64]:
        """An odd step on, by the lower bits: it visits every place."""
        return (place + (mixed.view(np.int64) | 1)) & (self._key.size - 1)
