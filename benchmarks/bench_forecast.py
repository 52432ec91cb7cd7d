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

import numpy as np

from benchmarks.forecast_drift import WORKLOADS, Judged, believe_forecast, believe_last, believe_truth, judge
from benchmarks.goals import Goal, print_goals
from partitioning.forecast import ForecastOptions, forecast
from partitioning.smoothing import Smoothing

SHAPE = (30, 100_000)  # windows, items
N_KNOWN = 60  # windows before the first plan
MAX_HARM = 1.02


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="one seed instead of four, and fewer windows")
    args = parser.parse_args(argv)
    print_goals(run(quick=args.quick))


def run(*, quick: bool) -> list[Goal]:
    """All parts."""
    goals = bench_time()
    for name in WORKLOADS:
        goals += bench_drift(name, seeds=range(1 if quick else 4), n_planned=8 if quick else 24)
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
    beliefs = {
        "last window": believe_last,
        "forecast": believe_forecast(period),
        "clairvoyant": believe_truth,
    }
    results: dict[str, Judged] = {belief: Judged() for belief in beliefs}
    for seed in seeds:
        cost = make(N_KNOWN + n_planned, np.random.default_rng(seed))
        for belief, believe in beliefs.items():
            judged = judge(cost, n_planned, believe)
            results[belief].theta += judged.theta
            results[belief].migration += judged.migration
            results[belief].methods += judged.methods
    print(f"\n{name}, {len(seeds)} seed(s), {n_planned} windows each")
    for belief, result in results.items():
        print(
            f"  {belief:<12} θ next window {np.mean(result.theta):.4f}, moved {np.mean(result.migration):.3%} of the"
            f" state a window; {dict(Counter(result.methods))}"
        )
    theta, migration = (
        float(np.mean(getattr(results["forecast"], what)) / np.mean(getattr(results["last window"], what)))
        for what in ("theta", "migration")
    )
    limit = MAX_HARM if name == "random walk" else 1.0
    return [
        Goal.at_most(f"{name}: mean θ next window, forecast over last window", limit, theta),
        Goal.at_most(f"{name}: migration, forecast over last window", limit, migration),
    ]


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
