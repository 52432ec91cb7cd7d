"""Appending rows inside a transaction: routed, and in a file of their own where a slot's share is worth one."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from spark_jobs.control_tables import load_function
from spark_jobs.layout_transaction import LayoutTransaction, Written
from spark_jobs.routing import slot_column, with_bucket
from spark_jobs.settled_write import spread

UNKNOWN_BYTES = 2.0**60  # Spark's guess about what it knows nothing of is larger
CLEARLY_WORTH = 2.0  # times the least size of a file: slots differ, and the size of a frame is a guess


def append_rows(
    transaction: LayoutTransaction,
    frame: DataFrame,
    *,
    sort_by: tuple[str, ...] = (),
    n_bytes: float | None = None,
) -> Written:
    """
    Route the rows by the function of the transaction's version, and write them.

    ``n_bytes`` says how much the frame is, where that is known. Then slots whose even share is clearly worth a file need not be
    counted: that would read the frame once more.
    """
    dataset = transaction.dataset
    function = load_function(dataset.name, transaction.function)
    routed = with_bucket(frame, function, key=dataset.key)
    is_much = n_bytes is not None and n_bytes >= CLEARLY_WORTH * dataset.min_file_bytes * function.n_slots
    placed = spread(
        routed,
        key=dataset.key,
        n_buckets=function.n_buckets,
        own_file=np.ones(function.n_slots, dtype=np.bool_) if is_much else _counted_worth(transaction, frame),
        function=function,
        sort_by=sort_by,
    )
    return transaction.write(placed, is_new_data=True)


def _counted_worth(transaction: LayoutTransaction, frame: DataFrame) -> NDArray[np.bool_]:
    """Which slots of the frame are worth a file of their own, by their rows and what a row weighs."""
    dataset = transaction.dataset
    rows = rows_per_slot(frame, key=dataset.key, n_slots=dataset.n_slots)
    row_bytes = _stored_row_bytes(transaction) or _planned_bytes(frame) / max(int(rows.sum()), 1)
    return np.asarray(rows * row_bytes >= dataset.min_file_bytes)


def rows_per_slot(frame: DataFrame, *, key: str, n_slots: int) -> NDArray[np.int64]:
    """How many rows each slot has; at most S numbers come to the driver."""
    counts = frame.groupBy(slot_column(key, n_slots).alias("slot")).count().toArrow()
    rows = np.zeros(n_slots, dtype=np.int64)
    rows[counts["slot"].to_numpy()] = counts["count"].to_numpy()
    return rows


def _stored_row_bytes(transaction: LayoutTransaction) -> float:
    """What a row of the table weighs on disk, from the log; 0 while it has none."""
    totals = (
        transaction.file_frame().agg(F.sum("n_bytes"), F.sum(F.col("rows") + F.col("deleted_rows"))).first()
    )
    n_bytes, n_rows = totals or (None, None)
    return n_bytes / n_rows if n_rows else 0.0


def scanned_bytes(frame: DataFrame) -> float | None:
    """The size of what the frame reads, if it is a part of one table; None where Spark would be guessing."""
    n_bytes, n_tables = _planned_bytes(frame), _plan_of(frame).collectLeaves().size()
    return n_bytes if n_tables == 1 and n_bytes < UNKNOWN_BYTES else None


def _planned_bytes(frame: DataFrame) -> float:
    """What Spark thinks the frame is: about the size of its files."""
    return float(str(_plan_of(frame).stats().sizeInBytes()))


def _plan_of(frame: DataFrame) -> Any:
    return frame._jdf.queryExecution().optimizedPlan()  # noqa: SLF001  (Python has no name for it)
