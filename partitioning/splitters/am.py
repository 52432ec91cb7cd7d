"""AM, group affinity with cardinality imbalance minimisation (Katsipoulakis et al., Alg. 3)."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from partitioning.splitters.candidates import candidates_by_key
from partitioning.splitters.options import CardinalityOptions
from partitioning.splitters.request import SplitRequest
from partitioning.splitters.row_by_row import Known, RowByRowSource, decide_by_affinity
from partitioning.splitters.sending import Source, send_by_window


def split_am(request: SplitRequest, options: CardinalityOptions | None = None) -> NDArray[np.int64]:
    """
    The bucket of each row: a key stays where its source sent it first in this window, the candidate with the fewest keys.

    One source splits no key within a window; several may send a key to different candidates, so to at most
    ``n_choices`` buckets. Ties go to the first candidate. Sketches (``hll``) may take a new key for seen.
    """
    options = options or CardinalityOptions()
    return send_by_window(request, lambda: am_source(request.n_buckets, options))


def am_source(n_buckets: int, options: CardinalityOptions) -> Source:
    """One source in one window."""
    if options.counter == "exact":
        return ExactAmSource(n_buckets, options)
    return RowByRowSource(n_buckets, options, _by_affinity_and_keys)


class ExactAmSource:
    """
    AM with exact sets, by keys instead of rows.

    An exact set answers "yes" for one candidate of a key at most, and for ever: the choice at its first row is the
    only one, and depends on the number of keys in each bucket, not on rows.
    """

    def __init__(self, n_buckets: int, options: CardinalityOptions) -> None:
        options.check_fits(n_buckets)
        self._options = options
        self._n_keys = [0] * n_buckets
        self._bucket_of: dict[int, int] = {}

    def send(self, key_hash: NDArray[np.int64]) -> NDArray[np.int64]:
        """The bucket of each row. However the window is cut into batches, the answers are the same."""
        keys, first, code = np.unique(key_hash, return_index=True, return_inverse=True)
        by_arrival = np.argsort(first)
        bucket = np.empty(keys.size, dtype=np.int64)
        bucket[by_arrival] = self._place(keys[by_arrival])
        return bucket[code]

    def _place(self, keys: NDArray[np.int64]) -> list[int]:
        """The bucket of each key; the keys are all different, in order of arrival."""
        n_keys, bucket_of = self._n_keys, self._bucket_of
        buckets = []
        for key, options in zip(
            keys.tolist(), candidates_by_key(keys, len(n_keys), self._options), strict=True
        ):
            bucket = bucket_of.get(key)
            if bucket is None:
                bucket = bucket_of[key] = min(options, key=n_keys.__getitem__)
                n_keys[bucket] += 1
            buckets.append(bucket)
        return buckets


def _by_affinity_and_keys(known: Known, options: Sequence[int], key: int) -> int:
    return decide_by_affinity(known, options, key, known.keys.n_keys)
