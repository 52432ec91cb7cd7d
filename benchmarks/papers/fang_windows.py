"""
One run of Fang et al.'s: windows of drifting keys, each answered by one planner from where its own last answer left the keys.

The first window starts from the hash, so that it is a repair and not an adjustment: it is planned but not counted.
"""

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from benchmarks.drift import Floats, Integers, Table
from benchmarks.workloads import Workload
from partitioning.budgets import Budgets
from partitioning.measures import load_per_bucket, max_over_min, overload
from partitioning.plan import Plan
from partitioning.planners import PLANNERS
from partitioning.planners.mixed_bf import MixedBFOptions, plan_mixed_bf
from partitioning.planners.readj import ReadjOptions, plan_readj
from partitioning.planning import make_plan
from partitioning.request import PlanRequest

N_SLOTS = 4_096
N_BUCKETS = 15  # Fig. 18 converges to (N - 1) / N of 10^4 keys, read as 9,350
N_KEYS = 100_000
WORKLOAD = Workload(n_keys=N_KEYS, n_buckets=N_BUCKETS)
BUDGETS = Budgets(max_imbalance=0.08, max_routes=3_000)
BF_ROUNDS = 8  # of MixedBF: n in so many strides over the table
READJ_SIGMAS = (0.1, 0.05)  # of which the better counts, as in the paper


@dataclass(frozen=True, kw_only=True)
class Windows:
    """What to run; the defaults are our reading of Table II."""

    workload: Workload = WORKLOAD
    budgets: Budgets = BUDGETS
    n_windows: int = 6  # counted ones

    def changed(self, **workload: object) -> "Windows":
        return replace(self, workload=replace(self.workload, **workload))  # type: ignore[arg-type]

    def limited(self, **budgets: object) -> "Windows":
        return replace(self, budgets=replace(self.budgets, **budgets))  # type: ignore[arg-type]


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """One window under one planner."""

    theta_before: float
    theta: float
    spread: float  # max/min of the loads
    migration: float  # per cent of all state
    n_routes: int
    seconds: float
    load: Floats = field(compare=False, repr=False)  # per bucket, after planning


Ask = Callable[[PlanRequest], Plan]


def follow(windows: Windows, method: str, ask: Ask | None = None) -> list[Outcome]:
    """What comes of every counted window; ``ask`` instead of the method's own planner, where it has options."""
    table = Table.of(windows.workload, n_slots=N_SLOTS)
    table.windows *= (
        windows.workload.n_windows
    )  # the windows before were like the first: state is w windows' worth
    outcomes = []
    for window in range(windows.n_windows + 1):
        if window:
            table.drift()
        outcome = take_window(table, windows.budgets, method, ask)
        if window:
            outcomes.append(outcome)
    return outcomes


def average_load(outcomes: Sequence[Outcome]) -> Floats:
    """Of each instance over the windows, ascending; 1 is the mean of all instances. What Fig. 7 plots."""
    load = np.mean([outcome.load for outcome in outcomes], axis=0)
    return np.asarray(np.sort(load / load.mean()))


def compare_on_same(windows: Windows, leader: str) -> list[float]:
    """Migration of evenkeel over Mixed's on the same request of every counted window; the leader's plan is adopted."""
    table = Table.of(windows.workload, n_slots=N_SLOTS)
    table.windows *= windows.workload.n_windows
    ratios = []
    for window in range(windows.n_windows + 1):
        if window:
            table.drift()
            mixed = PLANNERS["mixed"](table.key_request(windows.budgets))
            ours = make_plan(table.item_request(windows.budgets, table.heavy_keys(windows.budgets)))
            ratios.append(ours.migration / mixed.migration if mixed.migration else math.nan)
        take_window(table, windows.budgets, leader)
    return ratios


def take_window(table: Table, budgets: Budgets, method: str, ask: Ask | None = None) -> Outcome:
    """Plans for the newest window and adopts the plan."""
    owner, n_buckets = table.owner, table.workload.n_buckets
    before = overload(load_per_bucket(table.cost, owner, n_buckets))
    seconds = _adopt_plan(table, budgets, method, ask)
    load, state = load_per_bucket(table.cost, table.owner, n_buckets), table.state
    return Outcome(
        theta_before=before,
        theta=overload(load),
        spread=max_over_min(load),
        migration=100 * float(state[table.owner != owner].sum() / max(state.sum(), 1.0)),
        n_routes=int(np.count_nonzero(table.route >= 0)),
        seconds=seconds,
        load=load,
    )


def _adopt_plan(table: Table, budgets: Budgets, method: str, ask: Ask | None) -> float:
    """Seconds that planning took."""
    if method == "hash":
        return 0.0
    if method == "evenkeel":
        began = time.process_time()
        heavy = table.heavy_keys(budgets)
        plan = make_plan(table.item_request(budgets, heavy))
        seconds = time.process_time() - began
        table.adopt(plan.owner, heavy)
        return seconds
    request = table.key_request(budgets)
    began = time.process_time()
    plan = (ask or ASK.get(method) or PLANNERS[method])(request)
    seconds = time.process_time() - began
    table.adopt_keys(plan.owner)
    return seconds


def _ask_mixed_bf(request: PlanRequest) -> Plan:
    n_routed = int(np.count_nonzero(request.owner != request.home))
    return plan_mixed_bf(request, MixedBFOptions(stride=max(1, n_routed // BF_ROUNDS)))


def _ask_readj(request: PlanRequest) -> Plan:
    """The better of two σ: the goal kept if either does, then the least migration."""
    plans = [_readj_tracked(request, sigma) for sigma in READJ_SIGMAS]
    goal = request.budgets.max_imbalance
    return min(plans, key=lambda plan: (round(max(plan.imbalance, goal), 6), plan.migration))


def _readj_tracked(request: PlanRequest, sigma: float) -> Plan:
    """Readj on the keys whose cost is σ · θ_max of a bucket's share or more; the rest is load that stays."""
    cut = sigma * request.budgets.max_imbalance * float(request.cost.sum()) / request.n_buckets
    is_tracked = request.cost >= cut
    rest = load_per_bucket(request.cost[~is_tracked], request.owner[~is_tracked], request.n_buckets)
    tracked = PlanRequest.of_keys(
        cost=request.cost[is_tracked],
        state=request.state[is_tracked],
        owner=request.owner[is_tracked],
        home=request.home[is_tracked],
        n_buckets=request.n_buckets,
        budgets=request.budgets,
    )
    options = ReadjOptions(background_load=tuple(rest.tolist()), stop_at="goal")
    owner: Integers = request.owner.copy()
    owner[is_tracked] = plan_readj(tracked, options).owner
    return Plan(request=request, owner=owner, planner="readj")


ASK: dict[str, Ask] = {"mixed_bf": _ask_mixed_bf, "readj": _ask_readj}
METHODS: Sequence[str] = ("evenkeel", "mixed", "mixed_bf", "min_table", "min_mig", "readj", "hash")
