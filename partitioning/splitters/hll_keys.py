"""
A HyperLogLog a bucket, with the optimistic contains of Katsipoulakis et al. (Sec. 3.2.2); sketches of Apache DataSketches.

A sketch cannot say whether it has seen a key. The paper tries: if adding the key changes nothing, it is taken for
seen. That is never wrong about a key that was seen, and sometimes about one that was not.
"""

from datasketches import hll_sketch, tgt_hll_type


class HllKeys:
    """Estimated keys of every bucket: relative standard error at most 1.04 / sqrt(registers)."""

    def __init__(self, n_buckets: int, log2_registers: int) -> None:
        self.n_keys: list[float] = [0.0] * n_buckets
        # All registers from the start: a sketch that begins as a list of keys would count the first few exactly.
        self._sketch = [_empty(log2_registers) for _ in range(n_buckets)]
        self._trial = [_empty(log2_registers) for _ in range(n_buckets)]
        self._is_ahead: list[int | None] = [
            None
        ] * n_buckets  # the key by which a trial differs from its sketch

    @property
    def n_bytes(self) -> int:
        """Memory of all sketches and their trials, which does not depend on the keys."""
        return sum(sketch.get_updatable_serialization_bytes() for sketch in (*self._sketch, *self._trial))

    def contains(self, bucket: int, key: int) -> bool:
        """Whether adding the key to a copy of the bucket's sketch would leave its estimate as it is."""
        if self._is_ahead[bucket] == key:
            return False
        if self._is_ahead[bucket] is not None:
            self._trial[bucket] = hll_sketch.deserialize(self._sketch[bucket].serialize_updatable())
            self._is_ahead[bucket] = None
        trial = self._trial[bucket]
        trial.update(key)
        if trial.get_estimate() == self.n_keys[bucket]:
            return True
        self._is_ahead[bucket] = key
        return False

    def update(self, bucket: int, key: int) -> None:
        if self.contains(bucket, key):
            return
        self._sketch[bucket].update(key)
        self.n_keys[bucket] = self._sketch[bucket].get_estimate()
        self._is_ahead[bucket] = None  # the trial has the key already


def _empty(log2_registers: int) -> hll_sketch:
    return hll_sketch(log2_registers, tgt_hll_type.HLL_8, True)
