"""A thousand requests of every kind: no promise broken, and how far from the best possible."""

import numpy as np

from benchmarks.chaos import chaos_request
from benchmarks.exact import bound_imbalance
from benchmarks.goals import Goal
from benchmarks.rivals import Rivalry
from partitioning.bounds_budget import bound_imbalance_within
from partitioning.certificate import imbalance_gap
from partitioning.plan import Plan
from partitioning.planning import make_plan
from tests.partitioning.checker import check_plan

N_ROUNDS = 1_000
N_RIVAL_ROUNDS = 100
N_TOLD = 200  # rounds after which it says how far it is
MIN_GAP = 0.005  # from which the solver is asked
MAX_SECONDS = 2.0  # for it to come to a bound


def bench_chaos(rivalry: Rivalry, *, quick: bool) -> list[Goal]:
    """Every plan is judged by the independent checker; the gap is to the bound, or to the exact optimum if known."""
    gaps, broken, n_exact = [], [], 0
    for seed in range(60 if quick else N_ROUNDS):
        plan = make_plan(chaos_request(seed))
        try:
            check_plan(plan)
        except AssertionError as error:
            broken.append(f"seed {seed}: {error}")
        if seed < (60 if quick else N_RIVAL_ROUNDS):
            rivalry.challenge(plan, f"chaos {seed}")
        gap, is_exact = _gap(plan)
        n_exact += is_exact
        gaps.append((gap, seed))
        if (seed + 1) % N_TOLD == 0:
            print(f"  {seed + 1} rounds, broken: {len(broken)}, worst gap: {max(gaps)}", flush=True)
    for line in broken:
        print(f"  broken: {line}")
    size = np.array([gap for gap, _ in gaps])
    worst, seed = max(gaps)
    print(f"  proved by the solver: {n_exact}; gaps above 0.05: {(size > 0.05).sum()}; worst: seed {seed}")
    what = f"chaos, {size.size} rounds"
    return [
        Goal(what=f"{what}: promises broken", goal="0", result=f"{len(broken)}", met=not broken),
        Goal.at_most(f"{what}: θ - bound, p50", 0.01, float(np.median(size)), unit=""),
        Goal.at_most(f"{what}: θ - bound, p95", 0.05, float(np.quantile(size, 0.95)), unit=""),
        Goal(what=f"{what}: θ - bound, max", goal="printed", result=f"{worst:.3f} (seed {seed})", met=True),
    ]


def _gap(plan: Plan) -> tuple[float, bool]:
    """How far θ is above the goal or what no plan is below, and whether that is known exactly."""
    request = plan.request
    bound = bound_imbalance_within(request, plan.figures)
    gap = imbalance_gap(plan, bound)
    if gap <= MIN_GAP or plan.figures.undrained:
        return gap, False
    proved, is_exact = bound_imbalance(
        request,
        max_migration=max(request.budgets.migration_limit(request.total_state), plan.migration),
        max_routes=max(request.budgets.route_limit(), plan.n_routes),
        max_seconds=MAX_SECONDS,
    )
    return imbalance_gap(plan, max(bound, min(proved, plan.imbalance))), is_exact
