"""Plan a better function for the window's load, within the dataset's budgets."""

from dataclasses import replace
from typing import Any

import numpy as np

from partitioning import Budgets, Plan, PlanRequest, make_plan
from partitioning.function import PartitioningFunction
from partitioning.measures import load_per_bucket, overload
from schemas.tables import MOVES, PLANS
from spark_jobs.control_tables import Row, replace_rows, save_function
from spark_jobs.item_stats import KeyStats, read_stats, text_key
from spark_jobs.job import Result, Task, run_job
from spark_jobs.plan_record import plan_checksum, plan_name_of
from spark_jobs.table_log import current_function, initial_function


def plan_moves(task: Task) -> Result:
    """Write plan, moves and function, in that order of dependence backwards: what names a thing comes last."""
    function = current_function(task.dataset)
    items = _read_stats(task, function)
    plan = make_plan(_request(task, items, function), planner=task.dataset.planner)
    new_function = function.with_changes(routes=_new_buckets(items, plan))
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


def _read_stats(task: Task, function: PartitioningFunction) -> KeyStats:
    """
    The window's keys in the order of their text, then the routed keys that it did not see.

    A routed key that is left out would lose its route while rows of it may still arrive in its bucket.
    """
    stats = read_stats(task.dataset, task.window)
    unseen = sorted(set(function.routes) - set(stats.key), key=str)
    zeros = np.zeros(len(unseen))
    return KeyStats(
        key=[*stats.key, *unseen],
        cost=np.concatenate([stats.cost, zeros]),
        state=np.concatenate([stats.state, zeros]),
    )


def _request(task: Task, items: KeyStats, function: PartitioningFunction) -> PlanRequest:
    dataset = task.dataset
    return PlanRequest.of_keys(
        cost=items.cost,
        state=items.state,
        owner=function.buckets_of(items.key),
        home=replace(function, routes={}).buckets_of(items.key),
        n_buckets=function.n_buckets,
        budgets=Budgets(
            max_imbalance=dataset.max_imbalance,
            max_routes=dataset.max_routes,
            max_migration=dataset.max_migration,
        ),
    )


def _new_buckets(items: KeyStats, plan: Plan) -> dict[Any, int]:
    return {items.key[i]: int(plan.owner[i]) for i in plan.moved}


def _moves(items: KeyStats, plan: Plan) -> list[Row]:
    return [
        {
            "key": text_key(items.key[i]),
            "from_bucket": int(plan.request.owner[i]),
            "to_bucket": int(plan.owner[i]),
            "cost": float(items.cost[i]),
            "state": float(items.state[i]),
        }
        for i in plan.moved
    ]


def _plan_row(
    task: Task, items: KeyStats, plan: Plan, functions: tuple[PartitioningFunction, PartitioningFunction]
) -> Row:
    dataset, window, (before, after) = task.dataset, task.window, functions
    by_hash = initial_function(dataset).buckets_of(items.key)
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
        "n_routes": plan.n_routes,
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
    run_job(plan_moves, about=__doc__)
