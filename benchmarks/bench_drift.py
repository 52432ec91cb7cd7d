"""
Windows of drift: bursts and full reshuffles, ours on slots and heavy keys against Mixed on every key.

Both start from the same table and see the same random numbers, each on its own placements. The bound is fractional, per
key and without a table. Mixed also plans our requests, key by key, where it may turn out better than us.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from benchmarks.drift import Table
from benchmarks.goals import Goal
from benchmarks.rivals import Rivalry
from benchmarks.workloads import Workload
from partitioning.bounds import bound_imbalance, bound_migration
from partitioning.budgets import Budgets
from partitioning.explain import explain_plan
from partitioning.measures import is_within
from partitioning.planners import PLANNERS
from partitioning.planning import make_plan
from partitioning.request import PlanRequest

BUDGETS = Budgets(max_imbalance=0.08, max_routes=3_000)
N_SLOTS = 4_096
N_WINDOWS = 20
N_HEAVY = 5_000
N_SORTED = 1_000_000
MAX_EXPLAIN = 2.0  # seconds


@dataclass(kw_only=True)
class Drifted:
    """Figures of one run, a window an entry; windows in which nothing had to move have no ratio."""

    ratios: list[float] = field(default_factory=list)
    migration: float = 0.0
    n_routes: int = 0
    n_heavy: int = 0
    n_missed: int = 0  # windows whose goal was possible and not met


def bench_drift(rivalry: Rivalry, *, quick: bool) -> list[Goal]:
    """Prints the figures and returns the rows of the table of goals."""
    goals = []
    n_windows = 6 if quick else N_WINDOWS
    sizes = ((100_000, 10),) if quick else ((100_000, 10), (1_000_000, 40))
    for n_keys, n_buckets in sizes:
        workload = Workload(n_keys=n_keys, n_buckets=n_buckets)
        ours, mixed = _run_ours(workload, n_windows, rivalry), _run_mixed(workload, n_windows)
        goals += _burst_goals(f"bursts, K = {n_keys:,}, N = {n_buckets}, {n_windows} windows", ours, mixed)
    reshuffle = Workload(n_keys=100_000, n_buckets=10, zipf=1.0, drift="literal")
    ours, mixed = _run_ours(reshuffle, n_windows, rivalry), _run_mixed(reshuffle, n_windows)
    what = f"full reshuffle, K = 100,000, N = 10, {n_windows} windows"
    return [
        *goals,
        Goal.at_most(f"{what}: migration over the bound, median", 1.6, float(np.median(ours.ratios))),
        Goal.at_most(f"{what}: migration over Mixed's", 1.0, ours.migration / mixed.migration),
    ]


def _burst_goals(what: str, ours: Drifted, mixed: Drifted) -> list[Goal]:
    print(
        f"  {what}: ours {np.median(ours.ratios):.3f}x the bound, {ours.n_routes} routes, {ours.n_heavy} heavy keys;"
        f" Mixed {np.median(mixed.ratios):.3f}x, {mixed.n_routes} routes"
    )
    return [
        Goal.at_most(f"{what}: migration over the bound, median", 1.15, float(np.median(ours.ratios))),
        Goal.at_most(f"{what}: migration over Mixed's", 0.7, ours.migration / mixed.migration),
        Goal.at_most(f"{what}: routes over Mixed's", 0.1, ours.n_routes / max(1, mixed.n_routes)),
        Goal(
            what=f"{what}: goals missed that were possible",
            goal="0",
            result=f"{ours.n_missed}",
            met=ours.n_missed == 0,
        ),
    ]


def _run_ours(workload: Workload, n_windows: int, rivalry: Rivalry) -> Drifted:
    table, drifted = Table.of(workload, n_slots=N_SLOTS), Drifted()
    for window in range(n_windows):
        if window:
            table.drift()
        by_key, heavy = table.key_request(BUDGETS), table.heavy_keys(BUDGETS)
        plan = make_plan(table.item_request(BUDGETS, heavy))
        name = f"{workload.drift}, K = {workload.n_keys:,}, window {window}"
        rivalry.challenge(plan, name)
        rivalry.challenge_with(plan, make_plan(by_key, "mixed"), f"{name}, key by key")
        _note(drifted, by_key, plan.imbalance, plan.migration, plan.n_routes)
        drifted.n_heavy = max(drifted.n_heavy, heavy.size)
        table.adopt(plan.owner, heavy)
    return drifted


def _run_mixed(workload: Workload, n_windows: int) -> Drifted:
    table, drifted = Table.of(workload, n_slots=N_SLOTS), Drifted()
    for window in range(n_windows):
        if window:
            table.drift()
        request = table.key_request(BUDGETS)
        plan = PLANNERS["mixed"](request)
        _note(drifted, request, plan.imbalance, plan.migration, plan.n_routes)
        table.adopt_keys(plan.owner)
    return drifted


def _note(drifted: Drifted, by_key: PlanRequest, imbalance: float, migration: float, n_routes: int) -> None:
    goal = BUDGETS.max_imbalance
    possible = bound_imbalance(by_key.cost, by_key.n_buckets)
    bound = bound_migration(by_key, imbalance=max(goal, possible, imbalance))
    if bound > 0:
        drifted.ratios.append(migration / bound)
    drifted.migration += migration
    drifted.n_routes = max(drifted.n_routes, n_routes)
    drifted.n_missed += is_within(possible, goal) and not is_within(imbalance, goal)


def bench_time(*, quick: bool) -> list[Goal]:
    """make_plan on S = 4,096 slots and 5,000 heavy keys, over an argsort of 10^6 floats in the same run."""
    cost = np.random.default_rng(0).random(N_SORTED)
    table = Table.of(Workload(n_keys=100_000 if quick else 1_000_000, n_buckets=40), n_slots=N_SLOTS)
    ratios = []
    for _ in range(3):
        heavy = np.union1d(table.heaviest_keys(N_HEAVY), np.flatnonzero(table.route >= 0))
        request = table.item_request(BUDGETS, heavy)
        plan_time = _best_time(lambda request=request: make_plan(request))  # type: ignore[misc]
        ratios.append(plan_time / _best_time(lambda: np.argsort(cost, kind="stable")))
        table.adopt(make_plan(request).owner, heavy)
        table.drift()
    what = f"planning time, S = {N_SLOTS:,}, {N_HEAVY:,} heavy keys, worst of 3 windows, in argsorts of 10^6"
    return [Goal.at_most(what, 0.5, max(ratios))]


def bench_explain(*, quick: bool) -> list[Goal]:
    """explain_plan on S = 4,096 slots and 5,000 heavy keys after a burst, with budgets that bind and a table over its limit."""
    table = Table.of(Workload(n_keys=100_000 if quick else 1_000_000, n_buckets=40), n_slots=N_SLOTS)
    heavy = table.heaviest_keys(N_HEAVY)
    table.adopt(make_plan(table.item_request(BUDGETS, heavy)).owner, heavy)
    table.drift()
    heavy = np.union1d(table.heaviest_keys(N_HEAVY), np.flatnonzero(table.route >= 0))
    n_routes = int(np.count_nonzero(table.route >= 0))
    seconds = []
    for budgets in (
        BUDGETS,
        replace(BUDGETS, max_migration=0.001),
        replace(BUDGETS, max_migration=0.001, max_routes=n_routes // 2),
    ):
        plan = make_plan(table.item_request(budgets, heavy))
        began = time.process_time()
        explain_plan(plan)
        seconds.append(time.process_time() - began)
    what = f"explaining a plan, S = {N_SLOTS:,}, {N_HEAVY:,} heavy keys, worst of {len(seconds)} budgets, processor time"
    return [Goal.at_most(what, MAX_EXPLAIN, max(seconds), unit=" s")]


def _best_time(work: Callable[[], object], repeat: int = 5) -> float:
    """Seconds of processor time, the best of a few runs: other programs on the machine do not count."""
    times = []
    for _ in range(repeat):
        began = time.process_time()
        work()
        times.append(time.process_time() - began)
    return min(times)
