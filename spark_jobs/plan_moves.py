"""Plan a better function for the window's load, within the dataset's budgets."""

from partitioning import Budgets, Plan, PlanRequest, make_plan
from partitioning.function import PartitioningFunction
from partitioning.function_json import text_of_key
from partitioning.measures import load_per_bucket, overload
from schemas.tables import MOVES, PLANS
from spark_jobs.control_tables import Row, replace_rows, save_function
from spark_jobs.item_stats import ItemStats, read_stats
from spark_jobs.job import Result, Task, run_job
from spark_jobs.plan_record import plan_checksum, plan_name_of
from spark_jobs.table_log import current_function, initial_function


def plan_moves(task: Task) -> Result:
    """Write plan, moves and function, in that order of dependence backwards: what names a thing comes last."""
    function = current_function(task.dataset)
    items = read_stats(task.dataset, task.window)
    plan = make_plan(_request(task, items, function), planner=task.dataset.planner)
    new_function = _new_function(function, items, plan)
    moves = _moves(items, plan)
    row = _plan_row(task, items, plan, (function, new_function))
    row["checksum"] = plan_checksum(row, moves, new_function.to_json())
    save_function(task.dataset.name, new_function)
    _write(task, row, moves)
    task.say(f"plan {row['plan']}: {plan.verdict}, θ {row['imbalance_before']:.3f} → {plan.imbalance:.3f}")
    return {
        "plan": row["plan"],
        "verdict": plan.verdict,
        "n_moves": len(moves),
        "reasons": list(plan.reasons),
    }


def _request(task: Task, items: ItemStats, function: PartitioningFunction) -> PlanRequest:
    dataset = task.dataset
    return PlanRequest.of_items(
        cost=items.cost,
        state=items.state,
        owner=items.buckets(function),
        home=items.homes(function),
        n_buckets=function.n_buckets,
        is_slot=items.is_slot,
        slot=items.slot_position,
        budgets=Budgets(
            max_imbalance=dataset.max_imbalance,
            max_routes=dataset.max_routes,
            max_migration=dataset.max_migration,
        ),
    )


def _new_function(function: PartitioningFunction, items: ItemStats, plan: Plan) -> PartitioningFunction:
    """Every heavy key ends where the plan has it, whether or not its slot moves; all other keys follow their slots."""
    slots = {int(i): int(plan.owner[i]) for i in plan.moved if i < items.n_slots}
    keys = dict(zip(items.key, plan.owner[items.n_slots :].tolist(), strict=True))
    return function.with_changes(slots=slots, routes=keys)


def _moves(items: ItemStats, plan: Plan) -> list[Row]:
    named = [(items.name_of(int(i)), int(i)) for i in plan.moved]
    return [
        {
            **name,
            "key": text_of_key(name["key"]),
            "from_bucket": int(plan.request.owner[i]),
            "to_bucket": int(plan.owner[i]),
            "cost": float(items.cost[i]),
            "state": float(items.state[i]),
        }
        for name, i in named
    ]


def _plan_row(
    task: Task, items: ItemStats, plan: Plan, functions: tuple[PartitioningFunction, PartitioningFunction]
) -> Row:
    dataset, window, (before, after) = task.dataset, task.window, functions
    by_hash = items.buckets(initial_function(dataset))
    load_before = load_per_bucket(items.cost, plan.request.owner, plan.request.n_buckets)
    budgets = (dataset.max_imbalance, dataset.max_routes, dataset.max_migration)
    return {
        "dataset": dataset.name,
        "plan": plan_name_of(
            dataset.name, window.start, before.digest, after.digest, dataset.planner, budgets
        ),
        "window_start": window.start,
        "window_end": window.end,
        "from_function": before.digest,
        "to_function": after.digest,
        "planner": dataset.planner,
        "max_imbalance": float(dataset.max_imbalance),
        "max_routes": dataset.max_routes,
        "max_migration": None if dataset.max_migration is None else float(dataset.max_migration),
        "imbalance_hash": overload(load_per_bucket(items.cost, by_hash, dataset.n_buckets)),
        "imbalance_before": overload(load_before),
        "imbalance_after": plan.imbalance,
        "load_before": load_before.tolist(),
        "load_after": plan.load.tolist(),
        "n_routes": after.n_routes,
        "n_moves": int(plan.moved.size),
        "migration": plan.migration,
        "total_state": plan.request.total_state,
        "bound_imbalance": plan.bounds.imbalance,
        "bound_migration": plan.bounds.migration,
        "verdict": plan.verdict,
        "reasons": list(plan.reasons),
    }


def _write(task: Task, row: Row, moves: list[Row]) -> None:
    identity = {"dataset": task.dataset.name, "plan": row["plan"]}
    replace_rows(moves, MOVES, **identity)
    replace_rows([row], PLANS, **identity)


if __name__ == "__main__":
    run_job(plan_moves, about=__doc__, needs=("window",))
