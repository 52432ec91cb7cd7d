"""
A keyed job on drifting data, with and without Evenkeel: ``python -m benchmarks.bench_stateful [--quick] [--save FILE] [--write]``.

A real cluster (master and two workers, four tasks each) cuts every user's clicks into sessions each day, four ways: from a plain hash layout, by Spark's
own shuffle with adaptive execution, salted by hand and merged, and from the state table that Evenkeel plans and flips every day.
All four answers must be equal. Task times are from Spark's event log. They vary on a machine that does other things; rows a task
do not, and stand beside them. A month of clicks is in the state before ten windows begin, and each is saved when it is over. ``--write`` keeps
the run in docs/.
"""

import argparse
import json
import signal
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path

from benchmarks.goals import Goal, print_goals
from benchmarks.standalone_cluster import standalone_cluster
from benchmarks.stateful_figures import goals_of, print_runs
from benchmarks.stateful_page import SAVED, draw_picture, write_page
from benchmarks.stateful_windows import N_CORES, N_WORKERS, Run, Size, run_windows

WHOLE = Size(windows=10, clicks=200_000, past=30, wait=0.0015)
QUICK = Size(windows=1, clicks=100_000, past=1, wait=0.000_01)


def run(*, quick: bool = False) -> list[Goal]:
    """The goals and what came of them. Starts a cluster and a Spark session of its own: none may be active."""
    return goals_of([one for runs in measure(QUICK if quick else WHOLE) for one in runs])


def measure(size: Size) -> Iterator[list[Run]]:
    """The runs of each window, as soon as it is over."""
    with tempfile.TemporaryDirectory(prefix="bench-stateful-") as name:
        folder = Path(name)
        with standalone_cluster(folder / "cluster", n_workers=N_WORKERS, cores=N_CORES) as url:
            yield from run_windows(folder, url, size)


def main(argv: list[str] | None = None) -> None:
    args = _parse_args(argv)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # by our own means, so that the cluster ends too
    runs: list[Run] = []
    for of_window in measure(_size(args)):
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
        "--quick",
        action="store_true",
        help="one window, little state and hardly any waiting: a minute or two",
    )
    parser.add_argument(
        "--windows", type=int, help=f"how many are counted; {WHOLE.windows}, or {QUICK.windows} if quick"
    )
    parser.add_argument("--clicks", type=int, help=f"a day; {WHOLE.clicks:,}, or {QUICK.clicks:,} if quick")
    parser.add_argument(
        "--past", type=int, help=f"days in the state before; {WHOLE.past}, or {QUICK.past} if quick"
    )
    parser.add_argument(
        "--save", type=Path, help="also keep everything that was measured in this file, as JSON"
    )
    parser.add_argument(
        "--write", action="store_true", help="also keep it in docs/ and write the page's tables anew"
    )
    args = parser.parse_args(argv)
    for name in ("windows", "clicks", "past"):
        if (value := getattr(args, name)) is not None and value < 1:
            parser.error(f"--{name} must be at least 1. Got {value}.")
    return args


def _size(args: argparse.Namespace) -> Size:
    given = {name: getattr(args, name) for name in ("windows", "clicks", "past") if getattr(args, name)}
    return replace(QUICK if args.quick else WHOLE, **given)


def _save(runs: list[Run], paths: list[Path]) -> None:
    """After every window: whoever ends the benchmark early keeps what was measured."""
    saved = {"runs": [asdict(run) for run in runs], "goals": [asdict(goal) for goal in goals_of(runs)]}
    for path in paths:
        path.write_text(json.dumps(saved, indent=1) + "\n")


if __name__ == "__main__":
    main()
