"""
Every benchmark in one run, each figure beside its goal: ``python -m benchmarks.bench [--quick] [--only NAME ...] [--save FILE]``.

Benchmarks are found, not listed: ``benchmarks.goals`` says what makes one. A missed goal is a result like any other, and so is
a benchmark that could not run: both are printed and kept, and the exit code is 0.
"""

import argparse
import importlib
import json
import pkgutil
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import benchmarks
from benchmarks.goals import Goal, print_goals

PREFIX = "bench_"

Run = Callable[..., list[Goal]]  # (*, quick: bool)


def main(argv: list[str] | None = None) -> None:
    found = find_benches()
    args = _parse_args(argv, list(found))
    results = {name: run_bench(name, found[name], quick=args.quick) for name in args.only}
    for name, goals in results.items():
        print(f"\n{name}")
        print_goals(goals)
    _print_count([goal for goals in results.values() for goal in goals])
    if args.save:
        save_results(args.save, results, quick=args.quick)


def _parse_args(argv: list[str] | None, names: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="the smallest runs that still say something")
    parser.add_argument("--only", nargs="+", choices=names, default=names, help="these benchmarks")
    parser.add_argument("--save", type=Path, help="keep the results in this file, as JSON")
    return parser.parse_args(argv)


def find_benches() -> dict[str, Run]:
    """The function ``run`` of every module ``benchmarks/bench_*.py`` that has one, by the module's name without the prefix."""
    found = {}
    for module in sorted(pkgutil.iter_modules(benchmarks.__path__), key=lambda module: module.name):
        if module.name.startswith(PREFIX):
            run = getattr(importlib.import_module(f"benchmarks.{module.name}"), "run", None)
            if run is not None:
                found[module.name.removeprefix(PREFIX)] = run
    return found


def run_bench(name: str, run: Run, *, quick: bool) -> list[Goal]:
    """Its goals, or one row that says why there are none: the others must run all the same."""
    print(f"{name} ...", flush=True)
    began = time.perf_counter()
    try:
        goals = run(quick=quick)
    except Exception as error:  # noqa: BLE001  (whatever it is, it is this benchmark's result)
        goals = [
            Goal(
                what=f"{name} ran to its end",
                goal="ends",
                result=f"{type(error).__name__}: {error}",
                met=False,
            )
        ]
    print(f"{name}: {time.perf_counter() - began:.0f} s", flush=True)
    return goals


def _print_count(goals: list[Goal]) -> None:
    with_goal = [goal for goal in goals if goal.goal]
    print(f"\n{sum(goal.met for goal in with_goal)} of {len(with_goal)} goals met, {len(goals)} figures")


def save_results(path: Path, results: dict[str, list[Goal]], *, quick: bool) -> None:
    """As ``benchmarks.compare_benches`` reads them."""
    kept = {
        "quick": quick,
        "benches": {name: [asdict(goal) for goal in goals] for name, goals in results.items()},
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n")
    print(f"kept in {path}")


if __name__ == "__main__":
    main()
