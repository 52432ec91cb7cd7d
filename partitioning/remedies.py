"""
What would bring a plan's hottest bucket down. Nothing is said that was not tried: each remedy is planned with, and its sentence
says the θ that came of it.

Amounts are rounded up to what the sentence prints before they are tried. "+7.2% of all state" is what 7.14 % takes: with 7.1 % the
last move would not fit.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from partitioning import measures
from partitioning.bounds_crowding import bound_imbalance
from partitioning.budgets import Budgets
from partitioning.parting import PartedRequest
from partitioning.plan import Plan
from partitioning.planners.evenkeel import plan_evenkeel
from partitioning.planners.evenkeel.options import LIGHT
from partitioning.request import PlanRequest
from partitioning.splits import N_GRAINS, even_weights

SHARE_STEP = 0.001  # of all state: what a sentence rounds up to
CAPACITY_DIGITS = 3  # after the point
MORE_PARTS = (1.0, 1.5, 2.0, 4.0)  # times the fewest of which none is too heavy
WORTH_PARTS = 0.01  # of θ: what more parts must gain
MAX_COUNTS = 3  # numbers of buckets tried
MAX_SEARCHED = 2_000  # items up to which a remedy is tried as thoroughly as it would be planned


@dataclass(frozen=True, kw_only=True)
class Remedy:
    """One thing that helps, and what it is that binds without it."""

    binds: tuple[str, ...]  # of max_migration, max_routes, item, items, pins
    sentence: str
    imbalance: float  # θ with it


def oversized_by_goal(request: PlanRequest) -> NDArray[np.int64]:
    """Positions of items that are above the goal in the widest bucket by themselves, heaviest first."""
    limit = _level(request) * float(request.capacity[request.is_live].max())
    heavy = np.flatnonzero(request.cost > limit * (1 + measures.TOLERANCE))
    return heavy[np.argsort(-request.cost[heavy], kind="stable")]


def find_remedies(plan: Plan) -> tuple[Remedy, ...]:
    """All that was found to lower θ of this plan: budgets first, then the items, the buckets and the pins."""
    found = [*_budget_remedies(plan), *_item_remedies(plan), *_count_remedies(plan), *_pin_remedies(plan)]
    return tuple(remedy for remedy in found if _helps(plan, remedy.imbalance))


def _level(request: PlanRequest) -> float:
    return (1.0 + request.budgets.max_imbalance) * measures.mean_load(request)


def _helps(plan: Plan, imbalance: float) -> bool:
    return imbalance < plan.imbalance - measures.TOLERANCE


def _quick(request: PlanRequest) -> Plan:
    return plan_evenkeel(request, LIGHT)


def _reached(request: PlanRequest) -> float:
    """θ that ``make_plan`` comes to or is below; with very many items one that a quick look finds."""
    return (plan_evenkeel(request) if request.n_items <= MAX_SEARCHED else _quick(request)).imbalance


# --- budgets -----------------------------------------------------------------------------------------------


def _budget_remedies(plan: Plan) -> Iterator[Remedy]:
    """Each budget by itself; both together only where neither helps alone."""
    limited = [
        name for name in ("max_migration", "max_routes") if getattr(plan.request.budgets, name) is not None
    ]
    alone = [remedy for name in limited if (remedy := _raised(plan, (name,)))]
    both = _raised(plan, tuple(limited)) if len(limited) > 1 and not alone else None
    yield from [*alone, *([both] if both else [])]


def _raised(plan: Plan, names: tuple[str, ...]) -> Remedy | None:
    """These budgets as high as a plan without them takes; None if that does not help."""
    request, budgets = plan.request, plan.request.budgets
    without = replace(budgets, **dict.fromkeys(names))  # type: ignore[arg-type]
    lifted = _quick(replace(request, budgets=without))
    if not _helps(plan, lifted.imbalance):
        return None
    more, said = {}, []
    if "max_migration" in names:
        steps = _steps_up((lifted.migration - _migration_limit(request)) / (request.total_state or 1.0))
        more["max_migration"] = _migration_limit(request) + steps * SHARE_STEP * request.total_state
        said.append(f"+{steps * SHARE_STEP:.1%} of all state in max_migration")
    if "max_routes" in names:
        routes = max(1, int(lifted.n_routes - budgets.route_limit()))
        more["max_routes"] = int(budgets.route_limit()) + routes
        said.append(f"+{routes} routes in max_routes")
    theta = _reached(replace(request, budgets=_with(request, more)))
    return Remedy(binds=names, sentence=f"{' and '.join(said)} {_reach(said, theta)}", imbalance=theta)


def _steps_up(share: float) -> int:
    return max(1, math.ceil(share / SHARE_STEP - measures.TOLERANCE))


def _with(request: PlanRequest, more: dict[str, float]) -> Budgets:
    """The budgets with these limits, migration as a share: an amount up to 1 would be taken for one."""
    budgets = request.budgets
    if "max_migration" in more:
        share = more["max_migration"] / request.total_state if request.total_state else 1.0
        budgets = replace(budgets, max_migration=min(1.0, share))
    return replace(budgets, max_routes=int(more["max_routes"])) if "max_routes" in more else budgets


def _unlimited(budgets: Budgets) -> Budgets:
    return replace(budgets, max_migration=None, max_routes=None)


def _migration_limit(request: PlanRequest) -> float:
    return request.budgets.migration_limit(request.total_state)


def _reach(said: list[str], theta: float) -> str:
    is_one = len(said) == 1 and said[0].endswith("max_migration")
    return f"{'reaches' if is_one else 'reach'} {theta:.4g}"


# --- items that no bucket can hold -----------------------------------------------------------------------------


def _item_remedies(plan: Plan) -> Iterator[Remedy]:
    """Splitting all of them, or capacity where it is one."""
    heavy = oversized_by_goal(plan.request)
    if heavy.size == 0:
        return
    if not plan.request.is_slot[heavy].any():
        yield _split(plan, heavy)
    if heavy.size == 1:
        yield from _widened(plan, int(heavy[0]))


def _split(plan: Plan, heavy: NDArray[np.int64]) -> Remedy:
    """The fewest parts that reach the goal, or of those tried the ones that reach most; within the budgets, or without."""
    free = replace(plan.request, budgets=_unlimited(plan.request.budgets))
    tried = [_parts(plan.request, heavy, more) for more in MORE_PARTS]
    parts = _first_at_goal(free, tried)
    said = "splitting " + " and ".join(f"item {item} into {n}" for item, n in parts.items())
    theta = _reached(_cut(plan.request, parts))
    if _helps(plan, theta):
        return Remedy(binds=("item",), sentence=f"{said} reaches {theta:.4g}", imbalance=theta)
    theta = _reached(_cut(free, parts))
    said += f" reaches {theta:.4g} without max_migration and max_routes"
    return Remedy(binds=("item",), sentence=said, imbalance=theta)


def _parts(request: PlanRequest, heavy: NDArray[np.int64], more: float) -> dict[int, int]:
    """For each item ``more`` times the fewest parts of which none is above the goal."""
    limit = _level(request) * float(request.capacity[request.is_live].max())
    fewest = {item: math.ceil(float(request.cost[item]) / limit) for item in heavy.tolist()}
    return {item: min(N_GRAINS, math.ceil(more * n)) for item, n in fewest.items()}


def _first_at_goal(request: PlanRequest, tried: list[dict[int, int]]) -> dict[int, int]:
    """The first that a quick look finds to reach the goal, else the one that comes closest."""
    best, least = tried[0], math.inf
    for parts in tried:
        theta = max(_quick(_cut(request, parts)).imbalance, request.budgets.max_imbalance)
        if theta < least - WORTH_PARTS:
            best, least = parts, theta
        if measures.is_within(theta, request.budgets.max_imbalance):
            break
    return best


def _cut(request: PlanRequest, parts: dict[int, int]) -> PlanRequest:
    cut = {item: tuple(even_weights(n)) for item, n in parts.items()}
    return PartedRequest(whole=request, today={}, cut=cut).request


def _widened(plan: Plan, item: int) -> Iterator[Remedy]:
    """
    A wider bucket for the one item. Capacity makes the mean fall, so it takes more than the item is too heavy by.

    Worked: costs 12, 2, 2 in three buckets, θ_max 0.08. With capacity c the item has load 12 / c and the mean is 16 / (2 + c): 12 / c
    ≤ 1.08 · 16 / (2 + c) from c = 4.55 on.
    """
    request = plan.request
    bucket = int(plan.owner[item])
    others = float(request.capacity[request.is_live].sum() - request.capacity[bucket])
    cost, total = float(request.cost[item]), float(request.cost.sum())
    room = (1.0 + request.budgets.max_imbalance) * total - cost
    if room <= 0 or others <= 0:
        return
    scale = 10**CAPACITY_DIGITS
    capacity = request.capacity.copy()
    capacity[bucket] = math.ceil(cost * others / room * scale) / scale
    theta = _reached(replace(request, capacity=capacity))
    said = f"capacity {capacity[bucket]:.{CAPACITY_DIGITS}f} for bucket {bucket} reaches {theta:.4g}"
    yield Remedy(binds=("item",), sentence=said, imbalance=theta)


# --- another number of buckets, and pins ----------------------------------------------------------------------


def _count_remedies(plan: Plan) -> Iterator[Remedy]:
    """The nearest number of like buckets whose goal is within reach, whatever moves for it."""
    request, goal = plan.request, plan.request.budgets.max_imbalance
    if not request.is_plain or measures.is_within(plan.bounds.imbalance, goal) or request.is_pinned.any():
        return
    nearest = sorted(range(1, 2 * request.n_buckets + 1), key=lambda n: abs(n - request.n_buckets))
    possible = (n for n in nearest if measures.is_within(bound_imbalance(request.cost, n), goal))
    for n_buckets, _ in zip(possible, range(MAX_COUNTS), strict=False):
        theta = _reached_with(request, n_buckets)
        if measures.is_within(theta, goal):
            yield Remedy(
                binds=("items",),
                sentence=f"N = {n_buckets} reaches {theta:.4g}, budgets aside",
                imbalance=theta,
            )
            return


def _reached_with(request: PlanRequest, n_buckets: int) -> float:
    owner = request.owner % n_buckets
    other = PlanRequest.of_keys(
        cost=request.cost,
        state=request.state,
        owner=owner,
        home=owner,
        n_buckets=n_buckets,
        budgets=_unlimited(request.budgets),
    )
    return _quick(other).imbalance


def _pin_remedies(plan: Plan) -> Iterator[Remedy]:
    """Without the pins of all buckets above the goal."""
    request = plan.request
    is_hot = plan.load > _level(request) * (1 + measures.TOLERANCE)
    pinned = request.is_pinned & is_hot[plan.owner] & request.is_live[plan.owner]
    if not pinned.any():
        return
    theta = _reached(replace(request, is_pinned=request.is_pinned & ~pinned))
    said = f"unpinning items of buckets above the goal: {int(pinned.sum())} are pinned; reaches {theta:.4g}"
    yield Remedy(binds=("pins",), sentence=said, imbalance=theta)
