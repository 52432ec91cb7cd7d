"""Drifting windows on a cluster of two workers: what each way of spreading the rows took, window by window."""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TypeVar

import numpy as np
import pyarrow.parquet as pq
from pyspark.accumulators import AccumulatorParam
from pyspark.sql import SparkSession

from benchmarks.event_log import PythonStage, read_event_log
from benchmarks.stateful_job import totals_of
from benchmarks.stateful_layouts import (
    BY_BUCKET,
    EVENKEEL,
    LAID_OUT,
    NAMES,
    SALTED,
    SHUFFLE,
    SHUFFLED,
    StatefulBench,
)
from schemas.dataset import ROOT
from spark_jobs.generate_clicks import DAY, generate_clicks
from spark_jobs.job import Window

N_WORKERS, N_CORES = 2, 4  # a task at once for each of eight buckets
LONGEST_WAIT = 60.0  # seconds, for an event to be in the log
BEFORE = -1  # the window before the first
START = datetime(2026, 1, 3, tzinfo=UTC)

T = TypeVar("T")


@dataclass(kw_only=True)
class Run:
    """One way of spreading the rows, in one window."""

    name: str
    window: int
    seconds: dict[str, float] = field(default_factory=dict)  # of each step, on the clock
    results: dict[str, float] = field(default_factory=dict)  # what the job's answer comes to
    task_rows: list[int] = field(default_factory=list)  # that each task of the stateful stage worked on
    task_seconds: list[float] = field(default_factory=list)  # from Spark's event log
    shuffled_bytes: int = 0
    waited: float = 0.0  # seconds that the fullest task waited for look-ups
    plan: dict[str, float] = field(default_factory=dict)  # θ before, after and at best, and what was moved

    @property
    def straggler_by_rows(self) -> float:
        return max(self.task_rows) / float(np.mean(self.task_rows))

    @property
    def straggler_by_time(self) -> float:
        return max(self.task_seconds) / float(np.mean(self.task_seconds))

    @property
    def total(self) -> float:
        return sum(self.seconds.values())


@dataclass(frozen=True, kw_only=True)
class Size:
    """How much is done."""

    windows: int  # that are counted
    clicks: int  # a day
    past: int  # days in the state before them
    wait: float  # seconds to look a click of the day up


def run_windows(folder: Path, url: str, size: Size) -> Iterator[list[Run]]:
    """
    The runs of each window, as soon as it is over. The first of them finds the plain hash.

    The days before come as one window. Where there is more than one window to measure, every job runs once before it counts.
    """
    log = folder / "event_log"
    log.mkdir()
    os.environ["EVENKEEL_WAREHOUSE"] = str(folder / "warehouse")  # control tables of its own
    spark = _session(url, log)
    try:
        bench = StatefulBench(spark, folder, size.wait)
        past = Window(start=START - size.past * DAY, end=START)
        _generate(bench, past, size)
        bench.begin(past)
        if size.windows > 1:
            _warm_up(bench)
        for number in range(size.windows):
            _generate(bench, window_of(number), size)
            runs = _window(bench, number)
            stages = _stages_of(runs, log)
            for run in runs:
                _take_in(run, stages[_group(run)])
            yield runs
    finally:
        spark.stop()


def _stages_of(runs: list[Run], log: Path) -> dict[str, PythonStage]:
    """Spark writes its event log a moment after the fact: wait until all of these runs are in."""
    wanted, end = {_group(run) for run in runs}, time.monotonic() + LONGEST_WAIT
    while not wanted <= (stages := read_event_log(log)).keys():
        if time.monotonic() > end:
            raise TimeoutError(
                f"the event log must hold {sorted(wanted)} within {LONGEST_WAIT:.0f} seconds. Got {sorted(stages)}."
                " See whether the disk is full."
            )
        time.sleep(0.5)
    return stages


def _session(url: str, log: Path) -> SparkSession:
    settings: dict[str, bool | float | int | str | None] = {
        "spark.cores.max": str(N_WORKERS * N_CORES),
        "spark.executor.cores": str(N_CORES),
        "spark.executor.memory": "1500m",
        "spark.executor.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",  # they share two cores
        "spark.executorEnv.PYTHONPATH": str(ROOT),  # the job's function is imported by name
        "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": log.as_uri(),
        "spark.eventLog.compress": "false",
        "spark.eventLog.rolling.enabled": "false",
        "spark.scheduler.minRegisteredResourcesRatio": "1.0",  # both workers, from the first task on
    }
    builder = SparkSession.builder.appName("bench_stateful").master(url)
    return builder.config(map=settings).getOrCreate()


def window_of(number: int) -> Window:
    return Window(start=START + number * DAY, end=START + (number + 1) * DAY)


def _generate(bench: StatefulBench, window: Window, size: Size) -> None:
    """The window's events."""
    first_day = START - size.past * DAY
    generate_clicks(bench.task(EVENKEEL, window, first_day=first_day, clicks=size.clicks))


def _warm_up(bench: StatefulBench) -> None:
    """Run every job once, without waiting. Nothing is moved: window 0 must find the plain hash."""
    for name in NAMES:
        _job(replace(bench, wait=0.0), Run(name=name, window=BEFORE), window_of(BEFORE))
    bench.profile(window_of(BEFORE))
    bench.validate(window_of(BEFORE), bench.plan(window_of(BEFORE))["plan"])


def _window(bench: StatefulBench, number: int) -> list[Run]:
    """Each does what it does, one after the other."""
    window = window_of(number)
    runs = _loaded(bench, number, window)
    _rebalance(bench, runs[EVENKEEL], window)
    for name, run in runs.items():
        _job(bench, run, window)
        print(f"  window {number:2} {name:<9} {_steps(run)}", flush=True)
    return list(runs.values())


def _loaded(bench: StatefulBench, number: int, window: Window) -> dict[str, Run]:
    """The window is loaded for all. The two that shuffle share a table and its loading."""
    runs = {name: Run(name=name, window=number) for name in NAMES}
    bench.look_at_events(window)  # or the first to load would pay for that
    for name in (*LAID_OUT, SHUFFLE):
        _timed(runs[name], "load", partial(bench.load, name, window))
    runs[SALTED].seconds["load"] = runs[SHUFFLE].seconds["load"]
    return runs


def _rebalance(bench: StatefulBench, run: Run, window: Window) -> None:
    """What Evenkeel does between loading and the job."""
    _timed(run, "profile", partial(bench.profile, window))
    plan = _timed(run, "plan", partial(bench.plan, window))
    facts = (
        "imbalance_hash",
        "imbalance_before",
        "imbalance_after",
        "bound_imbalance",
        "n_routes",
        "n_moves",
    )
    run.plan = {fact: plan[fact] for fact in facts}
    if plan["n_moves"]:
        _timed(run, "validate", partial(bench.validate, window, plan["plan"]))
        moved = _timed(run, "migrate", partial(bench.migrate, window, plan["plan"]))
        _timed(run, "verify", partial(bench.verify, window, plan["plan"]))
        run.plan |= {fact: moved[fact] for fact in ("files_flipped", "files_rewritten", "bytes_written")}


def _job(bench: StatefulBench, run: Run, window: Window) -> None:
    target = bench.folder / "results" / _group(run)
    rows = bench.spark.sparkContext.accumulator([], _Rows())
    with _settings(bench.spark, BY_BUCKET if run.name in LAID_OUT else SHUFFLED):
        bench.spark.sparkContext.setJobGroup(_group(run), run.name)
        _timed(
            run,
            "job",
            lambda: bench.sessions(run.name, window, lambda n: rows.add([n])).write.parquet(str(target)),
        )
        bench.spark.sparkContext.setJobGroup("", "")
    run.results = totals_of([pq.read_table(target).to_pandas()])
    run.task_rows = sorted(rows.value)
    run.waited = max(run.task_rows) * bench.wait


class _Rows(AccumulatorParam[list[int]]):
    """Every task's number of rows, in a list."""

    def zero(self, value: list[int]) -> list[int]:  # noqa: ARG002  (Spark gives it)
        return []

    def addInPlace(self, value1: list[int], value2: list[int]) -> list[int]:  # noqa: N802  (Spark's name)
        return value1 + value2


@contextmanager
def _settings(spark: SparkSession, settings: dict[str, str]) -> Iterator[None]:
    before = {name: spark.conf.get(name, None) for name in settings}
    for name, value in settings.items():
        spark.conf.set(name, value)
    try:
        yield
    finally:
        for name, earlier in before.items():
            spark.conf.unset(name) if earlier is None else spark.conf.set(name, earlier)


def _timed(run: Run, step: str, work: Callable[[], T]) -> T:
    began = time.perf_counter()
    result = work()
    run.seconds[step] = time.perf_counter() - began
    return result


def _take_in(run: Run, stage: PythonStage) -> None:
    run.task_seconds, run.shuffled_bytes = stage.seconds, stage.shuffled_bytes


def _group(run: Run) -> str:
    return f"{run.name}-{run.window}"


def _steps(run: Run) -> str:
    return ", ".join(f"{step} {seconds:.1f} s" for step, seconds in run.seconds.items())
