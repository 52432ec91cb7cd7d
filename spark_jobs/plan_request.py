"""From a window's items and the table's function to a request for a planner, and from its answer to the next function."""

import numpy as np

from partitioning import Budgets, History, PaybackRule, PlanRequest
from partitioning.function import PartitioningFunction
from partitioning.split_plan import SplitPlan
from schemas.dataset import Dataset
from spark_jobs.item_stats import ItemStats

TARGET_SHARE = 0.75  # of max_imbalance, where the dataset names no target


def request_of(
    dataset: Dataset, items: ItemStats, function: PartitioningFunction, history: History
) -> PlanRequest:
    """
    Ask for ``dataset.n_buckets`` buckets, whatever the table has.

    More of them: slots follow the ring into the new ones as far as the budget lets them. Fewer: those that go are drained
    first, over as many windows as the budget needs; ``function_of`` takes them away once they are empty.
    """
    going = np.arange(dataset.n_buckets, function.n_buckets)
    grown = function.with_n_buckets(max(dataset.n_buckets, function.n_buckets))
    return PlanRequest.of_items(
        cost=items.cost,
        state=items.state,
        owner=items.buckets(function),
        home=items.homes(grown),
        home_before=items.homes(function),
        n_buckets=grown.n_buckets,
        n_buckets_before=function.n_buckets,
        drained=going,
        is_slot=items.is_slot,
        slot=items.slot_position,
        budgets=Budgets(
            max_imbalance=dataset.max_imbalance,
            target_imbalance=target_of(dataset),
            max_routes=dataset.max_routes,
            max_migration=dataset.max_migration,
        ),
        history=history,
        payback=PaybackRule(n_windows=dataset.payback_windows),
    )


def target_of(dataset: Dataset) -> float:
    """What a plan aims at: inside the limit that starts one, so that the next window's drift does not start another."""
    if dataset.target_imbalance is None:
        return TARGET_SHARE * dataset.max_imbalance
    return min(dataset.target_imbalance, dataset.max_imbalance)


def function_of(
    dataset: Dataset,
    items: ItemStats,
    function: PartitioningFunction,
    made: SplitPlan,
    *,
    row_id: tuple[str, ...] | None = None,
) -> PartitioningFunction:
    """Every slot, heavy key and part ends where the plan has it; all other keys follow their slots. ``items`` has each key whole."""
    plan = made.plan
    is_drained = not (plan.owner >= dataset.n_buckets).any()
    n_buckets = dataset.n_buckets if is_drained else plan.request.n_buckets
    slots = dict(enumerate(plan.owner[: items.n_slots].tolist()))
    owners = plan.owner[items.n_slots : items.slot.size].tolist()
    keys = {
        key: owner
        for position, (key, owner) in enumerate(zip(items.key, owners, strict=True), start=items.n_slots)
        if position not in made.parts
    }
    splits = {items.key[position - items.n_slots]: parts for position, parts in made.parts.items()}
    return function.with_n_buckets(n_buckets).with_changes(
        slots=slots, routes=keys, splits=splits, row_id=row_id
    )
