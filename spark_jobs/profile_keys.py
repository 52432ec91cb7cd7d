"""Measure each key: the rows it caused in the window, and the state that would move with it."""

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from schemas.tables import ITEM_STATS
from spark_jobs.control_tables import replace_rows
from spark_jobs.job import JobError, Result, Task, run_job
from spark_jobs.load_window import window_events
from spark_jobs.routing import quoted
from spark_jobs.table_log import bytes_per_row

MAX_KEYS = 2_000_000  # rows that may travel to the driver: about 200 MB there


def count_per_key(events: DataFrame, state: DataFrame, *, key: str, row_bytes: float) -> DataFrame:
    """
    One row a key of the window or the state table: the rows it caused, and the bytes it holds.

    One aggregation over both, so that a key lies in one task only once. The NULL key is kept: it is often the hot one.
    """
    column = F.col(quoted(key)).alias("key")
    caused = events.select(column, F.lit(1.0).alias("cost"), F.lit(0.0).alias("state"))
    held = state.select(column, F.lit(0.0).alias("cost"), F.lit(row_bytes).alias("state"))
    totals = (
        caused.unionAll(held).groupBy("key").agg(F.sum("cost").alias("cost"), F.sum("state").alias("state"))
    )
    return totals.withColumn("key", F.col("key").cast("string"))


def profile_keys(task: Task) -> Result:
    dataset, window = task.dataset, task.window
    state = task.spark.read.format("delta").load(dataset.state)
    stats = count_per_key(window_events(task), state, key=dataset.key, row_bytes=bytes_per_row(dataset))
    rows = _bring_home(task, stats)
    replace_rows(rows, ITEM_STATS, dataset=dataset.name, window_start=window.start)
    cost, held = (pc.sum(rows[column]).as_py() or 0.0 for column in ("cost", "state"))
    task.say(f"{rows.num_rows:,} keys caused {cost:,.0f} rows and hold {held / 1e6:,.1f} MB")
    return {"keys": rows.num_rows, "cost": cost, "state": held}


def _bring_home(task: Task, stats: DataFrame) -> pa.Table:
    """The statistics on the driver, at most MAX_KEYS of them."""
    rows = stats.limit(MAX_KEYS + 1).toArrow()
    if rows.num_rows > MAX_KEYS:
        raise JobError(
            f"a window must have at most {MAX_KEYS:,} keys. Got more in {task.window.name}. Profile a coarser key."
        )
    return rows.append_column(
        "window_end", pa.array([task.window.end] * rows.num_rows, ITEM_STATS.columns["window_end"])
    )


if __name__ == "__main__":
    run_job(profile_keys, about=__doc__)
