"""
Take the state table back to the function it had before its last migration, or to any function it has a name for.

A migration like any other, by either mover, whatever rows have come in since. Run again, it changes nothing more.
"""

import argparse

from spark_jobs.control_tables import load_function
from spark_jobs.function_change import ROLL_BACK, FunctionChange
from spark_jobs.job import RefusalError, Result, Task, function_name, run_job
from spark_jobs.migrate_layout import add_options as add_mover
from spark_jobs.migrate_layout import make_change
from spark_jobs.table_log import PREVIOUS, function_of, properties_of


def roll_back_layout(task: Task) -> Result:
    properties = properties_of(task.dataset)
    function = function_of(properties, task.dataset)
    target = task.options.get("to") or properties.get(PREVIOUS)
    if target is None:
        raise RefusalError(
            f"{PREVIOUS} must name a function to go back to. Got none: {task.dataset.state} was never migrated. Name one"
            " with --to."
        )
    if not target:
        task.say(f"rolled back already, to {function[:12]}; --to leads elsewhere")
    change = FunctionChange(
        kind=ROLL_BACK,
        before=load_function(task.dataset.name, function),
        after=load_function(task.dataset.name, target or function),
    )
    return make_change(task, change)


def add_options(parser: argparse.ArgumentParser) -> None:
    add_mover(parser)
    parser.add_argument(
        "--to",
        type=function_name,
        help="digest of the function to go back to; the one before the last migration if not given",
    )


if __name__ == "__main__":
    run_job(roll_back_layout, about=__doc__, add_options=add_options)
