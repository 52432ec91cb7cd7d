"""Random small requests: few, coarse items, where a planner that does not search falls short."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np

from partitioning.budgets import Budgets
from partitioning.request import NO_SLOT, PlanRequest

N_SEEDS = 25  # times 8 kinds: 200 cases
N_MIXTURES = 200


@dataclass(frozen=True, kw_only=True)
class SmallCase:
    """One request, and what kind it is."""

    name: str
    request: PlanRequest


def small_cases(n_seeds: int = N_SEEDS) -> Iterator[SmallCase]:
    """Loose and tight table, state with and without regard to cost, with and without a limit on migration."""
    for seed, table, state, migration in product(
        range(n_seeds), ("loose", "tight"), ("like cost", "any"), (None, 0.1)
    ):
        name = f"{table} table, state {state}, max_migration {migration}, seed {seed}"
        yield SmallCase(name=name, request=_request(seed, table, state, migration))


def _request(seed: int, table: str, state: str, max_migration: float | None) -> PlanRequest:
    """30 to 60 keys of Zipf costs in 3 to 5 buckets; a fifth has a route, and a third of the keys changed its cost."""
    rng = np.random.default_rng([seed, table == "tight", state == "any", max_migration is not None])
    n_keys, n_buckets = int(rng.integers(30, 61)), int(rng.integers(3, 6))
    cost = rng.permutation(np.rint(1_000 * np.arange(1, n_keys + 1) ** -rng.uniform(0.3, 0.9)))
    home = rng.integers(0, n_buckets, n_keys)
    owner = np.where(rng.random(n_keys) < 0.2, rng.integers(0, n_buckets, n_keys), home)
    sizes = (
        5 * cost * rng.uniform(0.8, 1.2, n_keys) if state == "like cost" else rng.exponential(1_000, n_keys)
    )
    n_routes = int(np.count_nonzero(owner != home))
    return PlanRequest.of_keys(
        cost=cost,
        state=np.rint(sizes) + 1,
        owner=owner,
        home=home,
        n_buckets=n_buckets,
        budgets=Budgets(
            max_imbalance=0.08,
            max_routes=n_routes if table == "tight" else n_keys,
            max_migration=max_migration,
        ),
    )


def small_mixtures(n_seeds: int = N_MIXTURES) -> Iterator[SmallCase]:
    """Four slots and six keys that sit in them, two buckets, two routes: keys and slots must move by themselves and together."""
    for seed in range(n_seeds):
        rng = np.random.default_rng(seed)
        is_slot = np.arange(10) < 4
        slot = np.where(is_slot, NO_SLOT, rng.integers(0, 4, 10))
        slots = rng.integers(0, 2, 4)
        owner = np.append(slots, slots[slot[4:]])
        request = PlanRequest.of_items(
            cost=rng.integers(1, 10, 10),
            state=rng.integers(1, 10, 10),
            owner=owner,
            home=owner,
            n_buckets=2,
            is_slot=is_slot,
            slot=slot,
            budgets=Budgets(max_imbalance=0.05, max_routes=2),
        )
        yield SmallCase(name=f"mixture, seed {seed}", request=request)
