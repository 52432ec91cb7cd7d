"""Spreading rows over tasks so that each slot worth a file gets a file of its own."""

import numpy as np
from numpy.typing import NDArray
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from spark_jobs.routing import array_literal, slot_column


def spread(
    frame: DataFrame, *, key: str, n_buckets: int, own_file: NDArray[np.bool_], sort_by: tuple[str, ...] = ()
) -> DataFrame:
    """
    The frame, which has its ``bucket``, ready to be written: one task for each slot of ``own_file``, one a bucket for the rest.

    Delta writes one file for each bucket that a task holds. So a slot of ``own_file`` becomes one settled file a bucket
    (one, unless a key of it is routed elsewhere), all others of a bucket one mixed file, ordered by slot.
    """
    slot = slot_column(key, own_file.size)
    rest = 0 if own_file.all() else n_buckets
    group = np.where(own_file, rest + np.cumsum(own_file) - 1, -1)
    of_slot = array_literal(group.tolist())[slot]
    n_groups = rest + int(own_file.sum())
    task = F.when(of_slot >= 0, of_slot).otherwise(F.col("bucket")) if rest else of_slot
    spread_rows = frame.repartitionById(max(n_groups, 1), task.cast("int"))
    return spread_rows.sortWithinPartitions("bucket", slot, *sort_by)
