"""Figures of a change of function: what the movers write, how long they take, and what it costs to check them."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from pyspark.sql import SparkSession

from benchmarks.figures import Clock, Figure, median_seconds, time_ratio
from benchmarks.layout_bench import N_HEAVY, LayoutBench, is_log, sizes_on_disk
from partitioning.hashing import slots_of
from schemas.dataset import Dataset
from spark_jobs.audit_layout import audit_layout
from spark_jobs.flip_mover import flip_rows
from spark_jobs.function_change import FunctionChange
from spark_jobs.job import JobError
from spark_jobs.merge_mover import merge_rows
from spark_jobs.routing import with_bucket
from spark_jobs.table_log import layout_commit
from spark_jobs.verify_layout import verify_layout

Mover = Callable[[SparkSession, Dataset, FunctionChange], None]


@dataclass(frozen=True, kw_only=True)
class WrittenBytes:
    """What appeared on disk."""

    data: int  # Parquet
    vectors: int  # deletion vectors
    log: int  # the log and Hadoop's checksum files

    @property
    def total(self) -> int:
        return self.data + self.vectors + self.log


def change_figures(bench: LayoutBench) -> Iterator[Figure]:
    """Move 5 % of the state with each mover, and by writing the whole table anew."""
    change = bench.slot_change()
    table = int(bench.files(bench.dataset).n_bytes.sum())
    written = {
        "flip": _bytes_of(bench, flip_rows, change),
        "merge": _bytes_of(bench, merge_rows, change),
        "full rewrite": _bytes_of_rewrite(bench, change),
    }
    for name, by in written.items():
        yield Figure(
            what=f"bytes written by {name} / the table's",
            ratio=by.total / table,
            goal=0.001 if name == "flip" else None,
            detail=f"{by.data / 1e6:.2f} MB of data, {by.vectors / 1e6:.2f} of deletion vectors, {by.log / 1e6:.2f} of log;"
            f" table {table / 1e6:.0f} MB",
        )
    seconds = median_seconds(
        {
            "flip": partial(_time_mover, bench, flip_rows, change),
            "merge": partial(_time_mover, bench, merge_rows, change),
            "full rewrite": partial(_time_rewrite, bench, change),
        },
        n_rounds=bench.n_rounds,
        n_warm_ups=0,  # each has just run
    )
    for other, goal in (("full rewrite", 0.15), ("merge", 0.25)):
        pair = {name: seconds[name] for name in ("flip", other)}
        yield time_ratio(f"time of flip / {other}", pair, goal=goal)
    with bench.copy() as flipped:
        flip_rows(bench.spark, flipped, change)
        yield _verify_figure(bench, flipped, of="a flip")


def route_figures(bench: LayoutBench) -> Iterator[Figure]:
    """Give heavy keys routes of their own: the files of their slots must be divided."""
    change = bench.route_change()
    slots = set(slots_of(list(change.after.routes), bench.dataset.key_type, bench.dataset.n_slots).tolist())
    files = bench.files(bench.dataset)
    concerned = sum(
        n_bytes
        for low, high, n_bytes in zip(files.low_slot, files.high_slot, files.n_bytes.tolist(), strict=True)
        if slots & set(range(low, high + 1))
    )
    with bench.copy() as routed:
        written = _written_bytes(bench, routed, flip_rows, change)
        yield Figure(
            what=f"bytes written by routing {N_HEAVY} heavy keys / their slots' files",
            ratio=written.total / concerned,
            goal=1.5,
            detail=f"{written.data / 1e6:.2f} MB of data, {written.log / 1e6:.2f} of log;"
            f" {concerned / 1e6:.2f} MB in {len(slots)} slots",
        )
        yield _verify_figure(bench, routed, of="that routing")


def fourfold_figures(bench: LayoutBench) -> Iterator[Figure]:
    """The same flip in a table of four times the rows, taking turns with the smaller one."""
    fourfold = bench.build_fourfold()
    seconds = median_seconds(
        {
            "four times the rows": partial(
                _time_mover, bench, flip_rows, bench.slot_change(fourfold), dataset=fourfold
            ),
            "once": partial(_time_mover, bench, flip_rows, bench.slot_change()),
        },
        n_rounds=bench.n_rounds,
    )
    yield time_ratio(
        f"flip at {4 * bench.n_rows / 1e6:g}M rows / at {bench.n_rows / 1e6:g}M", seconds, goal=1.3
    )


def _verify_figure(bench: LayoutBench, changed: Dataset, *, of: str) -> Figure:
    task = bench.task(changed)

    def verify(clock: Clock) -> None:
        with clock:
            verify_layout(task)

    def audit(clock: Clock) -> None:
        with clock:
            audit_layout(task)

    seconds = median_seconds({"verify": verify, "audit": audit}, n_rounds=bench.n_rounds)
    return time_ratio(f"verify of {of} / audit", seconds, goal=0.2)


# Time


def _time_mover(
    bench: LayoutBench, move: Mover, change: FunctionChange, clock: Clock, dataset: Dataset | None = None
) -> None:
    with bench.copy(dataset) as copy, clock:
        move(bench.spark, copy, change)


def _time_rewrite(bench: LayoutBench, change: FunctionChange, clock: Clock) -> None:
    with bench.scratch() as path, clock:
        _rewrite(bench, change, path)


def _rewrite(bench: LayoutBench, change: FunctionChange, path: str) -> None:
    """What one does without a layout: read all, route all, write all."""
    dataset = bench.dataset
    routed = with_bucket(bench.read(dataset).drop("slot", "bucket"), change.after, key=dataset.key)
    by_bucket = routed.repartition(dataset.n_buckets, "bucket")
    by_bucket.write.format("delta").mode("overwrite").partitionBy("bucket").save(path)


# Bytes


def _bytes_of(bench: LayoutBench, move: Mover, change: FunctionChange) -> WrittenBytes:
    with bench.copy() as copy:
        return _written_bytes(bench, copy, move, change)


def _bytes_of_rewrite(bench: LayoutBench, change: FunctionChange) -> WrittenBytes:
    with bench.scratch() as path:
        _rewrite(bench, change, path)
        return _sorted_bytes(sizes_on_disk(path))


def _written_bytes(bench: LayoutBench, dataset: Dataset, move: Mover, change: FunctionChange) -> WrittenBytes:
    """What the move put on disk. The commit must say the same of its data files."""
    before = sizes_on_disk(dataset.state)
    move(bench.spark, dataset, change)
    after = sizes_on_disk(dataset.state)
    written = _sorted_bytes({path: size for path, size in after.items() if path not in before})
    said = int((layout_commit(dataset) or {}).get("bytes_written", -1))
    if said != written.data:
        raise JobError(
            f"a commit must say how many bytes of data it wrote. Got {said:,}, and {written.data:,} on disk. Correct what"
            " the mover notes."
        )
    return written


def _sorted_bytes(sizes: dict[Path, int]) -> WrittenBytes:
    data = sum(size for path, size in sizes.items() if path.suffix == ".parquet" and not is_log(path))
    vectors = sum(size for path, size in sizes.items() if path.suffix == ".bin")
    return WrittenBytes(data=data, vectors=vectors, log=sum(sizes.values()) - data - vectors)
