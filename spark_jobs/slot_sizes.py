"""How much state each slot holds, from the log alone."""

import numpy as np
from numpy.typing import NDArray

from partitioning.function import PartitioningFunction
from spark_jobs.data_files import DataFiles


def slot_bytes(files: DataFiles, function: PartitioningFunction) -> NDArray[np.float64]:
    """
    Live bytes of each slot.

    A settled file counts for its slot. A mixed one is shared evenly among those slots between its bounds that live in
    its bucket, or among all between its bounds if none does: an estimate, exact again once the file is settled.
    """
    owned = np.zeros((function.n_buckets, function.n_slots), dtype=np.int64)
    owned[function.slots, np.arange(function.n_slots)] = 1
    before = np.concatenate([np.zeros((function.n_buckets, 1), dtype=np.int64), owned.cumsum(axis=1)], axis=1)
    sizes = np.zeros(function.n_slots)
    for bucket, low, high, n_bytes in zip(
        files.bucket.tolist(),
        files.low_slot.tolist(),
        files.high_slot.tolist(),
        files.live_bytes.tolist(),
        strict=True,
    ):
        is_known = 0 <= bucket < function.n_buckets
        n_owned = int(before[bucket, high + 1] - before[bucket, low]) if is_known else 0
        if low == high or not n_owned:
            sizes[low : high + 1] += n_bytes / (high - low + 1)
        else:
            sizes[low : high + 1] += owned[bucket, low : high + 1] * (n_bytes / n_owned)
    return sizes
