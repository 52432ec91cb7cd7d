"""Spreading rows over tasks so that each slot worth a file gets a file of its own."""

import numpy as np
from numpy.typing import NDArray
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from partitioning.function import PartitioningFunction
from partitioning.hashing import slots_of
from spark_jobs.routing import array_literal, slot_column

SLOTS_A_TASK = 16  # that share one at most: a task must not outgrow an executor


def spread(  # noqa: PLR0913  (what a write depends on)
    frame: DataFrame,
    *,
    key: str,
    n_buckets: int,
    own_file: NDArray[np.bool_],
    function: PartitioningFunction | None = None,
    sort_by: tuple[str, ...] = (),
) -> DataFrame:
    """
    The frame, which has its ``bucket``, ready to be written: each slot of ``own_file`` apart from others of its bucket, the rest
    of a bucket together.

    Delta writes one file for each bucket that a task holds. So a slot of ``own_file`` becomes one settled file a bucket
    (one, unless a key of it is routed elsewhere), all others of a bucket one mixed file, ordered by slot. ``function`` is the
    one that the buckets follow, if it is known: slots of different buckets then share a task, and a slot with a split key, which is
    much for one, has a task for each bucket.
    """
    slot = slot_column(key, own_file.size)
    rest = 0 if own_file.all() else n_buckets
    task_of_slot = _task_of_slot(own_file, function)
    of_slot = array_literal(np.where(own_file, rest + task_of_slot, -1).tolist())[slot]
    n_tasks = rest + int(task_of_slot.max()) + 1
    split = _slots_of_splits(own_file, function)
    if split.size:
        numbers = np.full(own_file.size, -1, dtype=np.int64)
        numbers[split] = n_tasks + n_buckets * np.arange(split.size)
        of_split = array_literal(numbers.tolist())[slot]
        of_slot = F.when(of_split >= 0, of_split + F.col("bucket")).otherwise(of_slot)
        n_tasks += n_buckets * split.size
    task = F.when(of_slot >= 0, of_slot).otherwise(F.col("bucket")) if rest else of_slot
    spread_rows = frame.repartitionById(max(n_tasks, 1), task.cast("int"))
    return spread_rows.sortWithinPartitions("bucket", slot, *sort_by)


def _task_of_slot(own_file: NDArray[np.bool_], function: PartitioningFunction | None) -> NDArray[np.int64]:
    """
    A number from 0 for each slot of ``own_file``, -1 for the others; slots of one bucket never share a number.

    Starting a task costs several times what a further file does. A slot with a routed key has rows in two buckets, so it shares
    with nobody.
    """
    slots = np.flatnonzero(own_file)
    task = np.full(own_file.size, -1, dtype=np.int64)
    if function is None:
        task[slots] = np.arange(slots.size)
        return task
    bucket = function.slots[slots]
    order = np.argsort(bucket, kind="stable")
    nth_of_bucket = np.empty_like(bucket)
    nth_of_bucket[order] = np.arange(slots.size) - np.searchsorted(bucket[order], bucket[order])
    shared = nth_of_bucket * function.n_buckets + bucket // SLOTS_A_TASK
    keys = function.exceptions
    is_routed = np.isin(slots, slots_of(keys, function.key_type, function.n_slots)) if keys else False
    label = np.where(is_routed, -1 - slots, shared)
    task[slots] = np.unique(label, return_inverse=True)[1]
    return task


def _slots_of_splits(own_file: NDArray[np.bool_], function: PartitioningFunction | None) -> NDArray[np.int64]:
    """The slots of ``own_file`` that hold a split key."""
    keys = [] if function is None else list(function.splits)
    slots = (
        slots_of(keys, function.key_type, function.n_slots) if function and keys else np.empty(0, np.int64)
    )
    return np.unique(slots[own_file[slots]])
