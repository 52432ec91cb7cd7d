"""Measure each key: the rows it caused in the window, and the state that would move with it."""

import pyarrow as pa
import pyarrow.compute as pc
from delta.tables import DeltaTable
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from schemas.tables import ITEM_STATS
from spark_jobs.control_tables import replace_rows
from spark_jobs.job import JobError, Result, Task, run_job
from spark_jobs.load_window import window_events
from spark_jobs.routing import quoted

MAX_KEYS = 2_000_000  # rows that may travel to the driver: about 200 MB there


def count_rows_per_key(frame: DataFrame, *, key: str, name: str) -> DataFrame:
    """One row a key. The NULL key is kept: it is often the hot one."""
    return frame.groupBy(F.col(quoted(key)).alias("key")).agg(F.count("*").alias(name))


def join_costs_and_state(costs: DataFrame, state: DataFrame, *, bytes_per_row: float) -> DataFrame:
    """Keys of the window and keys of the state table, side by side; what one lacks is 0."""
    both = costs.alias("c").join(state.alias("s"), F.col("c.key").eqNullSafe(F.col("s.key")), "full")
    has_cost = F.col("c.rows").isNotNull()
    return both.select(
        F.when(has_cost, F.col("c.key")).otherwise(F.col("s.key")).cast("string").alias("key"),
        F.coalesce("c.rows", F.lit(0)).cast("double").alias("cost"),
        (F.coalesce("s.state_rows", F.lit(0)) * F.lit(bytes_per_row)).alias("state"),
    )


def profile_keys(task: Task) -> Result:
    dataset, window = task.dataset, task.window
    state = task.spark.read.format("delta").load(dataset.state)
    costs = count_rows_per_key(window_events(task), key=dataset.key, name="rows")
    sizes = count_rows_per_key(state, key=dataset.key, name="state_rows")
    stats = join_costs_and_state(costs, sizes, bytes_per_row=_bytes_per_row(task, state))
    rows = _bring_home(task, stats)
    replace_rows(rows, ITEM_STATS, dataset=dataset.name, window_start=window.start)
    cost, held = (pc.sum(rows[column]).as_py() or 0.0 for column in ("cost", "state"))
    task.say(f"{rows.num_rows:,} keys caused {cost:,.0f} rows and hold {held / 1e6:,.1f} MB")
    return {"keys": rows.num_rows, "cost": cost, "state": held}


def _bring_home(task: Task, stats: DataFrame) -> pa.Table:
    """The statistics on the driver, in the order of the keys' text, at most MAX_KEYS of them."""
    rows = stats.orderBy("key").limit(MAX_KEYS + 1).toArrow()
    if rows.num_rows > MAX_KEYS:
        raise JobError(
            f"a window must have at most {MAX_KEYS:,} keys. Got more in {task.window.name}. Profile a coarser key."
        )
    return rows.append_column(
        "window_end", pa.array([task.window.end] * rows.num_rows, ITEM_STATS.columns["window_end"])
    )


def _bytes_per_row(task: Task, state: DataFrame) -> float:
    """The table's bytes over its rows: what a row weighs on disk."""
    n_rows = state.count()
    detail = DeltaTable.forPath(task.spark, task.dataset.state).detail().select("sizeInBytes").collect()
    return float(detail[0][0]) / n_rows if n_rows else 0.0


if __name__ == "__main__":
    run_job(profile_keys, about=__doc__)
