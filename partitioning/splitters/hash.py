"""Key grouping (KG, hashing, FLD): a key has one bucket, by its hash."""

import numpy as np
from numpy.typing import NDArray

from partitioning.splitters.request import SplitRequest


def split_hash(request: SplitRequest) -> NDArray[np.int64]:
    """
    The bucket of each row: ``pmod(xxhash64(key), n_buckets)``.

    No key is split, so there is nothing to merge: Γ is the number of keys. Nothing is done about skew.
    """
    return request.key_hash % request.n_buckets
