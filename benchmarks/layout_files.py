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
        f"{n_files:,} files": partial(_time_flip, bench, _make_table(bench, n_files))
        for n_files in (MANY, FEW)
    }
    seconds = median_seconds(contenders, n_rounds=bench.n_rounds)
    yield time_ratio(f"flip of {N_MOVED} slots, {MANY:,} files / {FEW:,} files", seconds, goal=None)


def _make_table(bench: LayoutBench, n_files: int) -> Dataset:
    path = str(bench.folder / f"files-{n_files}")
    shutil.rmtree(path, ignore_errors=True)
    dataset = replace(
        bench.dataset, name=f"files_{n_files}", state=path, n_buckets=N_BUCKETS, n_slots=N_SLOTS
    )
    function = initial_function(dataset)
    save_function(dataset.name, function)
    table = (
        DeltaTable.create(bench.spark)
        .location(path)
        .partitionedBy("bucket")
        .property(FUNCTION, function.digest)
    )
    for name, kind in (("user_id", "BIGINT"), ("slot", "INT"), ("bucket", "INT")):
        table = table.addColumn(name, kind)
    table.execute()
    log = Log(path)
    log.create_write_transaction(
        [_entry(number, function) for number in range(n_files)], "append", log.schema(), ["bucket"]
    )
    return dataset


def _entry(number: int, function: PartitioningFunction) -> AddAction:
    slot = number % N_SLOTS
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


def _time_flip(bench: LayoutBench, dataset: Dataset, clock: Clock) -> None:
    """There, which is timed, and back."""
    here = initial_function(dataset)
    slots = [slot for slot, bucket in enumerate(here.slot_list) if bucket == 0][:N_MOVED]
    there = here.with_changes(slots=dict.fromkeys(slots, 1))
    save_function(dataset.name, there)
    with clock:
        flip_rows(bench.spark, dataset, FunctionChange(kind=MIGRATE, before=here, after=there))
    flip_rows(bench.spark, dataset, FunctionChange(kind=MIGRATE, before=there, after=here))
