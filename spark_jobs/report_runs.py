"""Write the page that lists all runs of a dataset, and what has changed its table's function: migrations and roll backs."""

from deltalake import DeltaTable

from pages.reports import INDEX, report_path
from pages.store import write_text
from schemas.dataset import Dataset
from schemas.tables import RUNS
from spark_jobs.control_tables import read_rows
from spark_jobs.job import Result, Task, run_job
from spark_jobs.locations import uri_of
from spark_jobs.report_index import render_index
from spark_jobs.run_history import history_of
from spark_jobs.table_log import recent_changes


def report_runs(task: Task) -> Result:
    page = write_index(task.dataset)
    task.say(f"all runs at {page}")
    return {"report": page}


def write_index(dataset: Dataset) -> str:
    """Write the page in the place of the earlier one; its path."""
    page = report_path(dataset.name, INDEX)
    runs = read_rows(RUNS, dataset=dataset.name).to_pylist()
    changes = recent_changes(dataset) if DeltaTable.is_deltatable(uri_of(dataset.state)) else []
    write_text(page, render_index(dataset.name, runs, history_of(dataset.name), changes))
    return page


if __name__ == "__main__":
    run_job(report_runs, about=__doc__)
