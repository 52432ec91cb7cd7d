"""
What our planner was built to do, as goals and results: ``python -m benchmarks.bench_planners [--quick] [--json FILE]``.

Every figure is a ratio or a count from seeded requests, so that anybody gets the same; times are over an argsort in the same
run. ``benchmarks.bench_published`` compares the papers' planners with each other, key by key.
"""

import argparse
import json
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

from benchmarks.bench_chaos import bench_chaos
from benchmarks.bench_drift import bench_drift, bench_explain, bench_time
from benchmarks.bench_settling import bench_convergence, bench_resize
from benchmarks.bench_small import bench_small
from benchmarks.bench_small_drift import bench_small_drift
from benchmarks.goals import Goal, print_goals
from benchmarks.rivals import Rivalry


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="fewer seeds and windows: about a minute")
    parser.add_argument("--only", nargs="*", default=None, help="parts to run, by their names below")
    parser.add_argument("--json", type=Path, help="also keep the rows in this file")
    args = parser.parse_args(argv)

    goals = _run_all(quick=args.quick, only=args.only)
    print_goals(goals)
    if args.json:
        args.json.write_text(json.dumps([asdict(goal) for goal in goals], indent=1) + "\n")


def run(*, quick: bool) -> list[Goal]:
    """All parts, for ``make bench``."""
    return _run_all(quick=quick, only=None)


def _run_all(*, quick: bool, only: list[str] | None) -> list[Goal]:
    rivalry = Rivalry()
    parts: dict[str, Callable[[], list[Goal]]] = {
        "time": lambda: bench_time(quick=quick),
        "explain": lambda: bench_explain(quick=quick),
        "small": lambda: bench_small(rivalry, quick=quick),
        "drift": lambda: bench_drift(rivalry, quick=quick),
        "small-drift": lambda: bench_small_drift(quick=quick),
        "convergence": lambda: bench_convergence(rivalry, quick=quick),
        "resize": lambda: bench_resize(quick=quick),
        "chaos": lambda: bench_chaos(rivalry, quick=quick),  # the longest
        "rivals": lambda: [rivalry.goal()],
    }
    goals: list[Goal] = []
    for name, run in parts.items():
        if only is not None and name not in (*only, "rivals"):
            continue
        began = time.perf_counter()
        print(f"{name} ...", flush=True)
        found = run()
        print_goals(found)  # what follows may take long
        print(f"  {time.perf_counter() - began:.0f} s", flush=True)
        goals += found
    return goals


if __name__ == "__main__":
    main()
