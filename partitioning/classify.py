"""
What a change of function asks of each data file: stay, flip to another bucket, or be rewritten.

Worked example, S = 4, bucket 0 owns slots 0 and 2, bucket 1 the others; the new function gives slot 2 to bucket 1:

| file in bucket 0 | may hold slots | says    | because                                        |
| ---------------- | -------------- | ------- | ---------------------------------------------- |
| slots 0 … 0      | 0              | stay    | all its rows remain in bucket 0                |
| slots 2 … 2      | 2              | flip 1  | all its rows go to bucket 1                    |
| slots 0 … 3      | 0, 2           | rewrite | some rows stay, some go                        |
| slots 1 … 1      | none           | rewrite | the old function puts no such row in bucket 0  |
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from partitioning.errors import FunctionError
from partitioning.function import PartitioningFunction
from partitioning.hashing import slots_of
from partitioning.splits import stretches

STAY: Final = 0
FLIP: Final = 1
REWRITE: Final = 2
NO_BUCKET: Final = -1


@dataclass(frozen=True, kw_only=True, eq=False)
class FileRanges:
    """Where each file lies, and between which slots its statistics say its rows are. Position i is one file."""

    bucket: NDArray[np.int64]
    low_slot: NDArray[np.int64]
    high_slot: NDArray[np.int64]


@dataclass(frozen=True, kw_only=True, eq=False)
class Classes:
    """What each file has to do."""

    action: NDArray[np.int64]  # STAY, FLIP or REWRITE
    bucket: NDArray[np.int64]  # where the whole file belongs; NO_BUCKET if it must be rewritten


@dataclass(frozen=True, kw_only=True, eq=False)
class Residents:
    """
    Who may live in each bucket under the old function, and where the new one sends them, by (bucket, slot).

    A resident is the tail of a slot (all its keys without a route of their own), one key that either function routes, or a stretch
    of a key that either splits, which both keep together.
    """

    bucket: NDArray[np.int64]
    slot: NDArray[np.int64]
    target: NDArray[np.int64]


def classify(files: FileRanges, before: PartitioningFunction, after: PartitioningFunction) -> Classes:
    """
    Stay, flip or rewrite, for each file.

    Never says stay or flip of a file with a row that must go elsewhere, as long as its rows obey ``before`` and lie
    between its slots. Where the two do not prove it, the file is rewritten. Costs O(S + routes + files), sorting aside.
    """
    residents = residents_of(before, after)
    n_slots = before.n_slots
    place = residents.bucket * n_slots + residents.slot
    first = np.searchsorted(place, files.bucket * n_slots + files.low_slot, side="left")
    end = np.searchsorted(place, files.bucket * n_slots + files.high_slot, side="right")
    known = first < end
    run = np.cumsum(
        np.diff(residents.target, prepend=NO_BUCKET) != 0
    )  # equal targets in a row share a number
    inside = np.minimum(first, place.size - 1), np.maximum(end - 1, 0)
    whole = known & (run[inside[0]] == run[inside[1]])
    bucket = np.where(whole, residents.target[inside[0]], NO_BUCKET)
    action = np.where(whole, np.where(bucket == files.bucket, STAY, FLIP), REWRITE)
    return Classes(action=action, bucket=bucket)


def residents_of(before: PartitioningFunction, after: PartitioningFunction) -> Residents:
    """Every resident of ``before``, in the order of bucket and slot."""
    _check_alike(before, after)
    keys = list(dict.fromkeys([*before.exceptions, *after.exceptions]))
    slot_of_key = slots_of(keys, before.key_type, before.n_slots) if keys else np.empty(0, dtype=np.int64)
    found = [
        (int(slot), *stretch.buckets)
        for key, slot in zip(keys, slot_of_key, strict=True)
        for stretch in stretches([before.parts_of(key), after.parts_of(key)])
    ]
    slots, old, new = np.array(found, dtype=np.int64).reshape(-1, 3).T
    bucket = np.concatenate([before.slots, old])
    slot = np.concatenate([np.arange(before.n_slots), slots])
    target = np.concatenate([after.slots, new])
    order = np.lexsort((target, slot, bucket))
    return Residents(bucket=bucket[order], slot=slot[order], target=target[order])


def changed_buckets(before: PartitioningFunction, after: PartitioningFunction) -> list[int]:
    """The buckets that anything leaves, ascending: only their files need a look."""
    residents = residents_of(before, after)
    leaving = residents.bucket != residents.target
    buckets: list[int] = np.unique(residents.bucket[leaving]).tolist()
    return buckets


def _check_alike(before: PartitioningFunction, after: PartitioningFunction) -> None:
    if (before.n_slots, before.key_type) != (after.n_slots, after.key_type):
        raise FunctionError(
            "classify.after must have the slots and the key type of classify.before. Got"
            f" {after.n_slots} slots of {after.key_type} keys after {before.n_slots} of {before.key_type}. A dataset keeps"
            " both for life: create another table to change them."
        )
    if before.splits and after.splits and before.row_id != after.row_id:
        raise FunctionError(
            f"classify.after must split keys by the row id of classify.before. Got {list(after.row_id)} after"
            f" {list(before.row_id)}. Join the split keys first, then split by another row id."
        )
