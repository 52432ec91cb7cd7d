"""
Create a dataset's state table, bucketed, under the plain hash function.

Empty with the columns of the events, or, with --source, as a bucketed copy of an existing Delta or Parquet table, which is only
read. Does nothing where the table is there and complete; killed on the way, it finishes when it is run again.
"""

import argparse

from delta.tables import DeltaTable
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession

from schemas.places import is_catalog_name, locate, place_of
from spark_jobs.appending import append_rows, scanned_bytes
from spark_jobs.control_tables import save_function
from spark_jobs.feeds import event_locations, read_events
from spark_jobs.job import JobError, RefusalError, Result, Task, run_job
from spark_jobs.layout_transaction import LayoutTransaction, in_transaction
from spark_jobs.sql_names import quoted
from spark_jobs.state_table import check_columns, create_state_table, is_made
from spark_jobs.table_log import function_of, initial_function, properties_of


def create_layout(task: Task) -> Result:
    dataset, source = task.dataset, task.options.get("source")
    if source:
        _refuse_events(task, source)
    frame = read_source(task.spark, locate(source)) if source else read_events(task.spark, dataset)
    check_columns(dataset, frame.schema, of=source or "the events")
    if not is_made(task.spark, dataset):
        function = initial_function(dataset)
        save_function(dataset.name, function)  # before the table can name it
        create_state_table(task.spark, dataset, frame.schema, function=function.digest)
    # Refuses a table that somebody else made, long ago or just now.
    digest = function_of(properties_of(dataset), dataset)
    rows = in_transaction(task.spark, dataset, lambda change: _copy(change, frame, source)) if source else 0
    task.say(f"state table at {dataset.state}, {rows:,} rows copied")
    return {"state": dataset.state, "function": digest, "rows": rows}


def _refuse_events(task: Task, source: str) -> None:
    if task.dataset.rows_per_key == "many" and place_of(locate(source)) in event_locations(
        task.spark, task.dataset
    ):
        field = "those of feeds" if task.dataset.feeds else "events.table"
        raise RefusalError(
            f"--source must be another table than {field}. Got {source} for both: its windows are loaded by the Dag, and would be"
            " there twice. Leave --source out, and backfill the windows that you want."
        )


def read_source(spark: SparkSession, source: str) -> DataFrame:
    """An existing table: Delta if it is one, otherwise Parquet."""
    if is_catalog_name(source):
        return spark.table(".".join(map(quoted, source.split("."))))
    if DeltaTable.isDeltaTable(spark, source):
        return spark.read.format("delta").load(source)
    try:
        return spark.read.parquet(source)
    except AnalysisException:  # nothing there, or nothing that has columns
        raise JobError(
            f"--source must be a Delta table or a folder of Parquet files. Got neither at {source}. Give its path (a relative one"
            " begins in the warehouse), its URI or its catalog name."
        ) from None


def _copy(transaction: LayoutTransaction, frame: DataFrame, source: str) -> int:
    """Copy the rows, once, each slot that is worth it into a file of its own: what is adopted begins settled."""
    mark = f"evenkeel/adopt/{transaction.dataset.name}"
    if transaction.is_marked(mark):
        return 0
    if not transaction.file_frame().isEmpty():
        raise JobError(
            f"state.table must be empty to take over {source}. Got rows in {transaction.dataset.state}. Name another"
            " state table, or leave --source out."
        )
    by_key = (quoted(transaction.dataset.key),)
    written = append_rows(transaction, frame, sort_by=by_key, n_bytes=scanned_bytes(frame))
    transaction.mark(mark)
    transaction.commit({"evenkeel": "adopt", "source": source, "rows": written.rows})
    return written.rows


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--source", help="a Delta or Parquet table to copy: path, URI or catalog name")


if __name__ == "__main__":
    run_job(create_layout, about=__doc__, add_options=add_options)
