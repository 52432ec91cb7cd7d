"""How much state each slot holds, from the log alone."""

from collections.abc import Iterator

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
    sizes = np.zeros(function.n_slots)
    for low, high, n_bytes, own in zip(
        files.low_slot.tolist(),
        files.high_slot.tolist(),
        files.live_bytes.tolist(),
        own_slots(files, function),
        strict=True,
    ):
        holds = own if own.any() else np.ones_like(own)
        sizes[low : high + 1] += holds * (n_bytes / np.count_nonzero(holds))
    return sizes


def own_slots(files: DataFiles, function: PartitioningFunction) -> Iterator[NDArray[np.bool_]]:
    """For each file, which of the slots between its bounds live in its bucket."""
    for bucket, low, high in zip(files.bucket, files.low_slot, files.high_slot, strict=True):
        yield function.slots[low : high + 1] == bucket
