"""Bring a window into the state table, then measure its keys: two steps that each can be repeated, one Spark start."""

import argparse
import time

from spark_jobs.job import Result, Task, Work, run_job
from spark_jobs.load_window import load_window
from spark_jobs.profile_keys import profile_keys


def load_and_profile(task: Task) -> Result:
    """What both answer, how long each took, and how many tasks could run at the same time: what a row costs follows."""
    workers = task.spark.sparkContext.defaultParallelism  # starts Spark, which is no part of either's time
    is_dry = task.options.get("dry_run")
    loaded = {"rows": 0, "load_seconds": 0.0} if is_dry else _timed(load_window, task, "load_seconds")
    return loaded | _timed(profile_keys, task, "profile_seconds") | {"workers": workers}


def _timed(work: Work, task: Task, name: str) -> Result:
    began = time.monotonic()
    result = work(task)
    return {**result, name: round(time.monotonic() - began, 3)}


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--dry-run", action="store_true", help="measure only: the state table stays as it is")


if __name__ == "__main__":
    run_job(load_and_profile, about=__doc__, needs=("window",), add_options=add_options)
