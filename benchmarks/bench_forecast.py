"""
Whether forecasts pay, and what they cost: ``python -m benchmarks.bench_forecast [--quick]``.

Time is processor time, over one NumPy pass over the same array in the same run. Plans are made by ``make_plan`` before every window, on
the last window, on the forecast that a backtest chooses, and on the truth; θ is that of the window as it turned out.
"""

import argparse
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from benchmarks.forecast_drift import (
    BUDGETS,
    LOOSER,
    WORKLOADS,
    Judged,
    believe_forecast,
    believe_last,
    believe_truth,
    judge,
)
from benchmarks.goals import Goal, print_goals
from partitioning.forecast import ForecastOptions, forecast
from partitioning.smoothing import Smoothing

SHAPE = (30, 100_000)  # windows, items
N_KNOWN = 60  # windows before the first plan
N_SEEDS = 16  # from 0 on: a few may say one thing or the other about migration
MAX_HARM = 1.02
LAST, FORECAST, LOOSE = "last window", "forecast", f"forecast at θ_max {LOOSER.max_imbalance}"


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--quick", action="store_true", help=f"one seed instead of {N_SEEDS}, and fewer windows"
    )
    args = parser.parse_args(argv)
    print_goals(run(quick=args.quick))


def run(*, quick: bool) -> list[Goal]:
    """All parts."""
    goals = bench_time()
    for name in WORKLOADS:
        goals += bench_drift(name, seeds=range(1 if quick else N_SEEDS), n_planned=8 if quick else 24)
    return goals


def bench_time() -> list[Goal]:
    """Holt on 10^5 items and 30 windows, checks of the input included: without intervals, with them, and fitted."""
    history = np.random.default_rng(0).random(SHAPE)
    alone = ForecastOptions(smoothing=Smoothing(alpha=0.5, gamma=0.2), coverage=None)
    with_intervals = replace(alone, coverage=0.8)
    one_pass, one_sum = _best_time(lambda: history * 2.0), _best_time(history.sum)
    running_sum = _best_time(lambda: np.cumsum(history, axis=0))
    by_given, by_intervals, by_fit = (
        _best_time(lambda: forecast(history, alone)),
        _best_time(lambda: forecast(history, with_intervals)),
        _best_time(lambda: forecast(history)),
    )
    print(
        f"Holt, {SHAPE[1]:,} items, {SHAPE[0]} windows: {by_given * 1e3:.1f} ms without intervals, {by_intervals * 1e3:.1f} ms with them,"
        f" fitted too {by_fit * 1e3:.1f} ms; history * 2 takes {one_pass * 1e3:.1f} ms, history.sum() {one_sum * 1e3:.1f} ms,"
        f" np.cumsum(history, axis=0) {running_sum * 1e3:.1f} ms"
    )
    what = "Holt on 10^5 items x 30 windows"
    return [
        Goal.at_most(f"{what} with intervals, over history * 2.0", 5.0, by_intervals / one_pass),
        Goal.at_most(f"{what} with intervals and a fit, over history * 2.0", 10.0, by_fit / one_pass),
        Goal.at_most(f"{what} without intervals, over history * 2.0", 5.0, by_given / one_pass),
        Goal.at_most(f"{what} without intervals, over history.sum()", 5.0, by_given / one_sum),
        Goal.at_most(
            f"{what} without intervals, over np.cumsum(history, axis=0)", 5.0, by_given / running_sum
        ),
    ]


def bench_drift(name: str, *, seeds: range, n_planned: int) -> list[Goal]:
    make, period = WORKLOADS[name]
    planners = {
        LAST: (believe_last, BUDGETS),
        FORECAST: (believe_forecast(period), BUDGETS),
        LOOSE: (believe_forecast(period), LOOSER),
        "clairvoyant": (believe_truth, BUDGETS),
    }
    results: dict[str, list[Judged]] = {planner: [] for planner in planners}
    for seed in seeds:
        cost = make(N_KNOWN + n_planned, np.random.default_rng(seed))
        for planner, (believe, budgets) in planners.items():
            results[planner].append(judge(cost, n_planned, believe, budgets))
    print(f"\n{name}, {len(seeds)} seed(s), {n_planned} windows each")
    for planner, judged in results.items():
        methods = Counter(chain.from_iterable(one.methods for one in judged))
        print(
            f"  {planner:<24} θ next window {_by_seed(judged, 'theta').mean():.4f}, moved {_by_seed(judged, 'migration').mean():.3%} of the"
            f" state a window; {dict(methods)}"
        )
    is_foreseeable = name != "random walk"
    limit = 1.0 if is_foreseeable else MAX_HARM
    return [
        _goal(f"{name}: {what}, {planner} over {LAST}", limit, results[planner], results[LAST], field)
        for planner in ((FORECAST, LOOSE) if is_foreseeable else (FORECAST,))
        for what, field in (("mean θ next window", "theta"), ("migration", "migration"))
    ]


def _goal(what: str, limit: float, ours: list[Judged], theirs: list[Judged], field: str) -> Goal:
    """The ratio over all seeds, with the least and the most of any seed beside it."""
    means = _by_seed(ours, field), _by_seed(theirs, field)
    ratios = means[0] / means[1]
    note = f" (by seed {ratios.min():.2f} to {ratios.max():.2f})"
    return Goal.at_most(what, limit, float(means[0].mean() / means[1].mean()), note=note)


def _by_seed(judged: list[Judged], field: str) -> NDArray[np.float64]:
    """The mean of each seed; all have as many windows."""
    return np.array([np.mean(getattr(one, field)) for one in judged])


def _best_time(work: Callable[[], object], repeat: int = 9) -> float:
    """Processor seconds, the best of a few runs."""
    times = []
    for _ in range(repeat):
        began = time.thread_time()
        work()
        times.append(time.thread_time() - began)
    return min(times)


if __name__ == "__main__":
    main()
