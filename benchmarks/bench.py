"""
Every benchmark in one run, each figure beside its goal: ``python -m benchmarks.bench [--quick] [--only NAME ...] [--save FILE]``.

Benchmarks are found, not listed: ``benchmarks.goals`` says what makes one. Each runs in a process of its own, so that no JVM,
warehouse or setting of one serves the next. A missed goal is a result like any other, and so is
a benchmark that could not run: both are printed and kept, and the exit code is 0. What is over is kept at once, so that an interrupted run
loses only the benchmark that it was at.
"""

import argparse
import importlib
import pkgutil
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from types import ModuleType

import benchmarks
from benchmarks.goals import Goal, print_goals
from benchmarks.kept_runs import KeptRun, KeptRunError, read_run, write_run

PREFIX = "bench_"


def main(argv: list[str] | None = None) -> None:
    args = _parse_args(argv, find_benches())
    results: dict[str, list[Goal]] = {}
    for name in args.only:
        results[name] = run_bench(name, quick=args.quick)
        print_goals(results[name])
        if args.save:
            save_results(args.save, results, quick=args.quick)
    _print_count([goal for goals in results.values() for goal in goals])
    if args.save:
        print(f"kept in {args.save}")


def _parse_args(argv: list[str] | None, names: list[str]) -> argparse.Namespace:
    """Whatever could keep results from being kept is refused here, before hours of measuring."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="the smallest runs that still say something")
    parser.add_argument("--only", nargs="+", choices=names, default=names, help="these benchmarks")
    parser.add_argument(
        "--save", type=Path, help="keep the results in this file, as JSON, beside those of other benchmarks"
    )
    args = parser.parse_args(argv)
    if args.save:
        try:
            save_results(args.save, {}, quick=args.quick)
        except KeptRunError as error:
            parser.error(f"--save: {error}")
        except OSError as error:
            parser.error(
                f"--save must be a file that can be written. Got {args.save}: {error.strerror}. Name another."
            )
    return args


def find_benches() -> list[str]:
    """The modules ``benchmarks/bench_*.py`` that have a function ``run``, by their names without the prefix."""
    modules = sorted(module.name for module in pkgutil.iter_modules(benchmarks.__path__))
    return [
        name.removeprefix(PREFIX)
        for name in modules
        if name.startswith(PREFIX) and hasattr(_module(name), "run")
    ]


def run_bench(name: str, *, quick: bool) -> list[Goal]:
    """Its goals, or one row that says why there are none: the others must run all the same."""
    print(f"{name} ...", flush=True)
    began = time.perf_counter()
    try:
        with ProcessPoolExecutor(max_workers=1, mp_context=get_context("spawn")) as process:
            goals = process.submit(_run, name, quick=quick).result()
    except Exception as error:  # noqa: BLE001  (whatever it is, it is this benchmark's result)
        result = f"{type(error).__name__}: {error}"
        goals = [Goal(what=f"{name} runs to its end", goal="ends", result=result, met=False)]
    print(f"{name}: {time.perf_counter() - began:.0f} s", flush=True)
    return goals


def _run(name: str, *, quick: bool) -> list[Goal]:
    goals: list[Goal] = _module(f"{PREFIX}{name}").run(quick=quick)
    return goals


def _module(name: str) -> ModuleType:
    return importlib.import_module(f"benchmarks.{name}")


def _print_count(goals: list[Goal]) -> None:
    with_goal = [goal for goal in goals if goal.goal]
    print(f"\n{sum(goal.met for goal in with_goal)} of {len(with_goal)} goals met, {len(goals)} figures")


def save_results(path: Path, results: dict[str, list[Goal]], *, quick: bool) -> None:
    """As ``benchmarks.compare_benches`` reads them. Benchmarks that the file has and that did not run now stay."""
    earlier = _earlier(path, quick=quick)
    write_run(path, KeptRun(quick=quick, benches=earlier.benches | results))


def _earlier(path: Path, *, quick: bool) -> KeptRun:
    """What the file has, which must be of the same form: figures of quick runs never stand beside those of whole ones."""
    asked = KeptRun(quick=quick)
    kept = read_run(path) if path.exists() else asked
    if kept.quick != quick:
        raise KeptRunError(
            f"{path} must be of the {asked.form} form, or new. Got a kept run of the {kept.form} form. Save to another file."
        )
    return kept


if __name__ == "__main__":
    main()
