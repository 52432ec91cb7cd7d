"""
Pay what maintenance owes: write files with deleted rows anew, then delete files that no version within reach needs.

Removed files stay for ``state.undo_days``, so that every version of that time can still be read, compared and restored.
"""

import argparse

import numpy as np
from delta.tables import DeltaTable
from numpy.typing import NDArray

from partitioning.function import PartitioningFunction
from schemas.dataset import Dataset
from spark_jobs.data_files import DataFiles
from spark_jobs.job import Result, Task, run_job
from spark_jobs.locations import uri_of
from spark_jobs.settling import rewrite_buckets


def purge_layout(task: Task) -> Result:
    result = rewrite_buckets(task, with_deleted_rows, kind="purge")
    hours = 24.0 * task.dataset.undo_days
    if not task.options.get("keep_files"):
        DeltaTable.forPath(task.spark, uri_of(task.dataset.state)).vacuum(hours)
    task.say(
        f"{result['files_before']} files with deleted rows written anew; removed files of the last"
        f" {task.dataset.undo_days} days are kept"
    )
    return {**result, "undo_days": task.dataset.undo_days}


def with_deleted_rows(files: DataFiles, _: PartitioningFunction, __: Dataset) -> NDArray[np.bool_]:
    return np.asarray(files.deleted_rows > 0)


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--keep-files", action="store_true", help="do not delete any file: no VACUUM")


if __name__ == "__main__":
    run_job(purge_layout, about=__doc__, add_options=add_options)
