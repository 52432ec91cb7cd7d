"""
Bytes and time of layout changes, as ratios: ``python -m benchmarks.bench_layout [--rows N] [--save FILE]``.

Every yardstick is measured in the same run. A time is the median of three runs that take turns, after one that is not
counted; each begins from the same table, whose log has been read. Where others use the machine, the ratio of processor
times says more than that of times: it stands beside it. Bytes are those that appeared on disk, and must be those that the
commit states. 10 million rows take about half an hour on two cores and 7 GB of disk below TMPDIR, all of which is
removed; a tenth of the rows takes a tenth of the disk.
"""

import argparse
import json
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from pyspark.sql import SparkSession

from benchmarks.figures import Figure, print_figures
from benchmarks.goals import Goal
from benchmarks.layout_bench import DISK_BYTES_A_ROW, FULL_ROWS, N_BUCKETS, N_KEYS, N_SLOTS, LayoutBench
from benchmarks.layout_changes import change_figures, fourfold_figures, route_figures
from benchmarks.layout_files import file_figures
from benchmarks.layout_windows import load_figures, profile_figures, read_figures

QUICK_ROWS = 300_000
MIN_ROWS = 100_000  # fewer make files of a few rows, and times of nothing but overhead

Group = Callable[[LayoutBench], Iterator[Figure]]
GROUPS: dict[str, Group] = {
    "changes": change_figures,
    "routes": route_figures,
    "read": read_figures,
    "load": load_figures,
    "profile": profile_figures,
    "files": file_figures,
    "fourfold": fourfold_figures,  # the largest table: last, when the others are not needed any more
}


def main(argv: list[str] | None = None) -> None:
    args = _parse_args(argv)
    figures = _measure_all(n_rows=args.rows, n_rounds=args.rounds, groups=args.only)
    print_figures(figures)
    if args.save:
        result = {"rows": args.rows, "figures": [figure.as_dict() for figure in figures]}
        args.save.write_text(json.dumps(result, indent=1) + "\n")


def run(*, quick: bool) -> list[Goal]:
    """All groups, for ``make bench``."""
    figures = _measure_all(n_rows=QUICK_ROWS if quick else FULL_ROWS, n_rounds=3, groups=list(GROUPS))
    return [figure.as_goal() for figure in figures]


def _measure_all(*, n_rows: int, n_rounds: int, groups: list[str]) -> list[Figure]:
    with tempfile.TemporaryDirectory(prefix="bench-layout-") as folder:
        os.environ["EVENKEEL_WAREHOUSE"] = folder  # control tables of its own
        spark = SparkSession.builder.appName("bench_layout").getOrCreate()
        try:
            return list(_measure(LayoutBench(spark, Path(folder), n_rows, n_rounds), groups))
        finally:
            spark.stop()


def _parse_args(argv: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=FULL_ROWS, help="of the state table; default 10 million")
    parser.add_argument("--rounds", type=int, default=3, help="how often each thing is timed; default 3")
    parser.add_argument("--only", nargs="+", choices=GROUPS, default=list(GROUPS), help="these figures")
    parser.add_argument("--save", type=Path, help="also keep the figures in this file, as JSON")
    args = parser.parse_args(argv)
    if args.rows < MIN_ROWS:
        parser.error(f"--rows must be at least {MIN_ROWS:,}. Got {args.rows:,}.")
    if args.rounds < 1:
        parser.error(f"--rounds must be at least 1. Got {args.rounds}.")
    free, needed = shutil.disk_usage(tempfile.gettempdir()).free, args.rows * DISK_BYTES_A_ROW
    if free < needed:
        parser.error(
            f"{tempfile.gettempdir()} must have {needed / 1e9:.1f} GB free. Got {free / 1e9:.1f} GB. Set TMPDIR"
            " to another disk, or take fewer --rows."
        )
    return args


def _measure(bench: LayoutBench, groups: list[str]) -> Iterator[Figure]:
    print(
        f"{bench.n_rows:,} rows of {N_KEYS:,} keys, {N_BUCKETS} buckets, {N_SLOTS} slots; up to"
        f" {bench.n_rows * DISK_BYTES_A_ROW / 1e9:.1f} GB of disk in {bench.folder}"
    )
    began = time.monotonic()
    bench.build()
    _print_progress("tables built", began)
    for name, figures_of in GROUPS.items():
        if name in groups:
            for figure in figures_of(bench):
                _print_progress(f"{figure.what}: {figure.ratio:.4g}", began)
                yield figure


def _print_progress(what: str, began: float) -> None:
    print(f"  {time.monotonic() - began:6.0f} s  {what}", flush=True)


if __name__ == "__main__":
    main()
