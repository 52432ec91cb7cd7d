"""How even the items can be for how much: θ at a range of migration budgets, and at a range of route budgets."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from partitioning.plan import Plan
from partitioning.planners.evenkeel import plan_evenkeel
from partitioning.planners.evenkeel.options import LIGHT
from partitioning.request import PlanRequest

MIGRATION_SHARES = (0.0, 0.01, 0.02, 0.05, 0.1, 0.2, None)
ROUTES_PER_BUCKET = (0, 1, 4, None)


@dataclass(frozen=True, kw_only=True)
class Point:
    """What one budget buys."""

    budget: float | None  # a share of all state, or routes; None is no limit
    imbalance: float  # θ that was reached
    migration: float  # state that moves for it
    n_routes: int


@dataclass(frozen=True, kw_only=True)
class Frontier:
    """From point to point θ never rises, as far as budgets can be kept: a plan for a smaller one is one for a larger."""

    by_migration: tuple[Point, ...]  # at 0, 1, 2, 5, 10, 20 % of all state and without limit
    by_routes: tuple[Point, ...]  # at 0, N, 4N routes and without limit


def trace_frontier(request: PlanRequest) -> Frontier:
    """
    Plans again for each budget, the other one as the request has it, as even as it will go: θ_max is not the goal here.
    Each plan looks less hard than one that is carried out (``options.LIGHT``): a point is within reach, and may not be the
    best.

    Where a limit is broken by standing still already (a full table, a bucket that goes away), the plan breaks it too, and
    the point says so by its migration and routes.
    """
    n_buckets = request.n_buckets
    by_migration = [_plan_with(request, max_migration=share) for share in MIGRATION_SHARES]
    limits = [None if factor is None else factor * n_buckets for factor in ROUTES_PER_BUCKET]
    by_routes = [_plan_with(request, max_routes=limit) for limit in limits]
    return Frontier(
        by_migration=_never_rising(MIGRATION_SHARES, by_migration), by_routes=_never_rising(limits, by_routes)
    )


def _plan_with(request: PlanRequest, **budget: float | None) -> Plan:
    budgets = replace(request.budgets, max_imbalance=0.0, target_imbalance=None, **budget)  # type: ignore[arg-type]
    return plan_evenkeel(replace(request, budgets=budgets), LIGHT)


def _never_rising(budgets: Sequence[float | None], plans: list[Plan]) -> tuple[Point, ...]:
    points: list[Point] = []
    best = plans[0]
    for budget, plan in zip(budgets, plans, strict=True):
        best = plan if plan.imbalance < best.imbalance or not best.within_budgets else best
        points.append(
            Point(budget=budget, imbalance=best.imbalance, migration=best.migration, n_routes=best.n_routes)
        )
    return tuple(points)
