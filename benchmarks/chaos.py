"""Requests of every kind, at random: what no planner may be brought down by. One seed, one request."""

import numpy as np
from numpy.typing import NDArray

from partitioning.budgets import Budgets
from partitioning.history import NO_HISTORY, History
from partitioning.request import NO_SLOT, PlanRequest

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


def chaos_request(seed: int) -> PlanRequest:
    """Keys or keys and slots, few or hundreds, skewed or even, with any of the things a request can ask for."""
    rng = np.random.default_rng([20_261, seed])
    n_items, n_buckets = int(np.exp(rng.uniform(np.log(4), np.log(400)))), int(rng.integers(2, 17))
    before = max(1, n_buckets + int(rng.integers(-2, 3))) if rng.random() < 0.25 else n_buckets
    n_slots = int(rng.integers(1, n_items)) if rng.random() < 0.5 else 0
    cost = _costs(rng, n_items)
    home = rng.integers(0, n_buckets, n_items)
    home_before = home if before == n_buckets else rng.integers(0, before, n_items)
    is_away = rng.random(n_items) < rng.choice([0.0, 0.2, 0.6])
    slot = np.where(np.arange(n_items) < n_slots, NO_SLOT, rng.integers(NO_SLOT, max(1, n_slots), n_items))
    return PlanRequest.of_items(
        cost=cost,
        state=_states(rng, cost),
        owner=np.where(is_away, rng.integers(0, before, n_items), home_before),
        home=home,
        n_buckets=n_buckets,
        is_slot=np.arange(n_items) < n_slots,
        slot=slot if n_slots else np.full(n_items, NO_SLOT),
        budgets=_budgets(rng, n_items),
        n_buckets_before=before,
        home_before=home_before,
        capacity=rng.uniform(0.5, 2.0, n_buckets) if rng.random() < 0.3 else None,
        drained=rng.choice(n_buckets, 1) if rng.random() < 0.15 else None,
        is_pinned=rng.random(n_items) < rng.choice([0.05, 0.3]) if rng.random() < 0.25 else None,
        history=_history(rng, n_items, n_buckets) if rng.random() < 0.15 else NO_HISTORY,
    )


def _costs(rng: np.random.Generator, n_items: int) -> Floats:
    kind = rng.integers(5)
    if kind == 0:
        return np.ones(n_items)
    if kind == 1:
        return np.asarray(rng.exponential(1.0, n_items))
    if kind == 2:
        return np.asarray(rng.zipf(1.5, n_items).clip(max=10_000), dtype=np.float64)
    cost = rng.lognormal(0.0, 1.5, n_items)
    if kind == 3:  # two keys of 40 % each
        cost[rng.choice(n_items, 2, replace=False)] = 2.0 * cost.sum()
    return cost


def _states(rng: np.random.Generator, cost: Floats) -> Floats:
    kind = rng.integers(3)
    if kind == 0:
        return 5.0 * cost
    if kind == 1:
        return np.asarray(rng.exponential(100.0, cost.size))
    return np.asarray(rng.integers(0, 3, cost.size), dtype=np.float64)


def _budgets(rng: np.random.Generator, n_items: int) -> Budgets:
    max_routes = [None, 0, int(rng.integers(0, n_items + 1)), n_items][rng.integers(4)]
    max_migration = [None, None, 0.0, 0.02, 0.1, 0.5][rng.integers(6)]
    return Budgets(
        max_imbalance=float(rng.choice([0.0, 0.05, 0.08, 0.2])),
        max_routes=max_routes,
        max_migration=max_migration,
    )


def _history(rng: np.random.Generator, n_items: int, n_buckets: int) -> History:
    n_moves = int(rng.integers(1, n_items + 1))
    return History(
        item=rng.integers(0, n_items, n_moves),
        source=rng.integers(0, n_buckets, n_moves),
        age=rng.integers(1, 6, n_moves),
    )
