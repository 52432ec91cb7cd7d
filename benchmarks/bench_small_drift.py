"""
Small bursts (f = 0.1), window after window: ours on slots and heavy keys against Mixed on every key.

A burst goes to a bucket as its planner filled it, so after one window two tables see different bursts, and over nine windows
either may be luckier. What is fair is the same request for both: so each table is also planned by the other planner.
"""

from dataclasses import dataclass

import numpy as np

from benchmarks.bench_drift import BUDGETS
from benchmarks.drift import Table
from benchmarks.goals import Goal
from benchmarks.workloads import Workload
from partitioning.planners import PLANNERS
from partitioning.planning import make_plan

N_SEEDS = 6
N_WINDOWS = 10
N_SLOTS = 1_024


@dataclass(frozen=True, kw_only=True)
class Moved:
    """Shares of all state, a window on average; the first window, which evens out the hash, is not counted."""

    ours: float
    mixed: float


def bench_small_drift(*, quick: bool) -> list[Goal]:
    """Prints what each moved on its own table, seed by seed, and returns the row for the same requests."""
    seeds = range(2 if quick else N_SEEDS)
    on_ours, on_mixed = [_run(seed, "ours") for seed in seeds], [_run(seed, "mixed") for seed in seeds]
    pairs = ", ".join(f"{a.ours:.2%} / {b.mixed:.2%}" for a, b in zip(on_ours, on_mixed, strict=True))
    print(f"  small bursts, each on its own table, ours / Mixed, seed by seed: {pairs}")
    both = [*on_ours, *on_mixed]
    ours, mixed = sum(moved.ours for moved in both), sum(moved.mixed for moved in both)
    what = f"small bursts, f = 0.1, K = 10,000, N = 10, {len(seeds)} seeds: migration over Mixed's on the same requests"
    return [Goal.at_most(what, 1.0, ours / mixed)]


def _run(seed: int, keeper: str) -> Moved:
    """Both planners on every window of a table that follows one of them."""
    workload = Workload(n_keys=10_000, n_buckets=10, fluctuation=0.1, seed=seed)
    table = Table.of(workload, n_slots=N_SLOTS)
    moved = []
    for window in range(N_WINDOWS):
        if window:
            table.drift()
        by_key, heavy = table.key_request(BUDGETS), table.heavy_keys(BUDGETS)
        mixed, ours = PLANNERS["mixed"](by_key), make_plan(table.item_request(BUDGETS, heavy))
        if window:
            moved.append((ours.migration / by_key.total_state, mixed.migration / by_key.total_state))
        if keeper == "ours":
            table.adopt(ours.owner, heavy)
        else:
            table.adopt_keys(mixed.owner)
    share = np.mean(moved, axis=0)
    return Moved(ours=float(share[0]), mixed=float(share[1]))
