"""Appending rows inside a transaction: routed, and in a file of their own where a slot's share is worth one."""

import numpy as np
from numpy.typing import NDArray
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from spark_jobs.control_tables import load_function
from spark_jobs.layout_transaction import LayoutTransaction, Written
from spark_jobs.routing import slot_column, with_bucket
from spark_jobs.settled_write import spread

GUESSED_ROW_BYTES = 64.0  # of a row, while the table has none to measure


def append_rows(transaction: LayoutTransaction, frame: DataFrame) -> Written:
    """Route the rows by the function of the transaction's version, and write them."""
    dataset = transaction.dataset
    function = load_function(dataset.name, transaction.function)
    rows = rows_per_slot(frame, key=dataset.key, n_slots=function.n_slots)
    own_file = rows * _row_bytes(transaction) >= dataset.min_file_bytes
    routed = with_bucket(frame, function, key=dataset.key)
    placed = spread(routed, key=dataset.key, n_buckets=function.n_buckets, own_file=own_file)
    return transaction.write(placed, is_new_data=True)


def rows_per_slot(frame: DataFrame, *, key: str, n_slots: int) -> NDArray[np.int64]:
    """How many rows each slot has; at most S numbers come to the driver."""
    counts = frame.groupBy(slot_column(key, n_slots).alias("slot")).count().toArrow()
    rows = np.zeros(n_slots, dtype=np.int64)
    rows[counts["slot"].to_numpy()] = counts["count"].to_numpy()
    return rows


def _row_bytes(transaction: LayoutTransaction) -> float:
    """What a row weighs on disk, from the log."""
    totals = (
        transaction.file_frame().agg(F.sum("n_bytes"), F.sum(F.col("rows") + F.col("deleted_rows"))).first()
    )
    n_bytes, n_rows = totals or (None, None)
    return n_bytes / n_rows if n_rows else GUESSED_ROW_BYTES
