"""
Settle the state table: rewrite mixed files into files of one slot, and merge small ones, inside their buckets.

Maintenance: no row changes its bucket, readers and appends go on, and it can be stopped and run again at any time. Afterwards
migrations flip those files instead of rewriting them.
"""

import numpy as np
from numpy.typing import NDArray

from partitioning.function import PartitioningFunction
from schemas.dataset import Dataset
from spark_jobs.data_files import DataFiles
from spark_jobs.job import Result, Task, run_job
from spark_jobs.settling import rewrite_buckets

MAX_FILES_A_SLOT = 4  # from this many a slot's files are merged
MAX_DELETED = 0.25  # a file with a larger share of deleted rows is written anew


def settle_layout(task: Task) -> Result:
    result = rewrite_buckets(task, unsettled, kind="settle")
    task.say(
        f"{result['files_before']} files became {result['files_after']}, {result['bytes_written'] / 1e6:.2f} MB written"
    )
    return result


def unsettled(files: DataFiles, function: PartitioningFunction, dataset: Dataset) -> NDArray[np.bool_]:
    """
    Which files of one bucket to rewrite; none of them again once that is done.

    Mixed files, if there are two or more to merge or a slot's even share of one is worth a file; the files of a slot that
    has too many; files of which too many rows are deleted.
    """
    mixed = ~files.is_settled
    n_slots = np.array(
        [
            np.count_nonzero(function.slots[low : high + 1] == bucket)
            for bucket, low, high in zip(files.bucket, files.low_slot, files.high_slot, strict=True)
        ]
    )
    worth_dividing = mixed & (files.live_bytes / np.maximum(n_slots, 1) >= dataset.min_file_bytes)
    to_merge = mixed if np.count_nonzero(mixed) > 1 else np.zeros_like(mixed)
    files_a_slot = np.bincount(files.low_slot[~mixed], minlength=dataset.n_slots)
    crowded = ~mixed & (files_a_slot[files.low_slot] >= MAX_FILES_A_SLOT)
    worn = files.deleted_rows > MAX_DELETED * (np.maximum(files.rows, 0) + files.deleted_rows)
    return np.asarray(worth_dividing | to_merge | crowded | worn)


if __name__ == "__main__":
    run_job(settle_layout, about=__doc__)
