"""Apply a validated plan to the state table: afterwards its rows obey the new function."""

import argparse

from spark_jobs.control_tables import load_function
from spark_jobs.function_change import MIGRATE, FunctionChange
from spark_jobs.job import JobError, Result, Task, run_job
from spark_jobs.movers import MOVERS
from spark_jobs.plan_record import plan_checksum, read_plan
from spark_jobs.table_log import moved_by


def migrate_layout(task: Task) -> Result:
    """
    Move what the plan moves. Refuses a plan that was edited, and one that starts from another function.

    Calling it again after it finished changes nothing; after it was killed, it finishes.
    """
    row, moves, body = read_plan(task.dataset.name, task.plan)
    if plan_checksum(row, moves, body) != row["checksum"]:
        raise JobError(
            f"plan {task.plan} must have the checksum it was made with. Got another: it was edited. Plan again."
        )
    change = FunctionChange(
        kind=MIGRATE,
        before=load_function(task.dataset.name, row["from_function"]),
        after=load_function(task.dataset.name, row["to_function"]),
        plan=task.plan,
    )
    return make_change(task, change)


def make_change(task: Task, change: FunctionChange) -> Result:
    """Let the mover take the table from one function to the other, and say what that took. ``version`` is that of the commit that moved the rows."""
    name = task.options.get("mover") or task.dataset.mover
    answer: Result = {"plan": change.plan, "function": change.after.digest}
    if task.options.get("dry_run"):
        found = MOVERS[name].preview(task.spark, task.dataset, change)
        task.say(f"would {foreseen(found)}; nothing was changed")
        return {**answer, "dry_run": True, **found}
    if change.before.digest != change.after.digest:
        MOVERS[name].move(task.spark, task.dataset, change)
    figures = moved_by(task.dataset, change.plan)
    task.say(
        f"{figures['rows_moved']:,} rows moved: {figures['files_flipped']:,} files flipped, {figures['files_rewritten']:,}"
        f" rewritten, {figures['bytes_written'] / 1e6:.2f} MB written"
    )
    return {**answer, **figures}


def foreseen(found: Result) -> str:
    """What the mover's preview found."""
    if "files_flipped" not in found:
        return f"write {found['rows_at_least']:,} to {found['rows_at_most']:,} rows anew and flip no file"
    return (
        f"flip {found['files_flipped']:,} files and rewrite {found['files_rewritten']:,} of"
        f" {found['bytes_to_rewrite'] / 1e6:.2f} MB"
    )


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--mover", choices=sorted(MOVERS), help="how rows move; the dataset's own if not given"
    )
    parser.add_argument("--dry-run", action="store_true", help="say what would move, and change nothing")


if __name__ == "__main__":
    run_job(migrate_layout, about=__doc__, needs=("plan",), takes=("window",), add_options=add_options)
