"""
Which keys a bucket has got, and how many: the structure C of Katsipoulakis et al. (Sec. 3.2), exact or in constant memory.
"""

from typing import Protocol

from partitioning.splitters.options import CardinalityOptions


class KeyCounters(Protocol):
    """The keys of every bucket. Counts never fall."""

    n_keys: list[float]  # of each bucket, exact or estimated

    def contains(self, bucket: int, key: int) -> bool:
        """Whether the bucket has the key already."""
        ...

    def update(self, bucket: int, key: int) -> None:
        """The bucket gets the key; nothing happens if it is known to have it."""
        ...


class ExactKeys:
    """A set of keys a bucket (Sec. 3.2.1)."""

    def __init__(self, n_buckets: int) -> None:
        self.n_keys: list[float] = [0] * n_buckets
        self._keys: list[set[int]] = [set() for _ in range(n_buckets)]

    def contains(self, bucket: int, key: int) -> bool:
        return key in self._keys[bucket]

    def update(self, bucket: int, key: int) -> None:
        keys = self._keys[bucket]
        if key not in keys:
            keys.add(key)
            self.n_keys[bucket] += 1


def key_counters(n_buckets: int, options: CardinalityOptions) -> KeyCounters:
    """Empty counters for every bucket."""
    if options.counter == "exact":
        return ExactKeys(n_buckets)
    from partitioning.splitters.hll_keys import HllKeys

    return HllKeys(n_buckets, options.log2_registers)
