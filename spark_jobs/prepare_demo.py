"""Make the demo's first events, its state table, and load the windows before the first one that is planned on."""

from dataclasses import replace
from datetime import timedelta

from spark_jobs.create_layout import create_layout
from spark_jobs.generate_clicks import generate_clicks
from spark_jobs.job import Result, Task, Window, run_job
from spark_jobs.load_window import load_window


def prepare_demo(task: Task) -> Result:
    """``window`` spans the days before the dataset's start: they fill the state table."""
    day = timedelta(days=1)
    result = generate_clicks(task) | create_layout(task)
    start = task.window.start
    while start < task.window.end:
        load_window(replace(task, given_window=Window(start=start, end=start + day)))
        start += day
    return result


if __name__ == "__main__":
    run_job(prepare_demo, about=__doc__, needs=("window",))
