"""Rewriting files inside their bucket, so that slots worth a file have one of their own. No row changes its bucket."""

from collections import Counter
from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from partitioning.function import PartitioningFunction
from schemas.dataset import Dataset
from spark_jobs.appending import rows_per_slot
from spark_jobs.control_tables import load_function
from spark_jobs.data_files import DataFiles
from spark_jobs.job import Result, Task
from spark_jobs.layout_transaction import LayoutTransaction, in_transaction
from spark_jobs.rewriting import rewrite
from spark_jobs.table_log import refuse_moving

Choose = Callable[[DataFiles, PartitioningFunction, Dataset], NDArray[np.bool_]]


def rewrite_buckets(task: Task, choose: Choose, *, kind: str) -> Result:
    """
    Rewrite the files that ``choose`` picks, bucket by bucket, each in a commit of its own.

    It can be stopped between any two buckets and run again. Appends to the bucket in the meantime are no conflict; a
    deletion there, or a new function, makes that bucket start again.
    """
    totals = Counter(files_before=0, files_after=0, bytes_written=0)
    first = LayoutTransaction(task.spark, task.dataset)
    buckets = sorted(row["bucket"] for row in first.file_frame().select("bucket").distinct().collect())
    for number, bucket in enumerate(buckets, start=1):
        done = in_transaction(task.spark, task.dataset, partial(_rewrite_bucket, bucket, choose, kind))
        totals.update(done)
        if done["files_before"]:
            task.say(
                f"bucket {bucket} ({number} of {len(buckets)}): {done['files_before']} files became"
                f" {done['files_after']}, {done['bytes_written'] / 1e6:.2f} MB written"
            )
    return dict(totals)


def _rewrite_bucket(bucket: int, choose: Choose, kind: str, transaction: LayoutTransaction) -> dict[str, int]:
    refuse_moving(transaction.properties)
    dataset = transaction.dataset
    function = load_function(dataset.name, transaction.function)
    files = transaction.read_files([bucket])
    chosen = files.take(np.flatnonzero(choose(files, function, dataset)))
    if not len(chosen):
        return {"files_before": 0, "files_after": 0, "bytes_written": 0}
    own_file = _worth_a_file(transaction, chosen)
    done = rewrite(transaction, chosen, function=None, own_file=own_file)
    transaction.commit({"evenkeel": kind, "bucket": bucket, "files": done.files, "rows": done.rows})
    return {"files_before": len(chosen), "files_after": done.files, "bytes_written": done.n_bytes}


def _worth_a_file(transaction: LayoutTransaction, files: DataFiles) -> NDArray[np.bool_]:
    """By the rows themselves, for the log knows only between which slots a mixed file lies."""
    dataset = transaction.dataset
    rows = rows_per_slot(transaction.rows_of(files), key=dataset.key, n_slots=dataset.n_slots)
    row_bytes = float(files.live_bytes.sum()) / max(int(rows.sum()), 1)
    return np.asarray(rows * row_bytes >= dataset.min_file_bytes)
