"""
Measure what the planner balances: the heavy keys one by one, all others as the total of their slot.

At most S slots, ``max_tracked_keys`` heavy keys and the keys that have a route or are split come to the driver, however many keys there are.
"""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark import inheritable_thread_target
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from partitioning.function import PartitioningFunction
from partitioning.function_json import text_of_key
from partitioning.hashing import slots_of
from schemas.dataset import Dataset
from schemas.tables import ITEM_STATS
from spark_jobs.control_tables import load_function, read_rows, replace_rows
from spark_jobs.data_files import DataFiles, collected
from spark_jobs.job import Result, Task, run_job
from spark_jobs.late_data import what_changed
from spark_jobs.layout_transaction import LayoutTransaction
from spark_jobs.load_window import window_events
from spark_jobs.routing import local_frame, slot_column, with_exception
from spark_jobs.slot_sizes import slot_bytes
from spark_jobs.sql_names import quoted
from spark_jobs.state_table import read_table

HEAVY = 0.1  # a key is heavy from this share of the tolerated overload of a bucket (Gedik's δ, scaled)


@dataclass(frozen=True, kw_only=True, eq=False)
class HeavyKeys:
    """Position i of each describes the same key; None is the NULL key."""

    key: list[Any]
    cost: NDArray[np.float64]


def profile_keys(task: Task) -> Result:
    dataset, window = task.dataset, task.window
    transaction = LayoutTransaction(task.spark, dataset)
    function = load_function(dataset.name, transaction.function)
    with ThreadPoolExecutor(max_workers=1) as beside:  # both are short, and wait more than they work
        summed = beside.submit(inheritable_thread_target(task.spark)(summed_files), transaction)
        heavy, cost_of_slot = measure_costs(window_events(task), dataset, function)
        files = summed.result()
    state_of_slot = slot_bytes(files, function)
    if may_move_keys(dataset, function) or np.any(files.low_slot < files.high_slot):
        state_of_key = _state_of_keys(task, files, function, heavy)
    else:
        state_of_key = _shared_by_cost(heavy, cost_of_slot, state_of_slot, function)
    rows = _item_rows(heavy, cost_of_slot, state_of_slot, state_of_key, function)
    identity = {"dataset": dataset.name, "window_start": window.start}
    changed = what_changed(read_rows(ITEM_STATS, **identity), rows)
    if changed:
        task.say(changed)
    ends = pa.array([window.end] * rows.num_rows, ITEM_STATS.columns["window_end"])
    replace_rows(rows.append_column("window_end", ends), ITEM_STATS, **identity)
    result: Result = {
        "heavy_keys": len(heavy.key),
        "slots": function.n_slots,
        "cost": float(cost_of_slot.sum()),
        "state": float(state_of_slot.sum()),
        "changed": changed,
    }
    task.say(
        f"{result['heavy_keys']:,} heavy keys and {function.n_slots:,} slots caused {result['cost']:,.0f} of cost and hold"
        f" {result['state'] / 1e6:,.1f} MB"
    )
    return result


# The window's cost


def measure_costs(
    events: DataFrame, dataset: Dataset, function: PartitioningFunction
) -> tuple[HeavyKeys, NDArray[np.float64]]:
    """
    The heavy keys with their cost, and the cost of each slot, heavy keys included.

    One aggregation by key, and one over its result: each heavy key stays, the others become one line a slot. A key is heavy from
    ``HEAVY · θ_max · mean`` on, and never with less than a fourth of ``1 / max_tracked_keys`` of all cost: so there cannot be more
    than four times ``max_tracked_keys`` of them to choose from, whatever comes.
    """
    cost = event_cost(dataset)
    total = events.agg(F.sum(cost)).first()
    total_cost = float(total[0] or 0.0) if total else 0.0
    share = max(HEAVY * dataset.max_imbalance / function.n_buckets, 0.25 / max(dataset.max_tracked_keys, 1))
    per_key = events.groupBy(F.col(quoted(dataset.key)).alias("key")).agg(F.sum(cost).alias("cost"))
    is_heavy = F.col("cost") >= F.lit(max(share * total_cost, 1e-300))
    # What has a route or is split is tracked however light it has become.
    is_tracked = is_heavy | F.col("is_exception")
    found = (
        with_exception(per_key, function, key="key")
        .groupBy(
            slot_column("key", function.n_slots).alias("slot"),
            is_tracked.alias("is_tracked"),
            F.when(is_tracked, F.col("key")).alias("key"),  # NULL for all others of the slot
        )
        .agg(F.sum("cost").alias("cost"))
        .toArrow()
    )
    cost_of_slot = np.zeros(function.n_slots)
    np.add.at(cost_of_slot, found["slot"].to_numpy(), found["cost"].to_numpy())
    return _heaviest(found.filter(found["is_tracked"]), dataset, function), cost_of_slot


def event_cost(dataset: Dataset) -> Column:
    """What one event costs: 1, or the dataset's own expression."""
    if dataset.cost is None:
        return F.lit(1.0)
    return F.expr(dataset.cost).cast("double")


def _heaviest(tracked: pa.Table, dataset: Dataset, function: PartitioningFunction) -> HeavyKeys:
    """All routed and split keys, and the heaviest others up to ``max_tracked_keys``; those that were not seen cost nothing."""
    seen = dict(zip(tracked["key"].to_pylist(), tracked["cost"].to_pylist(), strict=True))
    costs = {key: seen.get(key, 0.0) for key in function.exceptions}
    others = sorted(
        ((key, cost) for key, cost in seen.items() if key not in costs),
        key=lambda pair: (-pair[1], pair[0] is not None, str(pair[0])),
    )
    costs |= dict(others[: dataset.max_tracked_keys])
    return HeavyKeys(key=list(costs), cost=np.array(list(costs.values()), dtype=np.float64))


# The state


def may_move_keys(dataset: Dataset, function: PartitioningFunction) -> bool:
    """Whether a plan may move a key without its slot: not where no route is allowed and there is none."""
    return dataset.max_routes != 0 or bool(function.exceptions)


def _state_of_keys(
    task: Task, files: DataFiles, function: PartitioningFunction, heavy: HeavyKeys
) -> NDArray[np.float64]:
    """Bytes of each heavy key, by a read that the log prunes."""
    n_rows = max(int(np.maximum(files.rows, 0).sum()), 1)
    row_bytes = float(files.live_bytes.sum()) / n_rows
    rows_of_key = _rows_of_keys(task, function, heavy.key) if len(files) and heavy.key else {}
    return np.array([rows_of_key.get(key, 0) * row_bytes for key in heavy.key])


def _shared_by_cost(
    heavy: HeavyKeys,
    cost_of_slot: NDArray[np.float64],
    state_of_slot: NDArray[np.float64],
    function: PartitioningFunction,
) -> NDArray[np.float64]:
    """
    As much of its slot's bytes as each heavy key has of the slot's cost: an estimate, at the price of no read.

    Good enough where slots move whole and files are settled: a key and the rest of its slot move together, and their sum is exact.
    """
    slots = _slots_of_keys(heavy, function)
    return heavy.cost / np.maximum(cost_of_slot[slots], 1e-300) * state_of_slot[slots]


def summed_files(transaction: LayoutTransaction) -> DataFiles:
    """The table's files, those of one bucket and slot range taken together: as many rows as the layout has pieces."""
    pieces = ("bucket", "low_slot", "high_slot")
    sums = [F.sum(name).alias(name) for name in ("rows", "deleted_rows", "n_bytes")]
    return collected(transaction.file_frame().groupBy(*pieces).agg(F.min("action").alias("action"), *sums))


def _rows_of_keys(task: Task, function: PartitioningFunction, keys: list[Any]) -> dict[Any, int]:
    """How many rows each of these keys has in the state table; the slots of the keys prune files."""
    dataset = task.dataset
    slots = np.unique(slots_of(keys, dataset.key_type, function.n_slots)).tolist()
    wanted = local_frame(task.spark, {"__key": keys}, f"__key {dataset.key_type}")
    key = F.col(quoted(dataset.key))
    state = read_table(task.spark, dataset.state)
    counts = (
        state.where(F.col("slot").isin(slots))
        .join(F.broadcast(wanted), key.eqNullSafe(F.col("__key")))
        .groupBy(key.alias("key"))
        .count()
        .toArrow()
    )
    return dict(zip(counts["key"].to_pylist(), counts["count"].to_pylist(), strict=True))


def _slots_of_keys(heavy: HeavyKeys, function: PartitioningFunction) -> NDArray[np.int64]:
    return slots_of(heavy.key, function.key_type, function.n_slots) if heavy.key else np.empty(0, np.int64)


# What is stored


def _item_rows(
    heavy: HeavyKeys,
    cost_of_slot: NDArray[np.float64],
    state_of_slot: NDArray[np.float64],
    state_of_key: NDArray[np.float64],
    function: PartitioningFunction,
) -> pa.Table:
    """
    One row a slot, without its heavy keys, and one a heavy key; together they hold the whole state.

    Where mixed files made a slot look smaller than its heavy keys, the other slots give what it is missing.
    """
    slot_of_key = _slots_of_keys(heavy, function)
    tail_cost, tail_state = cost_of_slot.copy(), state_of_slot.copy()
    np.subtract.at(tail_cost, slot_of_key, heavy.cost)
    np.subtract.at(tail_state, slot_of_key, state_of_key)
    tail_cost, tail_state = np.maximum(tail_cost, 0.0), np.maximum(tail_state, 0.0)
    left = max(float(state_of_slot.sum() - state_of_key.sum()), 0.0)
    tail_state *= left / max(float(tail_state.sum()), 1.0)
    n_slots, n_keys = function.n_slots, len(heavy.key)
    return pa.table(
        {
            "kind": ["slot"] * n_slots + ["key"] * n_keys,
            "slot": pa.array(np.concatenate([np.arange(n_slots), slot_of_key]), pa.int32()),
            "key": pa.array([None] * n_slots + [text_of_key(key) for key in heavy.key], pa.string()),
            "cost": np.concatenate([tail_cost, heavy.cost]),
            "state": np.concatenate([tail_state, state_of_key]),
        }
    )


if __name__ == "__main__":
    run_job(profile_keys, about=__doc__, needs=("window",))
