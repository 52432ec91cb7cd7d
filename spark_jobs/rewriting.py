"""Writing the rows of some files anew: the one place where a layout change touches bytes."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from pyspark.sql import DataFrame, Observation
from pyspark.sql import functions as F

from partitioning.function import PartitioningFunction
from spark_jobs.data_files import UNKNOWN, DataFiles
from spark_jobs.job import JobError
from spark_jobs.layout_transaction import LayoutTransaction
from spark_jobs.routing import with_bucket
from spark_jobs.settled_write import spread
from spark_jobs.slot_sizes import slot_bytes
from spark_jobs.sql_names import quoted

_FROM = "__from_bucket"


@dataclass(frozen=True, kw_only=True)
class Rewritten:
    files: int = 0  # new ones
    rows: int = 0
    rows_moved: int = 0  # those of them whose bucket changed
    n_bytes: int = 0


def rewrite(
    transaction: LayoutTransaction,
    files: DataFiles,
    *,
    function: PartitioningFunction | None,
    own_file: NDArray[np.bool_],
) -> Rewritten:
    """
    Write the rows of these files anew, each slot of ``own_file`` into files of its own, and remove the files.

    Rows go where ``function`` says, or stay in their bucket if there is none. Refuses to go on if the new files do not hold
    just as many rows as the old ones.
    """
    if not len(files):
        return Rewritten()
    key = transaction.dataset.key
    # Delta fills the slot in again from the key: whatever was there, it is right afterwards.
    rows = transaction.rows_of(files).drop("slot").withColumn(_FROM, F.col("bucket"))
    routed = rows if function is None else with_bucket(rows, function, key=key)
    n_buckets = 1 + max(int(files.bucket.max()), -1 if function is None else function.n_buckets - 1)
    placed = spread(
        routed, key=key, n_buckets=n_buckets, own_file=own_file, function=function, sort_by=(quoted(key),)
    )
    counts = Observation()
    # Above the shuffle, in the tasks that write: there a task that is done again is still counted once.
    moved = F.count_if(F.col(_FROM) != F.col("bucket")).alias("moved")
    written = transaction.write(placed.observe(counts, moved).drop(_FROM), is_new_data=False)
    _check_conserved(files, rows, written.rows)
    transaction.remove(files, is_data_lost=False)
    rows_moved = int(counts.get["moved"]) if written.rows else 0
    return Rewritten(files=written.files, rows=written.rows, rows_moved=rows_moved, n_bytes=written.n_bytes)


def worth_a_file(files: DataFiles, function: PartitioningFunction, *, min_bytes: int) -> NDArray[np.bool_]:
    """Which slots of these files are worth a file of their own, as far as the log can tell."""
    return np.asarray(slot_bytes(files, function) >= min_bytes)


def _check_conserved(files: DataFiles, rows: DataFrame, n_written: int) -> None:
    n_read = rows.count() if (files.rows == UNKNOWN).any() else int(files.rows.sum())
    if n_read != n_written:
        raise JobError(
            f"a rewrite must keep every row. Got {n_read:,} rows in the old files and {n_written:,} in the new ones."
            " Nothing was committed. Run repair_layout: it counts rows, and mends files whose statistics are not true."
        )
