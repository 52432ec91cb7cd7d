"""Check the window's events before anything is planned on them."""

from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from spark_jobs.expectations import early_judge, judge, keep, stop_on_critical
from spark_jobs.job import Result, Task, run_job
from spark_jobs.load_window import window_events
from spark_jobs.routing import quoted


def facts_of(events: DataFrame, *, key: str) -> dict[str, Any]:
    """One pass over the window: its rows, its NULL keys, about how many keys."""
    column = F.col(quoted(key))
    row = events.agg(
        F.count("*").alias("rows"),
        F.count_if(column.isNull()).alias("null_keys"),
        F.approx_count_distinct(column).alias("keys"),
    ).first()
    return {} if row is None else row.asDict()


def check_window(task: Task) -> Result:
    limits = {"min_rows": task.dataset.min_rows}
    with early_judge() as pool:
        facts = facts_of(window_events(task), key=task.dataset.key)
        judgements = pool.submit(judge, facts, suite="window", parameters=limits).result()
    keep(task, "window", judgements)
    stop_on_critical(task, "window", judgements)
    task.say(f"{facts['rows']:,} events of about {facts['keys']:,} keys, {len(judgements)} expectations met")
    return facts


if __name__ == "__main__":
    run_job(check_window, about=__doc__, needs=("window",))
