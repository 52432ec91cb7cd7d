"""Write what a run did, or why it did not: one row in ``runs``, one HTML page, and the page that lists them all."""

import argparse
import hashlib
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pages.reports import report_path
from pages.store import write_text
from schemas.tables import PLANS, RUNS
from spark_jobs.control_tables import Row, read_one, replace_rows
from spark_jobs.job import Result, Task, run_job
from spark_jobs.report_page import render_page
from spark_jobs.report_runs import write_index
from spark_jobs.run_facts import run_facts
from spark_jobs.run_outcome import Step, outcome_of
from spark_jobs.table_log import layout_commit, moved_by

_COPIED = (
    "plan",
    "verdict",
    "imbalance_hash",
    "imbalance_before",
    "imbalance_after",
    "n_routes",
    "n_moves",
    "migration",
)  # from the plan


def report_run(task: Task) -> Result:
    steps = [Step(**step) for step in task.options.get("steps") or ()]
    name = task.dataset.name
    page = report_path(name, page_name(task))
    run = {**_run_row(task, steps), "report": page}
    write_text(page, render_page(run_facts(task.dataset, run)))
    replace_rows([run], RUNS, dataset=name, run=run["run"])
    write_index(task.dataset)
    task.say(f"{run['outcome']}; report at {page}")
    times = {name: run[name].isoformat() for name in ("window_start", "window_end")}
    return {**run, **times}


def _run_row(task: Task, steps: Sequence[Step]) -> Row:
    plan = read_one(PLANS, dataset=task.dataset.name, plan=task.plan) if task.plan else None
    outcome = outcome_of(steps, is_applied=_is_applied(task, plan))
    moved = moved_by(task.dataset, task.plan) if plan else {}
    return {
        "run": task.run or task.window.name,
        "window_start": task.window.start,
        "window_end": task.window.end,
        "outcome": outcome.name,
        "reasons": list(outcome.reasons),
        **{name: plan[name] if plan else None for name in _COPIED},
        "migration_share": plan["migration"] / plan["total_state"] if plan and plan["total_state"] else None,
        "rows_moved": moved.get("rows_moved", 0),
        "bytes_written": moved.get("bytes_written", 0),
        "seconds": sum(step.seconds for step in steps),
        "start_seconds": sum(step.start_seconds for step in steps),
        "steps": json.dumps([step.timing for step in steps]),
    }


def _is_applied(task: Task, plan: Row | None) -> bool:
    return bool(plan and layout_commit(task.dataset, plan=plan["plan"]))


def page_name(task: Task) -> str:
    """A file's name for the run: readable, safe everywhere, and no other run's."""
    start = f"{task.window.start:%Y-%m-%dT%H%M}"
    if not task.run:
        return start
    plain = re.sub(r"[^A-Za-z0-9_-]+", "-", task.run)[:60]
    return f"{start}-{plain}-{hashlib.sha256(task.run.encode()).hexdigest()[:8]}"


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--steps", type=_steps, help="JSON file: what each step of the run came to")


def _steps(path: str) -> Any:
    try:
        return json.loads(Path(path).read_text())
    except (OSError, ValueError) as error:
        raise argparse.ArgumentTypeError(f"must be a JSON file. Got {path!r}: {error}.") from None


if __name__ == "__main__":
    run_job(report_run, about=__doc__, needs=("window",), takes=("plan",), add_options=add_options)
