"""For each bucket that stays above the goal: which item, which budget binds, and what would help."""

from dataclasses import dataclass

import numpy as np

from partitioning import measures
from partitioning.plan import Plan
from partitioning.remedies import Remedy, find_remedies, oversized_by_goal

FINER = "finer items: track more keys, or use more slots"


@dataclass(frozen=True, kw_only=True)
class HotBucket:
    """Why a bucket is still above the goal."""

    bucket: int
    load: float  # in mean loads
    heaviest_item: int | None  # its heaviest; None if all its load is gone
    heaviest_cost: float  # in mean loads
    binds: tuple[str, ...]  # of max_migration, max_routes, item, items, pins
    helps: tuple[str, ...]  # what would lower θ, each by itself

    def __str__(self) -> str:
        return (
            f"bucket {self.bucket} stays at {self.load:.4g} mean loads; what binds: {', '.join(self.binds)};"
            f" what would help: {'; '.join(self.helps) or 'nothing that was tried'}"
        )


def explain_hot_buckets(plan: Plan) -> tuple[HotBucket, ...]:
    """Buckets in use above (1 + θ_max) · mean after the plan, hottest first; empty if the goal is reached."""
    request = plan.request
    mean = measures.mean_load(request)
    if measures.is_within(plan.imbalance, request.budgets.max_imbalance) or mean <= 0:
        return ()
    limit = (1.0 + request.budgets.max_imbalance + measures.TOLERANCE) * mean
    load = np.where(request.is_live, plan.load, 0.0)
    hot = np.flatnonzero(load > limit)
    remedies = find_remedies(plan)
    return tuple(
        _explain(plan, int(bucket), remedies) for bucket in hot[np.argsort(-load[hot], kind="stable")]
    )


def _explain(plan: Plan, bucket: int, remedies: tuple[Remedy, ...]) -> HotBucket:
    request, mean = plan.request, measures.mean_load(plan.request)
    inside = np.flatnonzero(plan.owner == bucket)
    heaviest = int(inside[request.cost[inside].argmax()]) if inside.size else None
    has_oversized = bool(np.isin(oversized_by_goal(request), inside).any())
    apt = [remedy for remedy in remedies if has_oversized or remedy.binds != ("item",)]
    binds = dict.fromkeys(name for remedy in apt for name in remedy.binds)
    if has_oversized:
        binds = dict.fromkeys([*binds, "item"])
        binds.pop("items", None)
    return HotBucket(
        bucket=bucket,
        load=float(plan.load[bucket]) / mean,
        heaviest_item=heaviest,
        heaviest_cost=0.0 if heaviest is None else float(request.cost[heaviest]) / mean,
        binds=tuple(binds) or ("items",),
        helps=tuple(remedy.sentence for remedy in apt) or (FINER,),
    )
