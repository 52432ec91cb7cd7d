"""What a state table needs now and then: settle its files, then purge deleted rows and old files. One Spark start."""

from spark_jobs.job import Result, Task, run_job
from spark_jobs.purge_layout import add_options, purge_layout
from spark_jobs.settle_layout import settle_layout


def maintain_layout(task: Task) -> Result:
    """Each step commits by itself and can be stopped and run again; no row changes its bucket."""
    return {"settled": settle_layout(task), "purged": purge_layout(task)}


if __name__ == "__main__":
    run_job(maintain_layout, about=__doc__, add_options=add_options)
