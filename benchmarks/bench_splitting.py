"""
One key of six tenths of all events, in 8 buckets: ``python -m benchmarks.bench_splitting [--quick] [--rows N] [--what …] [--save FILE]``.

A plain groupBy, Spark salted by hand and ``aggregate_window``, on an aggregate that Spark cannot combine on the map side and on one that it
can. Why it cannot: the partial result of a list is all of its values, so that no less is sent than the rows. Results must be equal. Task
times are from Spark's event log, of the stages that read a shuffle. It starts one Spark of its own with a heap of 6 GB; before each run
the same is done with a twentieth of the rows, to warm up, and of sending the quickest of three rounds counts, but in the quick form.
"""

import argparse
import json
import os
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from benchmarks.event_log import read_shuffle_stages
from benchmarks.goals import Goal, print_goals
from benchmarks.splitting_contenders import CONTENDERS, HOT_KEY, MERGES, N_BUCKETS, SplittingBench
from benchmarks.splitting_figures import HASH_REPARTITION, Measured, Outcome, goals_of, print_runs
from partitioning.hashing import hash_key
from partitioning.splitter_choice import Choice

SENDING = "sending"
EVERYTHING = (SENDING, *MERGES)
N_ROWS, QUICK_ROWS = 10_000_000, 50_000
WARM_UP = 20  # of so many rows one is enough to warm up
N_ROUNDS = 3  # of sending
SENT_BY = {
    "shuffle_heavy": Choice("shuffle_heavy", "", N_BUCKETS, (hash_key(HOT_KEY, "bigint"),)),
    "pkg, 5 candidates": Choice("pkg", "", 5),
    "cam": Choice("cam", ""),
    "shuffle": Choice("shuffle", ""),
    "hash": Choice("hash", ""),
}


def run(*, quick: bool = False) -> list[Goal]:
    """The goals and what came of them. Starts a Spark session of its own: none may be active."""
    return goals_of(measure(QUICK_ROWS if quick else N_ROWS, is_warm=not quick))


def measure(n_rows: int, *, is_warm: bool, what: Sequence[str] = EVERYTHING) -> Outcome:
    """All of ``what``, in a folder that is removed afterwards."""
    before = os.environ.get("EVENKEEL_WAREHOUSE", "")
    with tempfile.TemporaryDirectory(prefix="bench-splitting-") as name:
        folder, log = Path(name), Path(name) / "event_log"
        log.mkdir()
        os.environ["EVENKEEL_WAREHOUSE"] = name
        spark = _session(log)
        try:
            bench = SplittingBench(spark, folder, n_rows)
            warm = SplittingBench(spark, folder / "warm", n_rows // WARM_UP) if is_warm else None
            sending, runs = _measure(bench, warm, what)
        finally:
            spark.stop()
            os.environ["EVENKEEL_WAREHOUSE"] = before
        stages = read_shuffle_stages(log, n_tasks=(N_BUCKETS, 2 * N_BUCKETS))
    for one in runs:
        one.stages = stages[one.name]
    return Outcome(runs, sending)


def _session(log: Path) -> SparkSession:
    settings: dict[str, bool | float | int | str | None] = {
        "spark.driver.memory": "6g",  # a list of six million values is one row
        "spark.driver.extraJavaOptions": "-XX:-UsePerfData",  # both compilers, as executors of a cluster have them
        "spark.sql.shuffle.partitions": str(N_BUCKETS),
        "spark.sql.adaptive.coalescePartitions.enabled": "false",  # a task for each of N workers
        "spark.sql.files.maxPartitionBytes": "8m",
        "spark.executor.heartbeatInterval": "60s",  # a machine that does other things must not end the run
        "spark.network.timeout": "900s",
        "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": log.as_uri(),
        "spark.eventLog.compress": "false",
        "spark.eventLog.rolling.enabled": "false",
    }
    return SparkSession.builder.appName("bench_splitting").config(map=settings).getOrCreate()


def _measure(
    bench: SplittingBench, warm: SplittingBench | None, what: Sequence[str]
) -> tuple[dict[str, float], list[Measured]]:
    for one in (bench, warm):
        if one is not None:
            one.build()
    sending = _send_all(bench, 1 if warm is None else N_ROUNDS) if SENDING in what else {}
    merges = [one for one in MERGES if one in what]
    return sending, [_run(bench, warm, contender, one) for one in merges for contender in CONTENDERS]


def _send_all(bench: SplittingBench, n_rounds: int) -> dict[str, float]:
    """The least seconds of some rounds, by what sends the rows: the first one reads cold files and runs cold code."""
    ways: dict[str, Callable[[], None]] = {HASH_REPARTITION: bench.hash_repartition}
    ways |= {name: partial(bench.send, choice) for name, choice in SENT_BY.items()}
    rounds = [{name: _timed(name, way)[0] for name, way in ways.items()} for _ in range(n_rounds)]
    return {name: min(one[name] for one in rounds) for name in ways}


def _run(bench: SplittingBench, warm: SplittingBench | None, contender: str, what: str) -> Measured:
    """The event log knows the run by its name."""
    name, context = f"{contender}, {what}", bench.spark.sparkContext
    if warm is not None:
        warm.run(contender, what)
    context.setJobGroup(name, contender)
    seconds, facts = _timed(name, partial(bench.run, contender, what))
    context.setJobGroup("", "")
    digest = bench.digest(facts["table"])
    return Measured(name=name, contender=contender, what=what, seconds=seconds, facts=facts, digest=digest)


def _timed(name: str, work: Callable[[], Any]) -> tuple[float, Any]:
    began = time.perf_counter()
    result = work()
    seconds = time.perf_counter() - began
    print(f"  {name:<42} {seconds:6.1f} s", flush=True)
    return seconds, result


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--quick", action="store_true", help=f"{QUICK_ROWS:,} rows, to see that it runs: a minute"
    )
    parser.add_argument("--rows", type=int, default=N_ROWS, help=f"how many events; {N_ROWS:,}")
    parser.add_argument(
        "--what", nargs="+", choices=EVERYTHING, default=EVERYTHING, help="only some of it; everything"
    )
    parser.add_argument(
        "--save", type=Path, help="also keep everything that was measured in this file, as JSON"
    )
    args = parser.parse_args(argv)
    outcome = measure(QUICK_ROWS if args.quick else args.rows, is_warm=not args.quick, what=args.what)
    print_runs(outcome)
    print_goals(goals_of(outcome))
    if args.save:
        args.save.write_text(json.dumps(asdict(outcome), indent=1) + "\n")


if __name__ == "__main__":
    main()
