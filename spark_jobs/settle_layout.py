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
from spark_jobs.slot_sizes import own_slots

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
    Which files to rewrite; none of them again once that is done.

    Mixed files, if their bucket has two or more to merge or a slot's even share of one is worth a file; the files of a slot
    that has too many in a bucket; files of which too many rows are deleted.
    """
    mixed = ~files.is_settled
    worth_dividing = mixed & (_even_share(files, function) >= dataset.min_file_bytes)
    to_merge = mixed & (_number_alike(files.bucket, among=mixed) > 1)
    place = files.bucket * dataset.n_slots + files.low_slot
    crowded = ~mixed & (_number_alike(place, among=~mixed) >= MAX_FILES_A_SLOT)
    worn = files.deleted_rows > MAX_DELETED * (np.maximum(files.rows, 0) + files.deleted_rows)
    return np.asarray(worth_dividing | to_merge | crowded | worn)


def _even_share(files: DataFiles, function: PartitioningFunction) -> NDArray[np.float64]:
    """A file's live bytes for each slot that it may hold."""
    n_slots = [np.count_nonzero(own) for own in own_slots(files, function)]
    return files.live_bytes / np.maximum(n_slots, 1)


def _number_alike(places: NDArray[np.int64], *, among: NDArray[np.bool_]) -> NDArray[np.int64]:
    """For each file, how many files of ``among`` are in the same place."""
    names, inverse = np.unique(places, return_inverse=True)
    return np.bincount(inverse[among], minlength=names.size)[inverse]


if __name__ == "__main__":
    run_job(settle_layout, about=__doc__)
