"""Apply a validated plan to the state table: afterwards its rows obey the new function."""

from spark_jobs.job import JobError, Result, Task, run_job
from spark_jobs.merge_mover import move_rows
from spark_jobs.plan_record import plan_checksum, read_plan
from spark_jobs.table_log import FUNCTION, MOVING, moved_by, properties_of


def migrate_layout(task: Task) -> Result:
    """
    Move the plan's keys. Refuses a plan that was edited, and one that starts from another function.

    Calling it again after it finished changes nothing; after it was killed, it finishes.
    """
    row, moves, body = read_plan(task.dataset.name, task.plan)
    if plan_checksum(row, moves, body) != row["checksum"]:
        raise JobError(
            f"plan {task.plan} must have the checksum it was made with. Got another: it was edited. Plan again."
        )
    properties = properties_of(task.dataset)
    _refuse_stale(task, properties, from_function=row["from_function"], to_function=row["to_function"])
    if properties[FUNCTION] != row["to_function"] or properties.get(MOVING):
        move_rows(task.spark, task.dataset, plan=task.plan, to_function=row["to_function"])
    result = {
        "plan": task.plan,
        "function": row["to_function"],
        **moved_by(task.dataset, task.plan),
    }
    task.say(f"{result['rows_moved']:,} rows moved, {result['bytes_written'] / 1e6:.2f} MB written")
    return result


def _refuse_stale(task: Task, properties: dict[str, str], *, from_function: str, to_function: str) -> None:
    moving = properties.get(MOVING) or task.plan
    if moving != task.plan:
        raise JobError(
            f"{MOVING} must be empty or plan {task.plan}. Got plan {moving}, whose migration was interrupted."
            f" Run migrate_layout with plan {moving} first: it finishes."
        )
    if properties[FUNCTION] not in (from_function, to_function):
        raise JobError(
            f"plan {task.plan} must start from the table's function {properties[FUNCTION][:12]}. Got a plan from"
            f" {from_function[:12]}: the table has moved on. Plan again."
        )


if __name__ == "__main__":
    run_job(migrate_layout, about=__doc__, needs_plan=True)
