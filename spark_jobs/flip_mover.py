"""The ``flip`` mover: one commit that moves whole files by log entries and rewrites only those that must be divided."""

from dataclasses import dataclass

import numpy as np
from pyspark.sql import SparkSession

from partitioning.classify import FLIP, REWRITE, changed_buckets, classify
from partitioning.function import PartitioningFunction
from schemas.dataset import Dataset
from spark_jobs.data_files import DataFiles
from spark_jobs.function_change import FunctionChange, Moved
from spark_jobs.layout_transaction import LayoutTransaction, in_transaction
from spark_jobs.rewriting import rewrite, worth_a_file


def flip_rows(spark: SparkSession, dataset: Dataset, change: FunctionChange) -> None:
    """Rows and function change in the same commit: before it the table obeys the old function, after it the new one."""
    in_transaction(spark, dataset, lambda transaction: _flip(transaction, change))


def _flip(transaction: LayoutTransaction, change: FunctionChange) -> None:
    if change.is_done_in(transaction.function):
        return
    transaction.set_properties(change.properties)
    moved = _move_files(transaction, change.before, change.after)
    transaction.commit(change.note(moved, mover="flip"))


def preview(spark: SparkSession, dataset: Dataset, change: FunctionChange) -> dict[str, int]:
    """What the flip would do, from statistics alone: nothing is written."""
    files = ConcernedFiles.of_change(LayoutTransaction(spark, dataset), change)
    return files.rows_that_move() | {
        "files_flipped": len(files.whole),
        "files_rewritten": len(files.divided),
        "bytes_flipped": int(files.whole.n_bytes.sum()),
        "bytes_to_rewrite": int(files.divided.n_bytes.sum()),
    }


@dataclass(frozen=True, eq=False)
class ConcernedFiles:
    """The files that a change concerns."""

    whole: DataFiles  # to flip
    targets: list[int]  # their new buckets
    divided: DataFiles  # to rewrite

    @classmethod
    def of(
        cls, transaction: LayoutTransaction, before: PartitioningFunction, after: PartitioningFunction
    ) -> "ConcernedFiles":
        files = transaction.read_files(changed_buckets(before, after))
        classes = classify(files.ranges, before, after)
        flipped = np.flatnonzero(classes.action == FLIP)
        divided = np.flatnonzero(classes.action == REWRITE)
        return cls(files.take(flipped), classes.bucket[flipped].tolist(), files.take(divided))

    @classmethod
    def of_change(cls, transaction: LayoutTransaction, change: FunctionChange) -> "ConcernedFiles":
        """No file if the table has the change already."""
        start = change.after if change.is_done_in(transaction.function) else change.before
        return cls.of(transaction, start, change.after)

    def rows_that_move(self) -> dict[str, int]:
        """Between how many and how many, as far as the files' statistics tell: all of whole files, none to all of divided ones."""
        whole, divided = (int(np.maximum(files.rows, 0).sum()) for files in (self.whole, self.divided))
        return {"rows_at_least": whole, "rows_at_most": whole + divided}


def _move_files(
    transaction: LayoutTransaction, before: PartitioningFunction, after: PartitioningFunction
) -> Moved:
    files = ConcernedFiles.of(transaction, before, after)
    transaction.flip(files.whole, files.targets)
    own_file = worth_a_file(files.divided, before, min_bytes=transaction.dataset.min_file_bytes)
    rewritten = rewrite(transaction, files.divided, function=after, own_file=own_file)
    return Moved(
        files_flipped=len(files.whole),
        files_rewritten=len(files.divided),
        rows_moved=int(np.maximum(files.whole.rows, 0).sum()) + rewritten.rows_moved,
        bytes_flipped=int(files.whole.n_bytes.sum()),
        bytes_written=rewritten.n_bytes,
    )
