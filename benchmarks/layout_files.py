"""What many files cost a flip: the same change in a table of a thousand files and in one of a hundred thousand."""

import json
import shutil
from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from delta.tables import DeltaTable
from deltalake import DeltaTable as Log
from deltalake.transaction import AddAction

from benchmarks.figures import Clock, Figure, median_seconds, time_ratio
from benchmarks.layout_bench import LayoutBench
from partitioning.function import PartitioningFunction
from schemas.dataset import Dataset
from spark_jobs.control_tables import save_function
from spark_jobs.flip_mover import flip_rows
from spark_jobs.function_change import MIGRATE, FunctionChange
from spark_jobs.table_log import FUNCTION, initial_function

FEW, MANY = 1_024, 102_400  # files: one a slot, and a hundred
N_BUCKETS, N_SLOTS = 64, 1_024
N_MOVED = 8  # slots of one bucket


def file_figures(bench: LayoutBench) -> Iterator[Figure]:
    """The tables are logs without data files: a flip never opens one. The log of either has been read before."""
    contenders = {
        f"{n_files:,} files": partial(time_flip, bench, log_without_data(bench, n_files), n_moved=N_MOVED)
        for n_files in (MANY, FEW)
    }
    seconds = median_seconds(contenders, n_rounds=bench.n_rounds)
    yield time_ratio(f"flip of {N_MOVED} slots, {MANY:,} files / {FEW:,} files", seconds, goal=None)


def log_without_data(
    bench: LayoutBench, n_files: int, *, n_buckets: int = N_BUCKETS, n_slots: int = N_SLOTS
) -> Dataset:
    """A state table of so many settled files, the slots taking turns, of which only the log is there."""
    path = str(bench.folder / f"files-{n_files}-{n_buckets}-{n_slots}")
    shutil.rmtree(path, ignore_errors=True)
    name = f"files_{n_files}_{n_buckets}_{n_slots}"
    dataset = replace(bench.dataset, name=name, state=path, n_buckets=n_buckets, n_slots=n_slots)
    function = initial_function(dataset)
    save_function(dataset.name, function)
    table = (
        DeltaTable.create(bench.spark)
        .location(path)
        .partitionedBy("bucket")
        .property(FUNCTION, function.digest)
    )
    for column, kind in (("user_id", "BIGINT"), ("slot", "INT"), ("bucket", "INT")):
        table = table.addColumn(column, kind)
    table.execute()
    log = Log(path)
    log.create_write_transaction(
        [_entry(number, function) for number in range(n_files)], "append", log.schema(), ["bucket"]
    )
    return dataset


def _entry(number: int, function: PartitioningFunction) -> AddAction:
    slot = number % function.n_slots
    bucket = str(function.slots[slot])
    bounds = {"user_id": number, "slot": slot}
    stats = {
        "numRecords": 1_000,
        "minValues": bounds,
        "maxValues": bounds,
        "nullCount": dict.fromkeys(bounds, 0),
    }
    path = f"bucket={bucket}/part-{number:06}.parquet"
    return AddAction(path, 32 << 20, {"bucket": bucket}, 1, True, json.dumps(stats))


def time_flip(bench: LayoutBench, dataset: Dataset, clock: Clock, *, n_moved: int) -> None:
    """Slots of one bucket there, which is timed, and back."""
    here = initial_function(dataset)
    slots = [slot for slot, bucket in enumerate(here.slot_list) if bucket == 0][:n_moved]
    there = here.with_changes(slots=dict.fromkeys(slots, 1))
    save_function(dataset.name, there)
    with clock:
        flip_rows(bench.spark, dataset, FunctionChange(kind=MIGRATE, before=here, after=there))
    flip_rows(bench.spark, dataset, FunctionChange(kind=MIGRATE, before=there, after=here))
