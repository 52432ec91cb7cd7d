"""
Shuffle for heavy keys, hash for all others: ours. The rule of Katsipoulakis et al. (Sec. 7), applied to each kind of key by itself.

Heavy keys are few beside the rows of a bucket, so that shuffling theirs makes few partial results; the others are many and light, so
that hashing is even and merges nothing. Splitting no further than that is what PKG with d choices cannot do: it spreads every key.
"""

import numpy as np
from numpy.typing import NDArray

from partitioning.splitters.options import HeavyOptions
from partitioning.splitters.request import SplitRequest, turns_of


def split_shuffle_heavy(request: SplitRequest, options: HeavyOptions | None = None) -> NDArray[np.int64]:
    """
    The bucket of each row: every source deals its rows of heavy keys to the buckets in turn, source s from bucket s on; others go by their hash.

    Γ is the number of keys, and for each heavy one up to ``n_buckets`` - 1 more. Without heavy keys this is ``hash``.

    Worked, 3 buckets, one source, h heavy, x with hash 1: rows h x h h x go to 0, 1, 1, 2, 1.
    """
    heavy = np.isin(request.key_hash, np.array((options or HeavyOptions()).heavy, dtype=np.int64))
    bucket = request.key_hash % request.n_buckets
    source = request.source[heavy]
    bucket[heavy] = (turns_of(source) + source % request.n_buckets) % request.n_buckets
    return bucket
