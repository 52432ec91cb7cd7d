"""What moving one item, and nothing else, would do: to both buckets, to θ, and to the budgets."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from partitioning import Budgets
from partitioning.function import PartitioningFunction
from partitioning.measures import TOLERANCE, count_routes, imbalance, loads
from schemas.dataset import Dataset
from spark_jobs.balance import Balance

Facts = dict[str, Any]


@dataclass(frozen=True, kw_only=True, eq=False)
class Moving:
    """One item of a profiled window, to be moved."""

    dataset: Dataset
    function: PartitioningFunction
    balance: Balance
    position: int

    @property
    def source(self) -> int:
        return int(self.balance.request.owner[self.position])


def best_move(moving: Moving) -> Facts | None:
    """
    The bucket in use that would leave the load most even, ties to the lowest number; None if there is no other bucket.

    ``excess`` of a bucket is how far it is above the mean. ``binds`` says what stands against the move, in sentences.
    """
    request = moving.balance.request
    targets = [int(bucket) for bucket in np.flatnonzero(request.is_live) if bucket != moving.source]
    found = [_moved(moving, target) for target in targets]
    return min(found, key=lambda one: (one["imbalance"], one["excess_target"]), default=None)


def _moved(moving: Moving, target: int) -> Facts:
    request, balance = moving.balance.request, moving.balance
    owner = request.owner.copy()
    owner[moving.position] = target
    load = loads(request, owner)
    facts = {
        "from_bucket": moving.source,
        "to_bucket": target,
        "excess_source_before": balance.excess(float(balance.load[moving.source])),
        "excess_source": balance.excess(float(load[moving.source])),
        "excess_target_before": balance.excess(float(balance.load[target])),
        "excess_target": balance.excess(float(load[target])),
        "imbalance_before": balance.imbalance,
        "imbalance": imbalance(request, owner),
        "n_routes": moving.function.n_routes
        + count_routes(request, owner)
        - count_routes(request, request.owner),
        "migration": float(request.state[moving.position]),
    }
    return {**facts, "binds": list(_binds(facts, moving))}


def _binds(facts: Facts, moving: Moving) -> Iterator[str]:
    budgets: Budgets = moving.balance.request.budgets
    total = moving.balance.request.total_state
    if facts["imbalance"] >= facts["imbalance_before"] - TOLERANCE:
        yield "evenness: no bucket would make the load more even by this move alone"
    if budgets.max_routes is not None and facts["n_routes"] > budgets.max_routes:
        yield f"max_routes: {facts['n_routes']} routes would be needed, {budgets.max_routes} may be"
    if facts["migration"] > budgets.migration_limit(total):
        yield (
            f"max_migration: {facts['migration']:.0f} bytes would move, {budgets.migration_limit(total):.0f} may in one plan"
        )
