"""Real tables of growing numbers of keys and of rows: what loading, profiling, planning, a flip and its proof cost."""

import shutil
from collections.abc import Callable
from dataclasses import replace

from pyspark.sql import DataFrame

from benchmarks.exponents import SeriesBook
from benchmarks.figures import Clock
from benchmarks.layout_bench import LayoutBench
from benchmarks.layout_events import distinct_events, zipf_events
from schemas.dataset import Dataset
from spark_jobs.create_layout import create_layout
from spark_jobs.flip_mover import flip_rows
from spark_jobs.load_window import load_window
from spark_jobs.plan_moves import plan_moves
from spark_jobs.profile_keys import profile_keys
from spark_jobs.verify_layout import verify_layout

N_HEAVY = 100
KEYS_OF_ROWS = 100_000  # of the tables that grow in rows alone
MIN_FILE_BYTES = 1_024  # little enough for a file a slot at every size: what grows is the table, not how its files are divided


def measure_keys(bench: LayoutBench, book: SeriesBook, n_keys: int) -> None:
    """A day in which every key occurs once, and a tenth of the rows belongs to a hundred of them: rows grow with keys."""
    n_rows = n_keys * 10 // 9 + 1
    frame = distinct_events(bench.spark, n_keys=n_keys, n_heavy=N_HEAVY, n_rows=n_rows)
    _measure(bench, book, "keys", n_keys, frame)


def measure_bytes(bench: LayoutBench, book: SeriesBook, n_rows: int) -> None:
    """The same keys, more rows of each."""
    _measure(bench, book, "bytes", None, zipf_events(bench.spark, n_rows=n_rows, n_keys=KEYS_OF_ROWS))


def _measure(bench: LayoutBench, book: SeriesBook, axis: str, size: float | None, frame: DataFrame) -> None:
    """Every step once, from an empty table; the table is gone afterwards. Bytes are those of its files."""
    view = f"{axis}_events"
    frame.createOrReplaceGlobalTempView(view)
    name = f"{axis}_{bench.n_rows}"
    dataset = replace(
        bench.dataset,
        name=name,
        events=f"global_temp.{view}",
        state=str(bench.folder / name),
        min_file_bytes=MIN_FILE_BYTES,
        planner="evenkeel",
    )
    create_layout(bench.task(dataset))
    taken = {step: _timed(work) for step, work in _steps(bench, dataset)}
    n_bytes = float(bench.files(dataset).n_bytes.sum())
    for step, clock in taken.items():
        add_times(book, axis, step, size or n_bytes, clock)
    if size:
        book.add(axis, "bytes of the table", "bytes", size, n_bytes)
    shutil.rmtree(dataset.state)


def _steps(bench: LayoutBench, dataset: Dataset) -> list[tuple[str, Callable[[], object]]]:
    task = bench.task(dataset)
    return [
        ("load", lambda: load_window(task)),
        ("profile", lambda: profile_keys(task)),
        ("plan", lambda: plan_moves(task)),
        ("classify and flip", lambda: _flip(bench, dataset)),
        ("verify", lambda: verify_layout(task)),
    ]


def _flip(bench: LayoutBench, dataset: Dataset) -> None:
    """Random slots that hold 5 % of the bytes."""
    flip_rows(bench.spark, dataset, bench.slot_change(dataset))


def _timed(work: Callable[[], object]) -> Clock:
    clock = Clock()
    with clock:
        work()
    return clock


def add_times(book: SeriesBook, axis: str, step: str, size: float, clock: Clock) -> None:
    book.add(axis, step, "s", size, clock.median.wall)
    book.add(axis, step, "CPU s", size, clock.median.cpu)
