"""Runs of the demo's Dags, in this process, by Airflow's own ``dag.test``."""

import subprocess
import time
from datetime import datetime
from typing import Any

from airflow.listeners import hookimpl
from airflow.sdk.execution_time.task_runner import RuntimeTaskInstance
from airflow.sdk.listener import get_listener_manager

from demo.console import Console
from schemas.dataset import ROOT, dataset_named

SENTENCES = {
    "check": "{rows:,} events",
    "profile": "{heavy_keys:,} heavy keys and {slots:,} slots hold {state:,.0f} bytes",
    "plan": "{verdict}, {n_moves} moves",
    "gate": "open",
    "migrate": "{rows_moved:,} rows moved: {files_flipped:,} files flipped, {bytes_written:,} bytes written",
    "roll_back": "{rows_moved:,} rows moved: {files_flipped:,} files flipped, {bytes_written:,} bytes written",
    "verify": "{files_flipped:,} flipped files and {rows_compared:,} rows compared, conserved: {conserved}",
    "report": "{outcome}: {report}",
    "list_runs": "{report}",
}


def prepare(console: Console, *, first: datetime, last: datetime) -> bool:
    """Make the first events and the state table with a plain spark-submit."""
    console.say("clicks: making events and the state table")
    console.begin_step("prepare")
    days = ["--window-start", first.isoformat(), "--window-end", last.isoformat()]
    job = str(ROOT / "spark_jobs" / "prepare_demo.py")
    done = subprocess.run(["spark-submit", job, "--dataset", "clicks", *days], check=False)
    console.end_step("done" if done.returncode == 0 else "FAILED")
    if done.returncode:
        console.say(f"Step prepare failed: {console.reason()}\nLog: {console.log}")
    return done.returncode == 0


def deliver(dataset: str, *, first: datetime, start: datetime, end: datetime, copies: int) -> None:
    """A day's events arrive."""
    from spark_jobs.generate_clicks import generate_clicks
    from spark_jobs.job import Task, Window

    options = {"first_day": first, "copies": copies}
    generate_clicks(
        Task(dataset=dataset_named(dataset), given_window=Window(start=start, end=end), options=options)
    )


def run_window(console: Console, dataset: str, start: datetime, end: datetime) -> dict[str, Any] | None:
    """Run the Dag over one window; its report's figures, or None if it came to no report."""
    from dags import rebalance_dags

    dag = vars(rebalance_dags)[f"rebalance__{dataset}"]
    window = {"window_start": start.isoformat(), "window_end": end.isoformat()}
    started = time.monotonic()
    watcher = _run(console, dag, end, {**window, "dry_run": False})
    if "report" not in watcher.results:
        return None
    return {**watcher.results["report"], "window": start, "seconds": time.monotonic() - started}


def roll_back(console: Console, dataset: str) -> bool:
    """Undo the last migration; whether that worked."""
    from dags import roll_back_dags

    console.say("roll back: the table returns to the function before its last migration")
    dag = vars(roll_back_dags)[f"roll_back__{dataset}"]
    return not _run(console, dag, None, {"dry_run": False}).failed


def _run(console: Console, dag: Any, logical_date: datetime | None, conf: dict[str, Any]) -> "Watcher":
    watcher = Watcher(console)
    listeners = get_listener_manager()
    listeners.add_listener(watcher)  # type: ignore[no-untyped-call]
    for task in dag.tasks:
        task.retries = 0  # a demo shows a failure at once
    try:
        dag.test(logical_date=logical_date, run_conf=conf)
    finally:
        listeners.clear()  # type: ignore[no-untyped-call]
    if watcher.failed:
        console.say(f"Step {watcher.failed} failed: {watcher.reason}\nLog: {console.log}")
    return watcher


class Watcher:
    """Airflow tells it when a task starts and ends; it tells the user."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self.failed = ""  # the first step that did
        self.reason = ""
        self.results: dict[str, Any] = {}

    @hookimpl
    def on_task_instance_running(self, task_instance: RuntimeTaskInstance) -> None:
        self.console.begin_step(task_instance.task_id)

    @hookimpl
    def on_task_instance_success(self, task_instance: RuntimeTaskInstance) -> None:
        result = task_instance.xcom_pull(task_ids=task_instance.task_id)
        self.results[task_instance.task_id] = result
        self.console.end_step(SENTENCES.get(task_instance.task_id, "done").format_map(result or {}))

    @hookimpl
    def on_task_instance_skipped(self, task_instance: RuntimeTaskInstance) -> None:
        result = task_instance.xcom_pull(task_ids=task_instance.task_id) or {}
        self.console.end_step(f"shut: {'; '.join(result.get('reasons', ['skipped']))}")

    @hookimpl
    def on_task_instance_failed(self, task_instance: RuntimeTaskInstance) -> None:
        if not self.failed:
            self.failed, self.reason = task_instance.task_id, self.console.reason()
        self.console.end_step("FAILED")
