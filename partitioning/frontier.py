"""How even the items can be for how much: θ at a range of migration budgets, and at a range of route budgets."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from partitioning.budgets import Budgets
from partitioning.plan import Plan
from partitioning.planners.evenkeel import plan_evenkeel
from partitioning.planners.evenkeel.options import LIGHT
from partitioning.ranking import Limits
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


def trace_frontier(request: PlanRequest, *, known: Sequence[Plan] = ()) -> Frontier:
    """
    Plans again for each budget, the other one as the request has it, as even as it will go: θ_max is not the goal here.
    Each plan looks less hard than one that is carried out (``options.LIGHT``): a point is within reach, and may not be the
    best. Plans that are ``known`` and those of all other points count too where they keep the point's budgets, so that nothing
    on the page is more even for less.

    Where a limit is broken by standing still already (a full table, a bucket that goes away), the plan breaks it too, and
    the point says so by its migration and routes.
    """
    budgets = request.budgets
    limits = [None if factor is None else factor * request.n_buckets for factor in ROUTES_PER_BUCKET]
    by_migration = _plans(request, [replace(budgets, max_migration=share) for share in MIGRATION_SHARES])
    by_routes = _plans(request, [replace(budgets, max_routes=limit) for limit in limits])
    plans = [*(plan for _, plan in (*by_migration, *by_routes)), *known]
    return Frontier(
        by_migration=tuple(
            _point(share, *of, plans) for share, of in zip(MIGRATION_SHARES, by_migration, strict=True)
        ),
        by_routes=tuple(_point(limit, *of, plans) for limit, of in zip(limits, by_routes, strict=True)),
    )


def _plans(request: PlanRequest, budgets: Sequence[Budgets]) -> list[tuple[Limits, Plan]]:
    """A plan for each budget, smallest first; one that keeps a smaller budget is not looked for again."""
    found: list[tuple[Limits, Plan]] = []
    for budget in reversed(budgets):
        asked = replace(request, budgets=replace(budget, max_imbalance=0.0, target_imbalance=None))
        limits = Limits.of_request(asked)
        larger = found[-1][1] if found else None
        is_enough = larger is not None and limits.hold_for(larger.figures)
        found.append((limits, larger if larger and is_enough else plan_evenkeel(asked, LIGHT)))
    return found[::-1]


def _point(budget: float | None, limits: Limits, planned: Plan, plans: Iterable[Plan]) -> Point:
    """The most even of all plans that keep these limits, of equals the cheapest; the one made for them if none does."""
    inside = [plan for plan in plans if limits.hold_for(plan.figures)]
    best = min(
        inside, key=lambda plan: (plan.imbalance, plan.figures.undrained, plan.migration), default=planned
    )
    return Point(budget=budget, imbalance=best.imbalance, migration=best.migration, n_routes=best.n_routes)
