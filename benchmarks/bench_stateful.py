"""
A keyed job on drifting data, with and without Evenkeel: ``python -m benchmarks.bench_stateful [--quick] [--save FILE] [--write]``.

A real cluster (master and two workers of one core) cuts each day's clicks into sessions, four ways: from a plain hash layout, by Spark's
own shuffle with adaptive execution, salted by hand and merged, and from the state table that Evenkeel plans and flips every day.
All four answers must be equal. Task times are from Spark's event log. They vary on a machine that does other things; rows a task
do not, and stand beside them. Window 0 warms up; ten windows follow, and each is saved when it is over. ``--write`` keeps the run in docs/.
"""

import argparse
import json
import signal
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from benchmarks.goals import Goal, print_goals
from benchmarks.standalone_cluster import standalone_cluster
from benchmarks.stateful_figures import goals_of, print_runs
from benchmarks.stateful_page import SAVED, draw_picture, write_page
from benchmarks.stateful_windows import N_WORKERS, Run, run_windows

N_WINDOWS, ROUNDS = 10, 150  # 0.05 ms of work a row, 10 seconds a window
QUICK_WINDOWS, QUICK_ROUNDS = 1, 1


def run(*, quick: bool = False) -> list[Goal]:
    """The goals and what came of them. Starts a cluster and a Spark session of its own: none may be active."""
    n_windows, rounds = (QUICK_WINDOWS, QUICK_ROUNDS) if quick else (N_WINDOWS, ROUNDS)
    return goals_of([one for runs in measure(n_windows, rounds) for one in runs])


def measure(n_windows: int, rounds: int) -> Iterator[list[Run]]:
    """The runs of each window, as soon as it is over."""
    with tempfile.TemporaryDirectory(prefix="bench-stateful-") as name:
        folder = Path(name)
        with standalone_cluster(folder / "cluster", n_workers=N_WORKERS) as url:
            yield from run_windows(folder, url, n_windows=n_windows, rounds=rounds)


def main(argv: list[str] | None = None) -> None:
    args = _parse_args(argv)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # by our own means, so that the cluster ends too
    runs: list[Run] = []
    for of_window in measure(args.windows, QUICK_ROUNDS if args.quick else ROUNDS):
        runs += of_window
        _save(runs, [path for path in (args.save, SAVED if args.write else None) if path])
    print_runs(runs)
    print_goals(goals_of(runs))
    if args.write:
        write_page()
        draw_picture()


def _parse_args(argv: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--quick", action="store_true", help="one window and hardly any work a row: a minute or two"
    )
    parser.add_argument(
        "--windows", type=int, help=f"how many are counted; {N_WINDOWS}, or {QUICK_WINDOWS} if quick"
    )
    parser.add_argument(
        "--save", type=Path, help="also keep everything that was measured in this file, as JSON"
    )
    parser.add_argument(
        "--write", action="store_true", help="also keep it in docs/ and write the page's tables anew"
    )
    args = parser.parse_args(argv)
    args.windows = args.windows or (QUICK_WINDOWS if args.quick else N_WINDOWS)
    if args.windows < 1:
        parser.error(f"--windows must be at least 1. Got {args.windows}.")
    return args


def _save(runs: list[Run], paths: list[Path]) -> None:
    """After every window: whoever ends the benchmark early keeps what was measured."""
    saved = {"runs": [asdict(run) for run in runs], "goals": [asdict(goal) for goal in goals_of(runs)]}
    for path in paths:
        path.write_text(json.dumps(saved, indent=1) + "\n")


if __name__ == "__main__":
    main()
