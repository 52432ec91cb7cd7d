"""What repeated planning comes to: after a perturbation, and while buckets are added and taken away."""

import dataclasses
import math

import numpy as np
from numpy.typing import NDArray

from benchmarks.goals import Goal
from benchmarks.rivals import Rivalry
from partitioning.bounds import bound_migration
from partitioning.budgets import Budgets
from partitioning.history import History
from partitioning.plan import Plan
from partitioning.planning import make_plan
from partitioning.request import NO_SLOT, PlanRequest
from partitioning.ring import ring_slots

N_PLANS = 8
MAX_ROUNDS = 3
N_SLOTS = 1_024


def bench_convergence(rivalry: Rivalry, *, quick: bool) -> list[Goal]:
    """One perturbation, then the same load planned again and again; what moved is the next plan's history."""
    rounds, n_late, n_back = [], 0, 0
    for seed in range(5 if quick else 30):
        request = perturbed_request(seed)
        plans = plan_repeatedly(request)
        rivalry.challenge(plans[0], f"convergence {seed}")
        rounds.append(max((i + 1 for i, plan in enumerate(plans) if plan.moved.size), default=0))
        n_late += rounds[-1] > max(MAX_ROUNDS, fewest_plans(request))
        n_back += count_there_and_back(plans)
    what = f"convergence, {len(rounds)} perturbations"
    return [
        Goal(
            what=f"{what}: rounds after which nothing moves any more",
            goal=f"≤ {MAX_ROUNDS}",
            result=f"{max(rounds)} at most; {n_late} later than that and than the budget allows",
            met=n_late == 0,
        ),
        Goal(what=f"{what}: keys moved there and back", goal="0", result=f"{n_back}", met=n_back == 0),
    ]


def fewest_plans(request: PlanRequest) -> int:
    """The plans that ``max_migration`` makes of the least migration that the goal takes: no planner needs fewer."""
    limit = request.budgets.migration_limit(request.total_state)
    least = bound_migration(request, imbalance=request.budgets.target)
    return math.ceil(least / limit) if least > 0 else 0


def bench_resize(*, quick: bool) -> list[Goal]:
    """8 → 9 → 8 and 40 → 50 → 40: grow at once, then drain the new buckets under a budget and take them away."""
    goals = []
    for small, large in ((8, 9),) if quick else ((8, 9), (40, 50)):
        goals += _resize(small, large, max_migration=0.05)
    return goals


def _resize(small: int, large: int, *, max_migration: float) -> list[Goal]:
    budgets = Budgets(max_imbalance=0.08, max_migration=max_migration)
    slots = ring_slots(N_SLOTS, small)
    grow = _slot_request(
        slots, before=small, after=large, budgets=dataclasses.replace(budgets, max_migration=None)
    )
    grown = make_plan(grow)
    into_old = np.count_nonzero(grown.owner[grown.churn.change_of_n] < small)
    n_windows, n_over, owner = _drain(grown.owner, small, large, budgets)
    shrunk = make_plan(_slot_request(owner, before=large, after=small, budgets=budgets))
    what = f"resize {small} → {large} → {small}"
    return [
        Goal(
            what=f"{what}: moves of the change that go into old buckets", goal="0", result=f"{into_old}",
            met=bool(into_old == 0),
        ),
        Goal(what=f"{what}: steps over the budget", goal="0", result=f"{n_over}", met=n_over == 0),
        Goal(
            what=f"{what}: draining at {max_migration:.0%} a window ends",
            goal="ends",
            result=f"after {n_windows} windows; taking the buckets away moves {shrunk.migration:g}",
            met=n_windows < 100 and shrunk.migration <= max_migration * shrunk.request.total_state,
        ),
    ]  # fmt: skip


def _drain(
    owner: NDArray[np.int64], small: int, large: int, budgets: Budgets
) -> tuple[int, int, NDArray[np.int64]]:
    """Windows until the buckets above ``small`` are empty, plans over the budget, and where items are then."""
    n_over = 0
    for window in range(1, 100):
        request = _slot_request(owner, before=large, after=large, budgets=budgets)
        plan = make_plan(dataclasses.replace(request, drained=np.arange(small, large)))
        n_over += not plan.within_budgets
        owner = plan.owner
        if plan.figures.undrained == 0:
            return window, n_over, owner
    return 100, n_over, owner


def _slot_request(slots: NDArray[np.int64], *, before: int, after: int, budgets: Budgets) -> PlanRequest:
    """All keys as slots, of costs that differ a little."""
    cost = np.random.default_rng(1).lognormal(0.0, 0.3, N_SLOTS)
    return PlanRequest.of_items(
        cost=cost,
        state=5.0 * cost,
        owner=slots,
        home=ring_slots(N_SLOTS, after),
        n_buckets=after,
        is_slot=np.ones(N_SLOTS, dtype=np.bool_),
        slot=np.full(N_SLOTS, NO_SLOT),
        budgets=budgets,
        n_buckets_before=before,
        home_before=ring_slots(N_SLOTS, before),
    )


def perturbed_request(seed: int) -> PlanRequest:
    """Hundreds of keys that were even, then changed their costs at random."""
    rng = np.random.default_rng([7, seed])
    n_keys, n_buckets = int(rng.integers(100, 400)), int(rng.integers(4, 12))
    owner = np.arange(n_keys) % n_buckets
    cost = rng.lognormal(0.0, 1.0, n_keys)
    budgets = Budgets(
        max_imbalance=0.05,
        max_routes=[None, n_keys // 8][seed % 2],
        max_migration=[None, 0.05][seed // 2 % 2],
    )
    return PlanRequest.of_keys(
        cost=cost, state=5.0 * cost, owner=owner, home=owner, n_buckets=n_buckets, budgets=budgets
    )


def plan_repeatedly(request: PlanRequest, n_plans: int = N_PLANS) -> list[Plan]:
    plans: list[Plan] = []
    for _ in range(n_plans):
        plan = make_plan(request)
        plans.append(plan)
        request = dataclasses.replace(request, owner=plan.owner, history=_history(plans))
    return plans


def _history(plans: list[Plan]) -> History:
    """What every plan so far moved, the newest a window ago."""
    moved = [plan.moved for plan in plans]
    age = [np.full(plan.moved.size, len(plans) - i) for i, plan in enumerate(plans)]
    source = [plan.request.owner[plan.moved] for plan in plans]
    return History(item=np.concatenate(moved), source=np.concatenate(source), age=np.concatenate(age))


def count_there_and_back(plans: list[Plan]) -> int:
    """Moves into a bucket that the item had left in an earlier plan."""
    left: set[tuple[int, int]] = set()
    n_back = 0
    for plan in plans:
        pairs = zip(plan.moved.tolist(), plan.owner[plan.moved].tolist(), strict=True)
        n_back += sum(pair in left for pair in pairs)
        left |= set(zip(plan.moved.tolist(), plan.request.owner[plan.moved].tolist(), strict=True))
    return n_back
