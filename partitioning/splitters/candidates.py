"""
The d hash functions of a key: H_1 is xxhash64, and H_(i+1) is xxhash64 of what H_i answered.

Spark says the same natively: ``pmod(xxhash64(key), n)``, ``pmod(xxhash64(xxhash64(key)), n)``, and so on.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from partitioning.hashing import hash_keys
from partitioning.splitters.options import Choices

_CHUNK = 65_536  # keys whose candidates are Python objects at a time


def candidates_of(key_hash: NDArray[np.int64], n_buckets: int, choices: Choices) -> NDArray[np.int64]:
    """
    The candidate buckets of each key, in hash order: row i of the answer is H_(i+1) of every key.

    Distinct candidates: H_(i+1) picks, by the same hash, among the buckets that are not candidates yet.
    """
    candidates = np.empty((choices.n_choices, key_hash.size), dtype=np.int64)
    taken: list[NDArray[np.int64]] = []
    hashed = key_hash
    for choice in range(choices.n_choices):
        if choice:
            hashed = hash_keys(hashed, "bigint")
        left = n_buckets - choice if choices.is_distinct else n_buckets
        np.remainder(hashed, left, out=candidates[choice])  # of a positive divisor: pmod
        if choices.is_distinct:
            _skip_taken(candidates[choice], taken)
            _insert(candidates[choice], taken)
    return candidates


def candidates_by_key(
    key_hash: NDArray[np.int64], n_buckets: int, choices: Choices
) -> Iterator[tuple[int, ...]]:
    """The same, key by key."""
    for start in range(0, key_hash.size, _CHUNK):
        chunk = candidates_of(key_hash[start : start + _CHUNK], n_buckets, choices)
        yield from zip(*chunk.tolist(), strict=True)


def _skip_taken(rank: NDArray[np.int64], taken: list[NDArray[np.int64]]) -> None:
    """Turn "the r-th bucket that is left" into that bucket, in place; ``taken`` ascends, key by key."""
    for bucket in taken:
        rank += rank >= bucket


def _insert(bucket: NDArray[np.int64], taken: list[NDArray[np.int64]]) -> None:
    """Take one bucket more of every key: a step of insertion sort, for all keys at once."""
    for place, lower in enumerate(taken):
        taken[place], bucket = np.minimum(lower, bucket), np.maximum(lower, bucket)
    taken.append(bucket)
