"""Judge a stored plan by figures computed anew from the tables, before it may touch the state."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from partitioning.errors import PartitioningError
from partitioning.function import PartitioningFunction
from partitioning.function_json import text_of_key
from schemas.dataset import Dataset
from spark_jobs.control_tables import Row, load_function
from spark_jobs.expectations import judge, keep, stop_on_critical
from spark_jobs.item_stats import ItemStats, read_stats
from spark_jobs.job import Result, Task, run_job
from spark_jobs.plan_record import plan_checksum, read_plan
from spark_jobs.table_log import FUNCTION, properties_of

Buckets = tuple[NDArray[np.int64], NDArray[np.int64]]  # of each item, before and after


def validate_plan(task: Task) -> Result:
    row, moves, body = read_plan(task.dataset.name, task.plan)
    active = properties_of(task.dataset)[FUNCTION]
    facts = {
        "checksum_matches": plan_checksum(row, moves, body) == row["checksum"],
        "function_matches": _digest_of(body) == row["to_function"]
        and active in (row["from_function"], row["to_function"]),
        **_recompute(task, row, moves, body),
    }
    judgements = judge(facts, suite="plan", parameters={})
    keep(task, "plan", judgements)
    stop_on_critical(task, "plan", judgements)
    task.say(f"plan {task.plan} validated: {len(judgements)} expectations judged")
    return {"plan": task.plan, **facts}


def _digest_of(body: str) -> str:
    try:
        return PartitioningFunction.from_json(body).digest
    except PartitioningError:
        return ""


def _recompute(task: Task, row: Row, moves: list[Row], body: str) -> dict[str, Any]:
    """Figures from the window's statistics and the two functions alone; nothing the planner said is used."""
    stats = read_stats(task.dataset, task.window)
    before = load_function(task.dataset.name, row["from_function"])
    after = PartitioningFunction.from_json(body)
    buckets = stats.buckets(before), stats.buckets(after)
    return {
        "misplaced_moves": _misplaced(stats, buckets, moves),
        "keys_moved_twice": len(moves) - len({(move["kind"], move["slot"], move["key"]) for move in moves}),
        "routes_over_budget": _excess(after.n_routes, task.dataset.max_routes),
        "migration_over_budget": _migration_over_budget(stats, buckets, task.dataset),
        **_balance_facts(stats, buckets, after.n_buckets, row, task.dataset),
    }


def _misplaced(stats: ItemStats, buckets: Buckets, moves: list[Row]) -> int:
    """Moves must be just the items on which the two functions differ."""
    wanted = set()
    for position in np.flatnonzero(buckets[0] != buckets[1]).tolist():
        name = stats.name_of(position)
        places = int(buckets[0][position]), int(buckets[1][position])
        wanted.add((name["kind"], name["slot"], text_of_key(name["key"]), *places))
    fields = ("kind", "slot", "key", "from_bucket", "to_bucket")
    return len(wanted ^ {tuple(move[field] for field in fields) for move in moves})


def _excess(value: float, limit: float | None) -> float:
    return 0.0 if limit is None else max(0.0, value - limit)


def _migration_over_budget(stats: ItemStats, buckets: Buckets, dataset: Dataset) -> float:
    """As a share of all state."""
    total = float(stats.state.sum()) or 1.0
    share = float(stats.state[buckets[0] != buckets[1]].sum()) / total
    limit = dataset.max_migration
    return _excess(share, limit if limit is None or limit <= 1 else limit / total)


def _balance_facts(
    stats: ItemStats, buckets: Buckets, n_buckets: int, row: Row, dataset: Dataset
) -> dict[str, float]:
    before, after = (_theta(stats.cost, bucket, n_buckets) for bucket in buckets)
    return {
        "imbalance_gained": _excess(after, before),
        "prediction_error": abs(after - row["imbalance_after"]) + abs(before - row["imbalance_before"]),
        "imbalance_over_goal": _excess(after, dataset.max_imbalance),
    }


def _theta(cost: NDArray[np.float64], bucket: NDArray[np.int64], n_buckets: int) -> float:
    """θ, written out once more: validation shares no code with the planners."""
    loads = [float(cost[bucket == number].sum()) for number in range(n_buckets)]
    mean = sum(loads) / n_buckets
    return max(loads) / mean - 1.0 if mean else 0.0


if __name__ == "__main__":
    run_job(validate_plan, about=__doc__, needs=("window", "plan"))
