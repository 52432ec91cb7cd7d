"""
An independent judge of plans: every figure again, from the request and the owners alone, in plain Python.

Nothing here is imported from the code it judges, and there is no NumPy: one loop an idea, slow and obvious.
"""

import math
from dataclasses import dataclass
from typing import Any

SAME = 1e-9  # sums of floats in another order


@dataclass(frozen=True, kw_only=True)
class Facts:
    """What a placement amounts to."""

    imbalance: float
    migration: float
    n_routes: int
    n_undrained: int
    load: tuple[float, ...]
    moved: tuple[int, ...]


def facts(request: Any, owner: Any) -> Facts:
    """The figures of any placement of the request's items."""
    cost, state, before = request.cost.tolist(), request.state.tolist(), request.owner.tolist()
    capacity, drained = request.capacity.tolist(), set(request.drained.tolist())
    pinned = request.is_pinned.tolist()
    owner = [int(bucket) for bucket in owner]
    held: list[list[float]] = [[] for _ in capacity]
    for item, bucket in enumerate(owner):
        held[bucket].append(cost[item])
    in_use = [bucket for bucket in range(len(capacity)) if bucket not in drained]
    mean = math.fsum(cost) / math.fsum(capacity[bucket] for bucket in in_use)
    load = [math.fsum(costs) / size for costs, size in zip(held, capacity, strict=True)]
    hottest = max(load[bucket] for bucket in in_use)
    moved = [item for item, bucket in enumerate(owner) if bucket != before[item]]
    return Facts(
        imbalance=max(0.0, hottest / mean - 1) if mean > 0 else 0.0,
        migration=math.fsum(state[item] for item in moved),
        n_routes=sum(1 for item in range(len(owner)) if needs_route(request, owner, item)),
        n_undrained=sum(1 for item, bucket in enumerate(owner) if bucket in drained and not pinned[item]),
        load=tuple(load),
        moved=tuple(moved),
    )


def needs_route(request: Any, owner: list[int], item: int) -> bool:
    """A key whose bucket is neither its hash home nor, if its slot is placed too, its slot's bucket."""
    if request.is_slot[item]:
        return False
    slot = int(request.slot[item])
    home = int(request.home[item]) if slot == -1 else owner[slot]
    return bool(owner[item] != home)


def check_plan(plan: Any) -> Facts:
    """
    Raises AssertionError if a plan breaks a promise of ``make_plan``, or misstates a figure. Returns its facts.

    The promises: budgets, never worse than standing still, pins, nothing into drained buckets, bounds that bound.
    """
    request = plan.request
    now, still = facts(request, plan.owner), facts(request, request.start)
    _check_figures(plan, now)
    _check_budgets(request, now, still)
    _check_not_worse(request, now, still)
    _check_forbidden(request, plan.owner.tolist())
    assert plan.bounds.imbalance <= now.imbalance + SAME
    assert plan.bounds.migration <= now.migration * (1 + SAME) + SAME
    assert plan.bounds.routes <= now.n_routes
    return now


def migration_limit(request: Any) -> float:
    limit: float | None = request.budgets.max_migration
    if limit is None:
        return math.inf
    return limit if limit > 1 else limit * math.fsum(request.state.tolist()) * (1 + SAME)


def route_limit(request: Any) -> float:
    return math.inf if request.budgets.max_routes is None else float(request.budgets.max_routes)


def _check_figures(plan: Any, now: Facts) -> None:
    assert math.isclose(plan.imbalance, now.imbalance, abs_tol=SAME, rel_tol=SAME)
    assert math.isclose(plan.migration, now.migration, abs_tol=SAME, rel_tol=SAME)
    assert plan.n_routes == now.n_routes
    assert plan.figures.undrained == now.n_undrained
    assert tuple(plan.moved.tolist()) == now.moved
    assert all(
        math.isclose(a, b, rel_tol=SAME, abs_tol=SAME) for a, b in zip(plan.load, now.load, strict=True)
    )


def _check_budgets(request: Any, now: Facts, still: Facts) -> None:
    """Only what standing still breaks may stay broken, and by no more."""
    assert now.migration <= max(migration_limit(request), still.migration) * (1 + SAME), (
        "max_migration broken"
    )
    assert now.n_routes <= max(route_limit(request), still.n_routes), "max_routes broken"


def _check_not_worse(request: Any, now: Facts, still: Facts) -> None:
    """Fewer items to drain, or as many and no more imbalance; where standing still keeps the limits."""
    if still.migration > migration_limit(request) or still.n_routes > route_limit(request):
        return
    assert now.n_undrained <= still.n_undrained, "drained less than standing still"
    if now.n_undrained == still.n_undrained:
        goal = request.budgets.max_imbalance
        assert max(now.imbalance, goal) <= max(still.imbalance, goal) + SAME, "worse than standing still"


def _check_forbidden(request: Any, owner: list[int]) -> None:
    before, drained = request.owner.tolist(), set(request.drained.tolist())
    for item, bucket in enumerate(owner):
        if request.is_pinned[item] and before[item] < request.n_buckets:
            assert bucket == before[item], f"pinned item {item} moved"
        if bucket != before[item] and request.start[item] != bucket:
            assert bucket not in drained, f"item {item} moved into drained bucket {bucket}"
