"""Judge a stored plan by figures computed anew from the tables, before it may touch the state."""

from dataclasses import replace
from typing import Any

from schemas.tables import FUNCTIONS, ITEM_STATS
from spark_jobs.control_tables import Row, read_one, read_rows
from spark_jobs.expectations import judge, keep, stop_on_critical
from spark_jobs.expected_cost import with_expected_cost
from spark_jobs.function_facts import changed_shape, is_true_to_itself, read_function, totality_facts
from spark_jobs.job import JobError, Result, Task, run_job
from spark_jobs.plan_facts import Evidence, plan_facts
from spark_jobs.plan_figures import Figures
from spark_jobs.plan_record import plan_checksum, read_plan
from spark_jobs.table_log import function_of, initial_function, properties_of


def validate_plan(task: Task) -> Result:
    """
    Raise unless the plan is what its own tables say it is. Nothing that a planner said is taken on trust.

    Of a plan that the table has already followed only checksum and functions are judged: ``applied`` is then true. The judgements
    that let it through stay on record.
    """
    row, moves, body = read_plan(task.dataset.name, task.plan)
    functions = {name: _function_row(task, row[name]) for name in ("from_function", "to_function")}
    active = function_of(properties_of(task.dataset), task.dataset)
    is_applied = active == row["to_function"] != row["from_function"]
    facts = {
        "checksum_matches": plan_checksum(row, moves, body) == row["checksum"],
        "wrong_functions": ", ".join(
            name for name, found in functions.items() if not is_true_to_itself(found)
        ),
        **totality_facts(body),
    }
    if not is_applied:
        facts |= {"table_matches": active == row["from_function"], **_recompute(task, row, moves, functions)}
    judgements = judge(facts, suite="plan", parameters={})
    if not is_applied:
        keep(task, "plan", judgements)
    stop_on_critical(task, "plan", judgements)
    task.say(
        f"plan {task.plan} has been applied already; its checksum and functions are right"
        if is_applied
        else f"plan {task.plan} validated: {len(judgements)} expectations judged"
    )
    return {"plan": task.plan, "applied": is_applied, **facts}


def _function_row(task: Task, digest: str) -> Row:
    return read_one(FUNCTIONS, dataset=task.dataset.name, function=digest)


def _recompute(task: Task, row: Row, moves: list[Row], functions: dict[str, Row]) -> dict[str, Any]:
    """What follows from the window's statistics and the two functions; nothing where one of them is no function."""
    before, after = (read_function(functions[name]) for name in ("from_function", "to_function"))
    if before is None or after is None:
        return {}
    shape = changed_shape([before, after], task.dataset)
    if shape or not 0 < row["n_buckets"] <= before.n_slots:
        return {"changed_shape": shape or "n_buckets"}
    figures = Figures(
        items=_items(task, row),
        before=before,
        after=after,
        by_hash=initial_function(replace(task.dataset, n_buckets=row["n_buckets"])),
        n_wanted=row["n_buckets"],
        n_windows=row["payback_windows"],
    )
    seen = Evidence(dataset=task.dataset, plan=row, moves=moves, figures=figures)
    return {"changed_shape": shape, **plan_facts(seen)}


def _items(task: Task, row: Row) -> list[Row]:
    """The statistics of the plan's own window, whatever window the run is about that applies it."""
    start = row["window_start"]
    items: list[Row] = read_rows(ITEM_STATS, dataset=task.dataset.name, window_start=start).to_pylist()
    if not items:
        raise JobError(
            f"item_stats must hold the plan's window {start}. Got no rows. Run profile_keys first."
        )
    return with_expected_cost(items, task.dataset.name, row)


if __name__ == "__main__":
    run_job(validate_plan, about=__doc__, needs=("window", "plan"))
