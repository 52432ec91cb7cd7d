"""Figures of a window's way into the table: load, profile, and what settled files cost a reader."""

import tracemalloc
from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import pyarrow as pa
from pyspark.sql import functions as F

from benchmarks.figures import Clock, Figure, median_seconds, time_ratio
from benchmarks.layout_bench import LayoutBench
from benchmarks.layout_events import DAY, EIGHTH, distinct_events, zipf_events
from schemas.dataset import Dataset
from spark_jobs.job import Window
from spark_jobs.load_window import load_window, window_events
from spark_jobs.profile_keys import profile_keys

N_HEAVY_KEYS = 100  # among the keys of the memory's figure
MIN_KEYS = 10_000  # of fewer, all would be heavy


def load_figures(bench: LayoutBench) -> Iterator[Figure]:
    """A window whose slots are worth a file each, and one whose slots are not."""
    for window, share in ((DAY, 1), (EIGHTH, 8)):
        seconds = median_seconds(
            {
                "load_window": partial(_time_load, bench, window),
                "plain write": partial(_time_plain_write, bench, window),
            },
            n_rounds=bench.n_rounds,
        )
        rows = bench.n_rows / share / 1e6
        yield time_ratio(f"load_window of {rows:g}M rows / plain repartition and write", seconds, goal=1.3)


def _time_load(bench: LayoutBench, window: Window, clock: Clock) -> None:
    with bench.copy() as copy, clock:
        load_window(bench.task(copy, window=window))


def _time_plain_write(bench: LayoutBench, window: Window, clock: Clock) -> None:
    """Spark's own ``repartition`` by key; the column has the number of the task, so each writes one file."""
    n_buckets, key = bench.dataset.n_buckets, bench.dataset.key
    with bench.scratch() as path, clock:
        events = window_events(bench.task(window=window))
        numbered = events.withColumn("bucket", F.pmod(F.hash(key), F.lit(n_buckets)))
        numbered.repartition(n_buckets, key).write.format("delta").partitionBy("bucket").save(path)


def profile_figures(bench: LayoutBench) -> Iterator[Figure]:
    """Time with a tenth as many keys as rows, and memory from a hundredth to as many."""
    with bench.scratch() as events:
        n_keys = bench.n_rows // 10
        zipf_events(bench.spark, n_rows=bench.n_rows, n_keys=n_keys).write.format("delta").save(events)
        dataset = replace(bench.dataset, events=events)
        seconds = median_seconds(
            {
                "profile_keys": partial(_time_profile, bench, dataset),
                "groupBy": partial(_time_group_by, bench, dataset),
            },
            n_rounds=bench.n_rounds,
        )
    yield time_ratio(f"profile_keys / bare groupBy(key).count(), {_power(n_keys)} keys", seconds, goal=1.5)
    yield _memory_figure(bench)


def _time_profile(bench: LayoutBench, dataset: Dataset, clock: Clock) -> None:
    with clock:
        profile_keys(bench.task(dataset))


def _time_group_by(bench: LayoutBench, dataset: Dataset, clock: Clock) -> None:
    with clock:
        counts = window_events(bench.task(dataset)).groupBy(dataset.key).count()
        counts.write.format("noop").mode("overwrite").save()


def _memory_figure(bench: LayoutBench) -> Figure:
    few, many = max(bench.n_rows // 100, MIN_KEYS), bench.n_rows
    _driver_peak(bench, few)  # imports and caches are not the profile's
    (few_peak, few_items), (many_peak, many_items) = (_driver_peak(bench, n_keys) for n_keys in (few, many))
    return Figure(
        what=f"profile_keys: Python driver's peak, {_power(many)} keys / {_power(few)}",
        ratio=many_peak / few_peak,
        goal=1.1,
        detail=f"{many_peak / 1e6:.2f} MB for {many_items} items, {few_peak / 1e6:.2f} MB for {few_items}:"
        " traced allocations and Arrow's",
    )


def _driver_peak(bench: LayoutBench, n_keys: int) -> tuple[int, int]:
    """Bytes that Python and Arrow held at once while profiling, and how many slots and heavy keys came."""
    view = f"events_of_{n_keys}_keys"
    frame = distinct_events(
        bench.spark, n_keys=n_keys, n_heavy=N_HEAVY_KEYS, n_rows=bench.n_rows * 10 // 9 + 1
    )
    frame.createOrReplaceGlobalTempView(view)
    usual, arrow = pa.default_memory_pool(), pa.proxy_memory_pool(pa.default_memory_pool())
    pa.set_memory_pool(arrow)
    tracemalloc.start()
    try:
        result = profile_keys(bench.task(replace(bench.dataset, events=f"global_temp.{view}")))
        peak = tracemalloc.get_traced_memory()[1] + arrow.max_memory()
    finally:
        tracemalloc.stop()
        pa.set_memory_pool(usual)
    return peak, result["heavy_keys"] + result["slots"]


def _power(n_keys: int) -> str:
    return f"{n_keys:.0e}".replace("e+0", "e")


def read_figures(bench: LayoutBench) -> Iterator[Figure]:
    """All columns of all rows, from the settled table and from one with a single file a bucket."""
    dataset = bench.dataset
    with bench.scratch() as path:
        one_file = bench.read(dataset).repartitionById(dataset.n_buckets, F.col("bucket"))
        ordered = one_file.sortWithinPartitions("bucket", "slot", dataset.key)
        ordered.write.format("delta").partitionBy("bucket").save(path)
        seconds = median_seconds(
            {
                "settled": partial(_time_read, bench, dataset),
                "one file a bucket": partial(_time_read, bench, replace(dataset, state=path)),
            },
            n_rounds=bench.n_rounds,
        )
    yield time_ratio("full read, settled / one file a bucket", seconds, goal=1.25)


def _time_read(bench: LayoutBench, dataset: Dataset, clock: Clock) -> None:
    with clock:
        bench.read(dataset).write.format("noop").mode("overwrite").save()
