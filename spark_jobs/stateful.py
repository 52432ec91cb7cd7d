"""
For your own stateful jobs: route rows, append or upsert them, and read one bucket or all, without knowing how the table is laid out.

Each of these asks the table itself for its function, inside the transaction that writes. A migration at the same time makes
the write start again with the new function: rows never land where the old one said.
"""

from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from partitioning.function import PartitioningFunction
from partitioning.hashing import slots_of
from schemas.dataset import Dataset, dataset_named
from spark_jobs import routing
from spark_jobs.appending import append_rows, rows_per_slot
from spark_jobs.control_tables import load_function
from spark_jobs.data_files import DataFiles, collected
from spark_jobs.feeds import together
from spark_jobs.job import JobError
from spark_jobs.layout_transaction import LayoutTransaction, in_transaction
from spark_jobs.settled_write import spread
from spark_jobs.slot_sizes import slot_bytes
from spark_jobs.sql_names import quoted
from spark_jobs.state_table import read_table
from spark_jobs.table_log import OURS, current_function

_KEY = "__new_key"
_UNIONS = "spark.sql.unionOutputPartitioning"


def with_bucket(frame: DataFrame, dataset: str | Dataset) -> DataFrame:
    """The frame with a column ``bucket``: where the dataset's function, as the table has it now, puts each row."""
    found = _dataset(dataset)
    return routing.with_bucket(frame, current_function(found), key=found.key)


def read_bucket(spark: SparkSession, dataset: str | Dataset, bucket: int) -> DataFrame:
    """The rows of one bucket: every row of every key that lives there, its part of a split key's, and no other file is opened."""
    return read_table(spark, _dataset(dataset).state).where(F.col("bucket") == int(bucket))


def read_buckets(spark: SparkSession, dataset: str | Dataset) -> DataFrame:
    """
    All rows, one partition a bucket, in their order: what works key by key inside a partition needs no shuffle.

    The log is asked once for all buckets. Spark would bring all of them into one task unless
    ``spark.sql.unionOutputPartitioning`` is false: refused until it is, and it must stay so while the frame is worked on.
    """
    _check_unions(spark)
    transaction = LayoutTransaction(spark, _dataset(dataset))
    n_buckets = load_function(transaction.dataset.name, transaction.function).n_buckets
    files = collected(transaction.file_frame())
    of_bucket = (files.take(np.flatnonzero(files.bucket == bucket)) for bucket in range(n_buckets))
    return together([transaction.rows_of(share).coalesce(1) for share in of_bucket])


def append(frame: DataFrame, dataset: str | Dataset, *, batch: str | None = None) -> int:
    """
    Append rows to a table of many rows a key; how many were written.

    With ``batch``, a name of your choice for this delivery, the rows are written once however often the call is repeated: a
    repeated one writes 0.
    """
    found = _dataset(dataset)
    _check_kind(found, "many", use="upsert")
    _check_columns(frame, found)
    mark = None if batch is None else f"evenkeel/append/{found.name}/{batch}"

    def write(transaction: LayoutTransaction) -> int:
        if mark is not None and transaction.is_marked(mark):
            return 0
        written = append_rows(transaction, frame)
        if mark is not None:
            transaction.mark(mark)
        transaction.commit({"evenkeel": "append", "batch": batch, "rows": written.rows})
        return written.rows

    return in_transaction(frame.sparkSession, found, write)


def upsert(frame: DataFrame, dataset: str | Dataset) -> int:
    """
    Put these rows into a table of one row a key, in the place of the rows with the same keys; how many were written.

    ``frame`` must have one row a key. The files of the slots that it touches are written anew, all others stay. Repeating the
    call changes nothing.
    """
    found = _dataset(dataset)
    _check_kind(found, "one", use="append")
    _check_columns(frame, found)
    kept = frame.persist()
    try:
        _check_one_row_a_key(kept, found)
        return in_transaction(frame.sparkSession, found, lambda transaction: _upsert(transaction, kept))
    finally:
        kept.unpersist()


def _upsert(transaction: LayoutTransaction, frame: DataFrame) -> int:
    dataset = transaction.dataset
    function = load_function(dataset.name, transaction.function)
    new_rows = rows_per_slot(frame, key=dataset.key, n_slots=function.n_slots)
    touched = np.flatnonzero(new_rows)
    if not touched.size:
        return 0
    files = transaction.read_files(_buckets_of(touched, function))
    old = files.take(_holding(files, touched, function.n_slots))
    rows = [routing.with_bucket(_in_order(frame, transaction), function, key=dataset.key)]
    if len(old):
        rows.append(_others(transaction.rows_of(old).drop("slot"), frame, key=dataset.key))
    whole = together(rows)
    n_old = max(int(np.maximum(old.rows, 0).sum()), 1)
    row_bytes = float(old.live_bytes.sum()) / n_old
    own_file = slot_bytes(old, function) + new_rows * row_bytes >= dataset.min_file_bytes
    placed = spread(
        whole,
        key=dataset.key,
        n_buckets=function.n_buckets,
        own_file=own_file,
        function=function,
        sort_by=(quoted(dataset.key),),
    )
    transaction.write(placed, is_new_data=True)
    transaction.remove(old, is_data_lost=True)
    transaction.commit({"evenkeel": "upsert", "rows": int(new_rows.sum())})
    return int(new_rows.sum())


def _buckets_of(slots: NDArray[np.int64], function: PartitioningFunction) -> set[int]:
    """Where rows of these slots may be: the slots' buckets, and those of routed and split keys."""
    buckets = set(function.slots[slots].tolist())
    keys = function.exceptions
    if keys:
        is_touched = np.isin(slots_of(keys, function.key_type, function.n_slots), slots)
        buckets |= {part.bucket for i in np.flatnonzero(is_touched) for part in function.parts_of(keys[i])}
    return buckets


def _holding(files: DataFiles, slots: NDArray[np.int64], n_slots: int) -> NDArray[np.int64]:
    """Positions of the files that may hold rows of these slots."""
    is_touched = np.zeros(n_slots, dtype=np.int64)
    is_touched[slots] = 1
    n_before = np.concatenate([[0], is_touched.cumsum()])
    return np.flatnonzero(n_before[files.high_slot + 1] > n_before[files.low_slot])


def _others(old: DataFrame, new: DataFrame, *, key: str) -> DataFrame:
    """The old rows whose key has no new one; the NULL key is a key."""
    new_keys = new.select(F.col(quoted(key)).alias(_KEY))
    return old.join(new_keys, F.col(quoted(key)).eqNullSafe(F.col(_KEY)), "left_anti")


# What is refused


def _dataset(dataset: str | Dataset) -> Dataset:
    return dataset_named(dataset) if isinstance(dataset, str) else dataset


def _check_unions(spark: SparkSession) -> None:
    value = spark.conf.get(_UNIONS)
    if value != "false":
        raise JobError(
            f"{_UNIONS} must be false. Got {value}: a union of single partitions would become one task. Set it with"
            f" spark.conf.set({_UNIONS!r}, False)."
        )


def _check_kind(dataset: Dataset, rows_per_key: str, *, use: str) -> None:
    if dataset.rows_per_key != rows_per_key:
        raise JobError(
            f"state.rows_per_key must be {rows_per_key} for this call. Got {dataset.rows_per_key} in dataset {dataset.name}."
            f" Use {use}, or change the dataset."
        )


def _check_columns(frame: DataFrame, dataset: Dataset) -> None:
    wanted = _user_columns(read_table(frame.sparkSession, dataset.state).columns)
    if sorted(frame.columns) != sorted(wanted):
        missing, unknown = sorted(set(wanted) - set(frame.columns)), sorted(set(frame.columns) - set(wanted))
        raise JobError(
            f"the frame must have the columns of {dataset.state}, without slot and bucket. Got missing: {missing}, unknown:"
            f" {unknown}. Select just these columns."
        )


def _user_columns(columns: Collection[str]) -> list[str]:
    return [column for column in columns if column not in OURS]


def _in_order(frame: DataFrame, transaction: LayoutTransaction) -> DataFrame:
    columns = _user_columns(read_table(frame.sparkSession, transaction.dataset.state).columns)
    return frame.select([F.col(quoted(column)) for column in columns])


def _check_one_row_a_key(frame: DataFrame, dataset: Dataset) -> None:
    doubled = frame.groupBy(F.col(quoted(dataset.key)).alias("key")).count().where("count > 1").first()
    if doubled:
        raise JobError(
            f"the frame must have one row a key. Got {doubled['count']} rows of key {doubled['key']!r}. Keep the newest of"
            " them, for example with max_by."
        )
