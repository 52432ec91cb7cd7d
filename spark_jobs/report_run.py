"""Write what a run did: one row in ``runs`` and one HTML page."""

from pyarrow import fs

from schemas.dataset import warehouse
from schemas.tables import CHECKS, RUNS
from spark_jobs.control_tables import Row, read_rows, replace_rows
from spark_jobs.job import Result, Task, run_job
from spark_jobs.plan_record import read_plan
from spark_jobs.report_page import render_page
from spark_jobs.table_log import moved_by


def report_run(task: Task) -> Result:
    plan, moves, _ = read_plan(task.dataset.name, task.plan)
    window = {"dataset": task.dataset.name, "window_start": task.window.start}
    checks = read_rows(CHECKS, **window).to_pylist()
    run = _run_row(task, plan)
    page = f"{warehouse().rstrip('/')}/reports/{task.dataset.name}/{task.window.start:%Y-%m-%dT%H%M}.html"
    write_text(page, render_page(plan, run, moves, checks))
    replace_rows([{**run, "window_end": task.window.end, "report": page}], RUNS, **window)
    task.say(f"report at {page}")
    return {**run, "report": page}


def _run_row(task: Task, plan: Row) -> Row:
    moved = moved_by(task.dataset, plan["plan"])
    copied = (
        "plan",
        "verdict",
        "imbalance_hash",
        "imbalance_before",
        "imbalance_after",
        "n_routes",
        "n_moves",
    )
    return {
        **{name: plan[name] for name in copied},
        "migration": plan["migration"],
        "migration_share": plan["migration"] / plan["total_state"] if plan["total_state"] else 0.0,
        "rows_moved": moved["rows_moved"],
        "bytes_written": moved["bytes_written"],
    }


def write_text(uri: str, text: str) -> None:
    """Write a small file, in the place of an earlier one; a path without a scheme is local."""
    store, path = fs.FileSystem.from_uri(uri) if "://" in uri else (fs.LocalFileSystem(), uri)
    store.create_dir(path.rpartition("/")[0], recursive=True)
    with store.open_output_stream(path) as stream:
        stream.write(text.encode())


if __name__ == "__main__":
    run_job(report_run, about=__doc__, needs=("window", "plan"))
