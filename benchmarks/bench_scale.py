"""
What grows with what, and how fast: ``python -m benchmarks.bench_scale [--quick] [--least-keys N] [--most-keys N] [--save FILE] [--write]``.

Keys and bytes are those of real tables that Spark generates; files, buckets and slots are those of logs without data files, for a
flip and its proof open none. Every step is measured in seconds and in processor seconds, which others on the machine hardly change,
and has an exponent: the slope of the least-squares line through the logarithms, over all sizes and over the last two. ``--write``
puts the tables into docs/scale.md. 10^7 keys take 2 GB of disk below TMPDIR, 10^8 take 20, and may be measured by themselves: with
``--least-keys`` the smaller sizes are those of the kept run.
"""

import argparse
import os
import tempfile
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from pyspark.sql import SparkSession

from benchmarks.exponents import Series, SeriesBook, continued, read_series, save_series
from benchmarks.goals import Goal, print_goals
from benchmarks.layout_bench import LayoutBench
from benchmarks.scale_figures import goals_of, print_series
from benchmarks.scale_logs import measure_buckets, measure_files, measure_slots
from benchmarks.scale_page import SAVED, write_page
from benchmarks.scale_tables import measure_bytes, measure_keys

Keep = Callable[[list[Series]], None]

MOST_KEYS = 10**7
WARM_KEYS = 10**4
AXES = ("keys", "bytes", "files", "buckets", "slots")


@dataclass(frozen=True, kw_only=True)
class Sizes:
    """The sizes of each axis, ascending."""

    keys: tuple[int, ...]
    rows: tuple[int, ...]
    files: tuple[int, ...]
    buckets: tuple[int, ...]
    slots: tuple[int, ...]
    planned_keys: int  # behind the items that are planned
    rounds: int  # 1: everything is timed once, cold; more: what is quick is done so often, the first time not counted


FULL = Sizes(
    keys=(10**4, 10**5, 10**6, 10**7, 10**8),
    rows=(10**5, 10**6, 4 * 10**6),
    files=(1_024, 10_240, 102_400),
    buckets=(8, 64, 512, 1_024),
    slots=(256, 4_096, 65_536),
    planned_keys=10**6,
    rounds=2,
)
QUICK = Sizes(
    keys=(1_000, 10_000),
    rows=(5_000, 20_000),
    files=(64, 512),
    buckets=(8, 16),
    slots=(256, 512),
    planned_keys=20_000,
    rounds=1,
)


def run(*, quick: bool = False) -> list[Goal]:
    """The goals and what came of them, in a Spark session of its own unless one is active."""
    return goals_of(measure(QUICK if quick else FULL))


def measure(
    sizes: Sizes,
    *,
    least_keys: int = 0,
    most_keys: int = MOST_KEYS,
    axes: Collection[str] = AXES,
    keep: Keep = lambda _: None,
) -> list[Series]:
    """All series of these axes; ``keep`` is given what there is after every size. Tables are made below TMPDIR and removed."""
    before = os.environ.get("EVENKEEL_WAREHOUSE", "")
    with tempfile.TemporaryDirectory(prefix="bench-scale-") as folder:
        os.environ["EVENKEEL_WAREHOUSE"] = folder  # control tables of its own
        spark = _session()
        try:
            keys = tuple(n_keys for n_keys in sizes.keys if least_keys <= n_keys <= most_keys)
            return _measure_axes(
                LayoutBench(spark, Path(folder), 0, sizes.rounds), replace(sizes, keys=keys), axes, keep
            )
        finally:
            os.environ["EVENKEEL_WAREHOUSE"] = before


def _session() -> SparkSession:
    """The active one, or one with room for 10^8 keys on one machine."""
    settings: dict[str, bool | float | int | str | None] = {
        "spark.driver.memory": "6g",
        "spark.sql.shuffle.partitions": "16",
    }
    builder = SparkSession.builder.appName("bench_scale").config(map=settings)
    return SparkSession.getActiveSession() or builder.getOrCreate()


def _measure_axes(empty: LayoutBench, sizes: Sizes, axes: Collection[str], keep: Keep) -> list[Series]:
    book, began = SeriesBook(), time.monotonic()

    def bench(n_rows: int) -> LayoutBench:
        return replace(empty, n_rows=n_rows)

    planned = sizes.planned_keys
    all_axes: dict[str, tuple[tuple[int, ...], Callable[[int], None]]] = {
        "keys": (sizes.keys, lambda n: measure_keys(bench(n), book, n)),
        "bytes": (sizes.rows, lambda n: measure_bytes(bench(n), book, n)),
        "files": (sizes.files, lambda n: measure_files(bench(n), book, n)),
        "buckets": (sizes.buckets, lambda n: measure_buckets(bench(n), book, n, n_keys=planned)),
        "slots": (sizes.slots, lambda n: measure_slots(bench(n), book, n, n_keys=planned)),
    }
    if sizes.rounds > 1:
        measure_keys(bench(WARM_KEYS), SeriesBook(), WARM_KEYS)  # loads classes; not counted
    for axis in axes:
        of_axis, measure_one = all_axes[axis]
        for size in of_axis:
            measure_one(size)
            print(f"  {time.monotonic() - began:6.0f} s  {axis} {size:,}", flush=True)
            keep(book.series)
    return book.series


def main(argv: list[str] | None = None) -> None:
    args = _parse_args(argv)
    series = measure(
        QUICK if args.quick else FULL,
        least_keys=args.least_keys,
        most_keys=args.most_keys,
        axes=args.only,
        keep=partial(_keep, args),
    )
    series = _with_slopes(args, series)
    print_series(series)
    print_goals(goals_of(series))
    if args.write:
        write_page()


def _keep(args: argparse.Namespace, measured: list[Series]) -> None:
    """After every size: whoever ends the run early keeps what was measured."""
    series = _with_slopes(args, measured)
    if args.save:
        save_series(series, args.save)
    if args.write:
        axes = {one.axis for one in series}
        others = [one for one in read_series(SAVED) if one.axis not in axes]
        save_series(sorted([*others, *series], key=lambda one: AXES.index(one.axis)), SAVED)


def _with_slopes(args: argparse.Namespace, measured: list[Series]) -> list[Series]:
    """Those that have two points or more, with the kept ones of smaller sizes where these were left out."""
    series = continued(read_series(SAVED), measured) if args.least_keys else measured
    return [one for one in series if len(one.sizes) > 1]


def _parse_args(argv: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--quick", action="store_true", help="tiny sizes, to see that it runs: about a minute"
    )
    parser.add_argument("--most-keys", type=int, default=MOST_KEYS, help="default 10^7; 10^8 is possible")
    parser.add_argument(
        "--least-keys", type=int, default=0, help="the kept run has the sizes below; all are measured"
    )
    parser.add_argument("--only", nargs="+", choices=AXES, default=list(AXES), help="what grows; all of them")
    parser.add_argument("--save", type=Path, help="also keep the series in this file, as JSON")
    parser.add_argument(
        "--write",
        action="store_true",
        help="also keep them in docs/, in the place of their axes, and write the tables anew",
    )
    args = parser.parse_args(argv)
    if args.most_keys < FULL.keys[1]:
        parser.error(f"--most-keys must be at least {FULL.keys[1]:,}. Got {args.most_keys:,}.")
    return args


if __name__ == "__main__":
    main()
