"""For each bucket that stays above the goal: which item, which budget binds, and what would help."""

from dataclasses import dataclass, replace

import numpy as np

from partitioning import measures
from partitioning.plan import Plan
from partitioning.planners.evenkeel import plan_evenkeel
from partitioning.planners.evenkeel.options import LIGHT


@dataclass(frozen=True, kw_only=True)
class HotBucket:
    """Why a bucket is still above the goal."""

    bucket: int
    load: float  # in mean loads
    heaviest_item: int | None  # its heaviest; None if all its load is gone
    heaviest_cost: float  # in mean loads
    binds: tuple[str, ...]  # of max_migration, max_routes, pins, item, items
    helps: tuple[str, ...]  # what would bring it down, each by itself

    def __str__(self) -> str:
        return (
            f"bucket {self.bucket} stays at {self.load:.4g} mean loads; what binds: {', '.join(self.binds)};"
            f" what would help: {'; '.join(self.helps) or 'nothing that was tried'}"
        )


@dataclass(frozen=True, kw_only=True)
class _Remedy:
    """A budget lifted, and what came of it."""

    budget: str
    plan: Plan

    def sentence(self, plan: Plan) -> str:
        if self.budget == "max_migration":
            more = max(0.0, self.plan.migration - _migration_limit(plan)) / (plan.request.total_state or 1.0)
            return f"+{more:.1%} of all state in max_migration reaches {self.plan.imbalance:.4g}"
        more = max(0.0, self.plan.n_routes - plan.request.budgets.route_limit())
        return f"+{more:.0f} routes in max_routes reach {self.plan.imbalance:.4g}"


def explain_hot_buckets(plan: Plan) -> tuple[HotBucket, ...]:
    """Buckets in use above (1 + θ_max) · mean after the plan, hottest first; empty if the goal is reached."""
    request = plan.request
    mean = measures.mean_load(request)
    if measures.is_within(plan.imbalance, request.budgets.max_imbalance) or mean <= 0:
        return ()
    limit = (1.0 + request.budgets.max_imbalance + measures.TOLERANCE) * mean
    load = np.where(request.is_live, plan.load, 0.0)
    hot = np.flatnonzero(load > limit)
    remedies = _remedies(plan)
    return tuple(
        _explain(plan, int(bucket), remedies) for bucket in hot[np.argsort(-load[hot], kind="stable")]
    )


def _remedies(plan: Plan) -> tuple[_Remedy, ...]:
    """Which budget, lifted by itself, gives a more even plan."""
    found = []
    for budget in ("max_migration", "max_routes"):
        if getattr(plan.request.budgets, budget) is None:
            continue
        budgets = replace(plan.request.budgets, **{budget: None})  # type: ignore[arg-type]
        lifted = plan_evenkeel(replace(plan.request, budgets=budgets), LIGHT)
        if lifted.imbalance < plan.imbalance - measures.TOLERANCE:
            found.append(_Remedy(budget=budget, plan=lifted))
    return tuple(found)


def _explain(plan: Plan, bucket: int, remedies: tuple[_Remedy, ...]) -> HotBucket:
    request, mean = plan.request, measures.mean_load(plan.request)
    inside = np.flatnonzero(plan.owner == bucket)
    heaviest = int(inside[request.cost[inside].argmax()]) if inside.size else None
    cost = 0.0 if heaviest is None else float(request.cost[heaviest]) / mean
    binds = [remedy.budget for remedy in remedies]
    helps = [remedy.sentence(plan) for remedy in remedies]
    if heaviest is not None and _is_oversized(plan, cost):
        binds.append("item")
        helps += _remedies_for_item(plan, heaviest, cost)
    if request.is_pinned[inside].any():
        binds.append("pins")
        helps.append(f"unpinning items of bucket {bucket}: {int(request.is_pinned[inside].sum())} are pinned")
    return HotBucket(
        bucket=bucket,
        load=float(plan.load[bucket]) / mean,
        heaviest_item=heaviest,
        heaviest_cost=cost,
        binds=tuple(binds) or ("items",),
        helps=tuple(helps) or ("finer items: track more keys, or use more slots",),
    )


def _is_oversized(plan: Plan, cost: float) -> bool:
    """Whether the item is above the goal in the widest bucket by itself."""
    widest = float(plan.request.capacity[plan.request.is_live].max())
    return not measures.is_within(cost / widest - 1.0, plan.request.budgets.max_imbalance)


def _remedies_for_item(plan: Plan, item: int, cost: float) -> list[str]:
    """Only splitting, more capacity or fewer buckets help an item that no bucket can hold."""
    request = plan.request
    level = 1.0 + request.budgets.max_imbalance
    n_parts = int(np.ceil(cost / level))
    remedies = [
        f"splitting item {item} into {n_parts} or more",
        f"a bucket of capacity {cost / level:.4g} for it",
    ]
    n_buckets = int(level * request.n_buckets / cost)
    if n_buckets >= 1:
        remedies.append(f"N = {n_buckets}")
    return remedies


def _migration_limit(plan: Plan) -> float:
    return plan.request.budgets.migration_limit(plan.request.total_state)
