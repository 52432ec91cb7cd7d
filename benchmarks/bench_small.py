"""Two hundred small requests of keys, and as many of slots and keys, against the exact optimum."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from benchmarks.exact import least_imbalance, least_migration
from benchmarks.goals import Goal
from benchmarks.rivals import Rivalry
from benchmarks.small_cases import N_MIXTURES, N_SEEDS, SmallCase, small_cases, small_mixtures
from partitioning.measures import is_within
from partitioning.planning import make_plan


@dataclass
class SmallResults:
    """What came of the cases the solver had an answer for."""

    ratios: list[float]
    gaps: list[float]  # θ above the least one, where the goal is out of reach inside the budgets
    n_missed: int = 0
    n_unproven: int = 0


def bench_small(rivalry: Rivalry, *, quick: bool) -> list[Goal]:
    """Prints the figures and returns the rows of the table of goals."""
    of_keys = _run(small_cases(3 if quick else N_SEEDS), rivalry)
    mixed = _run(small_mixtures(20 if quick else N_MIXTURES), rivalry)
    return [*_goals("small cases", of_keys), *_goals("small mixtures of slots and keys", mixed)]


def _run(cases: Iterable[SmallCase], rivalry: Rivalry) -> SmallResults:
    results = SmallResults(ratios=[], gaps=[])
    for case in cases:
        plan = make_plan(case.request)
        rivalry.challenge(plan, case.name)
        limit = case.request.budgets.migration_limit(case.request.total_state)
        least = least_migration(case.request)
        if least is None:
            results.n_unproven += 1
        elif np.isinf(least) or least > limit:
            routes = case.request.budgets.route_limit()
            theta = least_imbalance(case.request, max_migration=limit, max_routes=routes)
            results.gaps += [] if theta is None else [plan.imbalance - theta]
        elif not is_within(plan.imbalance, case.request.budgets.max_imbalance):
            results.n_missed += 1
            print(f"  missed: {case.name}, θ {plan.imbalance:.4f}")
        else:
            results.ratios.append(plan.migration / least if least > 0 else 1.0 + plan.migration)
    return results


def _goals(kind: str, results: SmallResults) -> list[Goal]:
    ratios, gaps = np.array(results.ratios), np.array(results.gaps or [0.0])
    print(
        f"  goal within reach: {ratios.size + results.n_missed}, out of reach: {len(results.gaps)} (θ above the least:"
        f" median {np.median(gaps):.4f}, worst {gaps.max():.4f}), not proven by the solver: {results.n_unproven}"
    )
    n_cases = ratios.size + results.n_missed + len(results.gaps) + results.n_unproven
    what = f"{n_cases} {kind} against the exact optimum"
    return [
        Goal(what=f"{what}: goals missed", goal="0", result=f"{results.n_missed}", met=results.n_missed == 0),
        Goal.at_most(f"{what}: migration, median", 1.0 + 1e-9, float(np.median(ratios))),
        Goal.at_most(f"{what}: migration, mean", 1.02, float(ratios.mean())),
        Goal.at_most(f"{what}: migration, worst", 1.25, float(ratios.max())),
    ]
