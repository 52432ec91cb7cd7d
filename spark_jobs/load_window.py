"""Bring a window's events into the state table, each row in its key's bucket, and drop windows that expired."""

from datetime import datetime

from delta.tables import DeltaTable
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from schemas.dataset import Dataset
from spark_jobs.job import Result, Task, Window, run_job
from spark_jobs.routing import quoted, with_bucket
from spark_jobs.table_log import current_function


def window_events(task: Task) -> DataFrame:
    """The window's rows of the events table."""
    events = task.spark.read.format("delta").load(task.dataset.events)
    time = F.col(quoted(task.dataset.event_time))
    return events.where((time >= F.lit(task.window.start)) & (time < F.lit(task.window.end)))


def oldest_kept(dataset: Dataset, window: Window) -> datetime:
    """Rows before this moment have expired once ``window`` is loaded."""
    return window.end - dataset.keep_windows * (window.end - window.start)


def load_window(task: Task) -> Result:
    """
    Append the window exactly once, however often it is called, then delete what expired.

    Delta itself remembers that the window is in (a transaction identifier in the same commit as the rows).
    """
    dataset, window = task.dataset, task.window
    function = current_function(dataset)
    rows = with_bucket(window_events(task), function, key=dataset.key)
    (
        rows.repartitionById(function.n_buckets, "bucket")
        .sortWithinPartitions("bucket", quoted(dataset.key), quoted(dataset.event_time))
        .write.format("delta")
        .mode("append")
        .option(
            "txnAppId", f"evenkeel/load/{dataset.name}/{window.start.isoformat()}/{window.end.isoformat()}"
        )
        .option("txnVersion", 1)
        .save(dataset.state)
    )
    table = DeltaTable.forPath(task.spark, dataset.state)
    table.delete(F.col(quoted(dataset.event_time)) < F.lit(oldest_kept(dataset, window)))
    task.say(f"state holds {dataset.keep_windows} windows up to {window.end:%Y-%m-%d %H:%M}")
    return {"function": function.digest}


if __name__ == "__main__":
    run_job(load_window, about=__doc__)
