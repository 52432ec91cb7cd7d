"""Bring a window into the state table, then measure its keys: two steps that each can be repeated, one Spark start."""

import argparse

from spark_jobs.job import Result, Task, run_job
from spark_jobs.load_window import load_window
from spark_jobs.profile_keys import profile_keys


def load_and_profile(task: Task) -> Result:
    loaded: Result = {} if task.options.get("dry_run") else load_window(task)
    return loaded | profile_keys(task)


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--dry-run", action="store_true", help="measure only: the state table stays as it is")


if __name__ == "__main__":
    run_job(load_and_profile, about=__doc__, needs=("window",), add_options=add_options)
