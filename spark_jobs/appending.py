"""Appending rows inside a transaction: routed, and in a file of their own where a slot's share is worth one."""

import numpy as np
from numpy.typing import NDArray
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from spark_jobs.control_tables import load_function
from spark_jobs.layout_transaction import LayoutTransaction, Written
from spark_jobs.routing import slot_column, with_bucket
from spark_jobs.settled_write import spread


def append_rows(
    transaction: LayoutTransaction, frame: DataFrame, *, sort_by: tuple[str, ...] = ()
) -> Written:
    """Route the rows by the function of the transaction's version, and write them."""
    dataset = transaction.dataset
    function = load_function(dataset.name, transaction.function)
    rows = rows_per_slot(frame, key=dataset.key, n_slots=function.n_slots)
    row_bytes = _stored_row_bytes(transaction) or _planned_bytes(frame) / max(int(rows.sum()), 1)
    routed = with_bucket(frame, function, key=dataset.key)
    placed = spread(
        routed,
        key=dataset.key,
        n_buckets=function.n_buckets,
        own_file=rows * row_bytes >= dataset.min_file_bytes,
        function=function,
        sort_by=sort_by,
    )
    return transaction.write(placed, is_new_data=True)


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


def _planned_bytes(frame: DataFrame) -> float:
    """What Spark thinks the frame reads: about the size of its files."""
    plan = frame._jdf.queryExecution().optimizedPlan()  # noqa: SLF001  (Python has no name for it)
    return float(str(plan.stats().sizeInBytes()))
