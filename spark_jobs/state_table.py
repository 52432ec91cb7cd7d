"""The state table: the user's columns, ``slot`` generated from the key, ``bucket`` as partition column."""

from collections.abc import Iterator
from contextlib import contextmanager

from delta.tables import DeltaTable
from pyspark.sql import SparkSession
from pyspark.sql.types import StructType

from schemas.dataset import Dataset
from spark_jobs.job import JobError
from spark_jobs.routing import quoted, slot_expression
from spark_jobs.table_log import FUNCTION

_USER_METADATA = "spark.databricks.delta.commitInfo.userMetadata"


def create_state_table(spark: SparkSession, dataset: Dataset, columns: StructType, *, function: str) -> None:
    """Create the empty table whose rows will obey ``function``; does nothing where it exists."""
    key_type = columns[dataset.key].dataType.simpleString() if dataset.key in columns.names else "missing"
    if key_type != dataset.key_type:
        raise JobError(
            f"key.type must be the type of column {dataset.key!r} of the events. Got {dataset.key_type}, but the"
            f" column is {key_type}. Correct datasets/{dataset.name}.yaml."
        )
    builder = DeltaTable.createIfNotExists(spark).location(dataset.state).addColumns(columns)
    slot = slot_expression(dataset.key, dataset.n_slots)
    (
        builder.addColumn("slot", "INT", generatedAlwaysAs=slot)
        .addColumn("bucket", "INT", nullable=False)
        .partitionedBy("bucket")
        .property("delta.enableDeletionVectors", "true")
        .property(
            "delta.dataSkippingStatsColumns", f"{quoted(dataset.key)},{quoted(dataset.event_time)},slot"
        )
        .property(FUNCTION, function)
        .execute()
    )


def set_properties(spark: SparkSession, dataset: Dataset, **properties: str) -> None:
    settings = ", ".join(f"{text(name)} = {text(value)}" for name, value in properties.items())
    spark.sql(f"ALTER TABLE delta.{quoted(dataset.state)} SET TBLPROPERTIES ({settings})")


def text(value: str) -> str:
    """A text as a literal of Spark SQL."""
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"


@contextmanager
def user_metadata(spark: SparkSession, text: str) -> Iterator[None]:
    """Commits made inside carry this text in DESCRIBE HISTORY."""
    spark.conf.set(_USER_METADATA, text)
    try:
        yield
    finally:
        spark.conf.unset(_USER_METADATA)
