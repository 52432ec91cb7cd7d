"""
Alg. 1 of Katsipoulakis et al. for one source in one window: row by row, a decision over what each bucket has got.

``cm``, ``am``, ``cam`` and ``lm`` differ in the decision alone. The algorithms print "C.update" only where a bucket may get
a new key; where ``contains`` has said yes an update changes nothing, so here every row updates.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from partitioning.splitters.candidates import candidates_by_key
from partitioning.splitters.key_counters import KeyCounters, key_counters
from partitioning.splitters.options import CardinalityOptions


@dataclass(frozen=True)
class Known:
    """What a source knows of its window: C and L of the paper."""

    keys: KeyCounters
    rows: list[int] = field(default_factory=list)  # of each bucket


# (what is known, the candidates in hash order, the key) -> one of the candidates
Decide = Callable[[Known, Sequence[int], int], int]


class RowByRowSource:
    """One source in one window; a new window takes a new one ("Reset", lines 3 to 5)."""

    def __init__(self, n_buckets: int, options: CardinalityOptions, decide: Decide) -> None:
        options.check_fits(n_buckets)
        self._n_buckets = n_buckets
        self._options = options
        self._decide = decide
        self._known = Known(key_counters(n_buckets, options), [0] * n_buckets)

    def send(self, key_hash: NDArray[np.int64]) -> NDArray[np.int64]:
        """The bucket of each row. However the window is cut into batches, the answers are the same."""
        known, decide = self._known, self._decide
        bucket = np.empty(key_hash.size, dtype=np.int64)
        candidates = candidates_by_key(key_hash, self._n_buckets, self._options)
        for row, (key, options) in enumerate(zip(key_hash.tolist(), candidates, strict=True)):
            chosen = decide(known, options, key)
            known.keys.update(chosen, key)
            known.rows[chosen] += 1
            bucket[row] = chosen
        return bucket


def decide_by_affinity(known: Known, options: Sequence[int], key: int, load: Sequence[float]) -> int:
    """The first candidate that has the key; if none has, the first of the least loaded (Alg. 3 and 4)."""
    for bucket in options:
        if known.keys.contains(bucket, key):
            return bucket
    return min(options, key=load.__getitem__)
