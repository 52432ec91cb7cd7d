"""The state table: the user's columns, ``slot`` generated from the key, ``bucket`` as partition column."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import deltalake
from delta.tables import DeltaTable
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import BinaryType, StringType, StructType

from schemas.dataset import Dataset
from schemas.places import is_catalog_name
from spark_jobs.job import JobError
from spark_jobs.locations import sql_name, uri_of
from spark_jobs.routing import slot_expression
from spark_jobs.sql_names import quoted
from spark_jobs.table_log import DATASET, FUNCTION, OURS

_USER_METADATA = "spark.databricks.delta.commitInfo.userMetadata"
_COMMITTING = threading.Lock()  # a session has one note at a time
_COLLATED = "UTF8_BINARY"  # the one collation under which equal texts have equal bytes


def read_table(spark: SparkSession, table: str) -> DataFrame:
    """A Delta table, by its path, URI or catalog name."""
    return spark.table(sql_name(table)) if is_catalog_name(table) else spark.read.format("delta").load(table)


def check_columns(dataset: Dataset, columns: StructType, *, of: str) -> None:
    """Refuse columns that cannot become a state table, before anything is written."""
    taken = [name for name in columns.names if name.lower() in OURS]
    if taken:
        raise JobError(
            f"the columns of {of} must leave the names slot and bucket to Evenkeel. Got {', '.join(taken)}. Rename"
            " them, or select the others into a view or a table."
        )
    key_type = _type_of(columns, dataset.key)
    if key_type != dataset.key_type:
        raise JobError(
            f"key.type must be the type of column {dataset.key!r} of {of}. Got {dataset.key_type}, but the"
            f" column is {key_type}. Correct datasets/{dataset.name}.yaml, or cast the column."
        )
    if dataset.event_time is not None and dataset.keep_windows and dataset.event_time not in columns.names:
        raise JobError(
            f"events.time must be a column of {of}, for windows expire by it. Got {dataset.event_time!r}. Name another column."
        )


def _type_of(columns: StructType, key: str) -> str:
    if key not in columns.names:
        return "missing"
    data_type = columns[key].dataType
    if isinstance(data_type, StringType) and data_type.collation != _COLLATED:
        return (
            f"a string of collation {data_type.collation}, under which keys that look different may be equal"
        )
    return data_type.simpleString()


def is_made(spark: SparkSession, dataset: Dataset) -> bool:
    """Whether a table is there, whoever made it."""
    if is_catalog_name(dataset.state):
        return spark.catalog.tableExists(sql_name(dataset.state))
    # Not Spark's own question: it says yes of every folder inside a table, too.
    return deltalake.DeltaTable.is_deltatable(uri_of(dataset.state))


def create_state_table(spark: SparkSession, dataset: Dataset, columns: StructType, *, function: str) -> None:
    """Create the empty table whose rows will obey ``function``; does nothing where it exists."""
    builder = DeltaTable.createIfNotExists(spark)
    builder = (
        builder.tableName(sql_name(dataset.state))
        if is_catalog_name(dataset.state)
        else builder.location(dataset.state)
    )
    skipping = [quoted(name) for name in (dataset.key, dataset.event_time) if _has_bounds(columns, name)]
    kept = f"interval {dataset.undo_days} days"
    (
        builder.addColumns(columns)
        .addColumn("slot", "INT", generatedAlwaysAs=slot_expression(dataset.key, dataset.n_slots))
        .addColumn("bucket", "INT", nullable=False)
        .partitionedBy("bucket")
        .property("delta.enableDeletionVectors", "true")
        # The log alone says in which bucket a file lies: a flipped file must not claim another one.
        .property("delta.writePartitionColumnsToParquet", "false")
        .property("delta.dataSkippingStatsColumns", ",".join([*skipping, "slot"]))
        .property("delta.deletedFileRetentionDuration", kept)
        .property("delta.logRetentionDuration", f"interval {max(30, dataset.undo_days)} days")
        .property("delta.constraints.bucket_is_a_number", "bucket >= 0")
        .property(DATASET, dataset.name)
        .property(FUNCTION, function)
        .execute()
    )


def _has_bounds(columns: StructType, name: str) -> bool:
    """Whether Delta keeps a column's smallest and largest value of each file."""
    return name in columns.names and not isinstance(columns[name].dataType, BinaryType)


def text(value: str) -> str:
    """A text as a literal of Spark SQL."""
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"


@contextmanager
def user_metadata(spark: SparkSession, text: str) -> Iterator[None]:
    """Commits made inside carry this text in DESCRIBE HISTORY."""
    with _COMMITTING:
        spark.conf.set(_USER_METADATA, text)
        try:
            yield
        finally:
            spark.conf.unset(_USER_METADATA)
