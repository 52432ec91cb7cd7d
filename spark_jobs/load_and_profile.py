"""Bring a window into the state table, then measure its keys: two steps that each can be repeated, one Spark start."""

from spark_jobs.job import Result, Task, run_job
from spark_jobs.load_window import load_window
from spark_jobs.profile_keys import profile_keys


def load_and_profile(task: Task) -> Result:
    return load_window(task) | profile_keys(task)


if __name__ == "__main__":
    run_job(load_and_profile, about=__doc__, needs=("window",))
