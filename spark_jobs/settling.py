"""Rewriting files inside their bucket, so that slots worth a file have one of their own. No row changes its bucket."""

from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
from numpy.typing import NDArray
from pyspark.sql import functions as F

from partitioning.function import PartitioningFunction
from schemas.dataset import Dataset
from spark_jobs.appending import rows_per_slot
from spark_jobs.control_tables import load_function
from spark_jobs.data_files import DataFiles
from spark_jobs.job import Result, Task
from spark_jobs.layout_transaction import LayoutTransaction, in_transaction
from spark_jobs.rewriting import rewrite

BATCH_BYTES = 1 << 30  # how much of the table one commit may rewrite

Choose = Callable[[DataFiles, PartitioningFunction, Dataset], NDArray[np.bool_]]


def rewrite_buckets(task: Task, choose: Choose, *, kind: str) -> Result:
    """
    Rewrite the files that ``choose`` picks, a few buckets at a time, each batch in a commit of its own.

    It can be stopped between any two commits and run again. Appends in the meantime are no conflict; a deletion in these
    buckets, or a new function, makes the batch start again.
    """
    totals = Counter(files_before=0, files_after=0, bytes_written=0)
    batches = list(_batches(LayoutTransaction(task.spark, task.dataset)))
    for number, buckets in enumerate(batches, start=1):
        done = in_transaction(task.spark, task.dataset, partial(_rewrite_batch, buckets, choose, kind))
        totals.update(done)
        task.say(
            f"{number} of {len(batches)}, buckets {buckets[0]} to {buckets[-1]}: {done['files_before']} files became"
            f" {done['files_after']}, {done['bytes_written'] / 1e6:.2f} MB written"
        )
    return dict(totals)


def _batches(transaction: LayoutTransaction) -> Iterator[list[int]]:
    """The buckets that have files, ascending, as many together as have BATCH_BYTES, and one at least."""
    sizes = (
        transaction.file_frame().groupBy("bucket").agg(F.sum("n_bytes").alias("n_bytes")).orderBy("bucket")
    )
    batch: list[int] = []
    total = 0
    for bucket, n_bytes in sizes.collect():
        if batch and total + n_bytes > BATCH_BYTES:
            yield batch
            batch, total = [], 0
        batch.append(bucket)
        total += n_bytes
    if batch:
        yield batch


def _rewrite_batch(
    buckets: list[int], choose: Choose, kind: str, transaction: LayoutTransaction
) -> dict[str, int]:
    dataset = transaction.dataset
    function = load_function(dataset.name, transaction.function)
    files = transaction.read_files(buckets)
    chosen = files.take(np.flatnonzero(choose(files, function, dataset)))
    if not len(chosen):
        return {"files_before": 0, "files_after": 0, "bytes_written": 0}
    own_file = _worth_a_file(transaction, chosen)
    done = rewrite(transaction, chosen, function=None, own_file=own_file)
    transaction.commit({"evenkeel": kind, "buckets": buckets, "files": done.files, "rows": done.rows})
    return {"files_before": len(chosen), "files_after": done.files, "bytes_written": done.n_bytes}


def _worth_a_file(transaction: LayoutTransaction, files: DataFiles) -> NDArray[np.bool_]:
    """By the rows themselves, for the log knows only between which slots a mixed file lies."""
    dataset = transaction.dataset
    rows = rows_per_slot(transaction.rows_of(files), key=dataset.key, n_slots=dataset.n_slots)
    row_bytes = float(files.live_bytes.sum()) / max(int(rows.sum()), 1)
    return np.asarray(rows * row_bytes >= dataset.min_file_bytes)
