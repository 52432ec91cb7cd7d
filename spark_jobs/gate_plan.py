"""
Decide whether a plan may go on to the table. The answer is yes, or no with every reason.

No is nothing to worry about: nothing is needed, or not now. What a person must see fails instead, here or in another step.
"""

import argparse
from collections.abc import Iterator
from datetime import UTC, datetime

from partitioning.splits import concentration
from partitioning.verdict import BALANCED_ALREADY
from schemas.tables import CHECKS
from spark_jobs.control_tables import Row, load_function, read_rows
from spark_jobs.job import RefusalError, Result, Task, run_job
from spark_jobs.plan_record import read_plan
from spark_jobs.scorecard import forgive, why_paused
from spark_jobs.table_log import function_of, properties_of


def gate_plan(task: Task) -> Result:
    plan, _, _ = read_plan(task.dataset.name, task.plan)
    function = function_of(properties_of(task.dataset), task.dataset)
    is_applied = function == plan["to_function"] != plan["from_function"]
    if task.options.get("resume"):
        forgive(task.dataset)
    reasons = [] if is_applied else list(_reasons(task, plan, function))
    if task.options.get("dry_run"):
        can_be = "is applied already" if is_applied else "can be applied by its name"
        reasons.append(f"this is a dry run; plan {plan['plan']} {can_be}")
    task.say("the gate is open" if not reasons else f"the gate stays shut: {'; '.join(reasons)}")
    return {
        "plan": task.plan,
        "go": not reasons,
        "reasons": reasons,
        "dry_run": bool(task.options.get("dry_run")),
        "is_applied": is_applied,
    }


def _reasons(task: Task, plan: Row, function: str) -> Iterator[str]:
    if plan["from_function"] != function:
        yield _stale(task, plan, function)
    if not task.options.get("apply"):
        yield from _reasons_of_the_window(task)
        yield from _reasons_of_the_plan(task, plan)
        paused = why_paused(task.dataset)
        if paused:
            yield paused


def _stale(task: Task, plan: Row, function: str) -> str:
    """A plan that somebody asked to apply and that cannot be is an error; a run's own is made anew by the next run."""
    sentence = (
        f"plan {plan['plan']} must start from the table's function {function[:12]}. Got a plan from"
        f" {plan['from_function'][:12]}: the table has moved on"
    )
    if task.options.get("apply"):
        raise RefusalError(f"{sentence}. Plan again.")
    return sentence


def _reasons_of_the_window(task: Task) -> Iterator[str]:
    if task.window.end > datetime.now(UTC):
        yield f"the window is not over: it ends at {task.window.end.isoformat()}"
    checks = read_rows(CHECKS, dataset=task.dataset.name, subject="window", window_start=task.window.start)
    yield from (
        row["sentence"] for row in checks.to_pylist() if row["severity"] == "hold" and not row["success"]
    )


def _reasons_of_the_plan(task: Task, plan: Row) -> Iterator[str]:
    if plan["from_function"] == plan["to_function"]:
        said = (
            f"within max_imbalance {plan['max_imbalance']:g}"
            if plan["verdict"] == BALANCED_ALREADY
            else "and no plan within the budgets is better"
        )
        yield f"θ is {plan['imbalance_before']:.4f}, {said}"
    elif plan["cost_saved"] < plan["cost_spent"] and not (_is_resize(task, plan) or _only_joins(task, plan)):
        yield (
            f"the gain does not pay: {plan['cost_saved']:.6g} of cost saved over the next windows, {plan['cost_spent']:.6g}"
            " spent on moving"
        )


def _is_resize(task: Task, plan: Row) -> bool:
    """Another number of buckets is wanted, whatever it saves."""
    return bool(load_function(task.dataset.name, plan["from_function"]).n_buckets != plan["n_buckets"])


def _only_joins(task: Task, plan: Row) -> bool:
    """
    Rows of split keys are brought together, and no key is spread further: merging them is paid for in every window to come.

    What has cooled only lately is not joined by a plan that does not pay; ``partitioning.split_planning`` sees to that.
    """
    before, after = (
        load_function(task.dataset.name, plan[name]) for name in ("from_function", "to_function")
    )
    concentrations = [
        (concentration(before.parts_of(key)), concentration(after.parts_of(key)))
        for key in {**before.splits, **after.splits}
    ]
    return any(now > then for then, now in concentrations) and all(
        now >= then for then, now in concentrations
    )


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--dry-run", action="store_true", help="shut the gate, whatever the plan is worth")
    parser.add_argument(
        "--apply", action="store_true", help="the plan was named by hand: only staleness counts"
    )
    parser.add_argument("--resume", action="store_true", help="end a pause after ineffective plans")


if __name__ == "__main__":
    run_job(gate_plan, about=__doc__, needs=("window", "plan"), add_options=add_options)
