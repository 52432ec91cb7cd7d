"""Tables of which only the log is there, in growing numbers of files, buckets and slots: a flip and its proof open no file."""

import shutil
from pathlib import Path
from typing import Any

from deltalake import DeltaTable as Log

from benchmarks.drift import Table
from benchmarks.exponents import SeriesBook
from benchmarks.figures import Clock
from benchmarks.layout_bench import LayoutBench
from benchmarks.layout_files import N_MOVED, log_without_data, time_flip
from benchmarks.scale_tables import add_times
from benchmarks.workloads import Workload
from partitioning import make_plan
from partitioning.budgets import Budgets
from partitioning.request import PlanRequest
from schemas.dataset import Dataset
from spark_jobs.table_log import initial_function
from spark_jobs.verify_layout import verify_layout

SLOTS_A_BUCKET = 16
BUCKETS_OF_SLOTS = 16  # of the tables that grow in slots alone
N_TRACKED = 5_000  # heavy keys: what a profile brings at most by default
ZIPF = 0.5  # so flat that even a thousand buckets can be balanced
BUDGETS = Budgets(max_imbalance=0.08, max_routes=None, max_migration=None)


def measure_files(bench: LayoutBench, book: SeriesBook, n_files: int) -> None:
    """The same slots in more files each."""
    dataset = log_without_data(bench, n_files)
    _measure_flip(bench, book, "files", n_files, dataset)
    log = Log(dataset.state)
    log.create_checkpoint()
    newest = max(Path(dataset.state, "_delta_log").glob("*.checkpoint*.parquet"))
    book.add("files", "checkpoint", "bytes", n_files, newest.stat().st_size)
    add_times(book, "files", "read the log anew", n_files, _time_replay(bench, dataset))
    shutil.rmtree(dataset.state)


def measure_buckets(bench: LayoutBench, book: SeriesBook, n_buckets: int, *, n_keys: int) -> None:
    """Sixteen slots a bucket, a file a slot."""
    _measure_function(bench, book, ("buckets", n_buckets), n_buckets * SLOTS_A_BUCKET, n_keys=n_keys)


def measure_slots(bench: LayoutBench, book: SeriesBook, n_slots: int, *, n_keys: int) -> None:
    """The same buckets, more slots, a file a slot."""
    _measure_function(bench, book, ("slots", BUCKETS_OF_SLOTS), n_slots, n_keys=n_keys)


def _measure_function(
    bench: LayoutBench, book: SeriesBook, grown: tuple[str, int], n_slots: int, *, n_keys: int
) -> None:
    axis, n_buckets = grown
    size = n_buckets if axis == "buckets" else n_slots
    request = _request(n_buckets, n_slots, n_keys=n_keys)
    clock = Clock()
    for _ in range(bench.n_rounds):
        with clock:
            make_plan(request)
    add_times(book, axis, "plan", size, clock)
    dataset = log_without_data(bench, n_slots, n_buckets=n_buckets, n_slots=n_slots)
    _measure_flip(bench, book, axis, size, dataset)
    function = initial_function(dataset).with_changes(
        routes=dict.fromkeys(range(10**12, 10**12 + N_TRACKED), 0)
    )
    book.add(axis, f"function with {N_TRACKED:,} routes", "bytes", size, len(function.to_json().encode()))
    shutil.rmtree(dataset.state)


def _request(n_buckets: int, n_slots: int, *, n_keys: int) -> PlanRequest:
    """A planner's request after a burst: slots, and as many heavy keys as a profile brings at most."""
    table = Table.of(Workload(n_keys=n_keys, n_buckets=n_buckets, zipf=ZIPF), n_slots=n_slots)
    table.drift()
    return table.item_request(BUDGETS, table.heaviest_keys(N_TRACKED))


def _measure_flip(bench: LayoutBench, book: SeriesBook, axis: str, size: int, dataset: Dataset) -> None:
    """A few slots of one bucket; where there are rounds to compare, after a flip that is not counted."""
    flips, proofs = Clock(), Clock()
    if bench.n_rounds > 1:
        time_flip(bench, dataset, Clock(), n_moved=N_MOVED)
    for _ in range(max(bench.n_rounds - 1, 1)):
        time_flip(bench, dataset, flips, n_moved=N_MOVED)
        with proofs:
            verify_layout(bench.task(dataset))
    add_times(book, axis, "classify and flip", size, flips)
    add_times(book, axis, "verify", size, proofs)
    book.add(axis, "bytes of the flip's log entry", "bytes", size, _last_commit_bytes(dataset))


def _last_commit_bytes(dataset: Dataset) -> int:
    return max(Path(dataset.state, "_delta_log").glob("*[0-9].json")).stat().st_size


def _time_replay(bench: LayoutBench, dataset: Dataset) -> Clock:
    """Spark forgets the table, then lists its files: what the first job of a session does."""
    clock = Clock()
    jvm: Any = bench.spark._jvm  # noqa: SLF001  (only Java can make Delta forget)
    for _ in range(bench.n_rounds):
        jvm.org.apache.spark.sql.delta.DeltaLog.clearCache()
        with clock:
            bench.files(dataset)
    return clock
