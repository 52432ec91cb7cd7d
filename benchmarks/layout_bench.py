"""What the layout's benchmark works on: a settled state table in a temporary warehouse, and copies of it."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
from pyspark.sql import DataFrame, SparkSession

from benchmarks.layout_events import DAY, START, zipf_events
from partitioning.function import PartitioningFunction
from schemas.dataset import Dataset
from spark_jobs.control_tables import save_function
from spark_jobs.create_layout import create_layout
from spark_jobs.data_files import DataFiles, collected
from spark_jobs.function_change import MIGRATE, FunctionChange
from spark_jobs.job import Task, Window
from spark_jobs.layout_transaction import LayoutTransaction
from spark_jobs.slot_sizes import slot_bytes
from spark_jobs.state_table import read_table
from spark_jobs.table_log import current_function

FULL_ROWS = 10_000_000
N_KEYS = 428_000
N_BUCKETS, N_SLOTS = 16, 256
SHARE_TO_MOVE = 0.05  # of the state, in bytes
N_HEAVY = 10  # keys that get a route
DISK_BYTES_A_ROW = 700  # at the peak, for 1 row of the smaller table: the fourfold one and its shuffle
_LOG = "_delta_log"


class QuietTask(Task):
    """A call of a job that says nothing on the way."""

    def say(self, sentence: str) -> None:
        pass


@dataclass(frozen=True, eq=False)
class LayoutBench:
    """The folder of all tables, how many rows the state table has, and how often a thing is timed."""

    spark: SparkSession
    folder: Path
    n_rows: int
    n_rounds: int

    @cached_property
    def dataset(self) -> Dataset:
        """Smaller runs get a smaller worth of a file, so that their files are laid out as those of a full run."""
        return Dataset(
            name="events", about="", schedule="@daily", start=START.date(), key="user_id", key_type="bigint",
            events=str(self.folder / "events"), event_time="clicked_at", state=str(self.folder / "state"),
            n_buckets=N_BUCKETS, n_slots=N_SLOTS, min_file_bytes=(1 << 20) * self.n_rows // FULL_ROWS,
            max_imbalance=0.08, max_routes=None, max_migration=None, planner="llfd", min_rows=1,
        )  # fmt: skip

    def task(self, dataset: Dataset | None = None, *, window: Window = DAY, **options: str) -> Task:
        return QuietTask(dataset=dataset or self.dataset, given_window=window, options=options)

    # Tables

    def build(self) -> None:
        """The events, and the state table that adopted them by a view, as another table: settled, one file a slot."""
        frame = zipf_events(self.spark, n_rows=self.n_rows, n_keys=N_KEYS)
        frame.write.format("delta").save(self.dataset.events)
        view = "events_to_adopt"
        read_table(self.spark, self.dataset.events).createOrReplaceGlobalTempView(view)
        create_layout(self.task(source=f"global_temp.{view}"))

    def build_fourfold(self) -> Dataset:
        """A settled table of four times the rows. Its source is a view and the other's is removed: both would cost disk."""
        shutil.rmtree(self.dataset.events)
        view = "events_fourfold"
        frame = zipf_events(self.spark, n_rows=4 * self.n_rows, n_keys=N_KEYS)
        frame.createOrReplaceGlobalTempView(view)
        dataset = replace(self.dataset, name="fourfold", state=str(self.folder / "fourfold"))
        create_layout(self.task(dataset, source=f"global_temp.{view}"))
        return dataset

    def read(self, dataset: Dataset) -> DataFrame:
        return read_table(self.spark, dataset.state)

    def files(self, dataset: Dataset) -> DataFiles:
        return collected(LayoutTransaction(self.spark, dataset).file_frame())

    @contextmanager
    def copy(self, dataset: Dataset | None = None) -> Iterator[Dataset]:
        """
        The dataset on a copy of its state table that may be changed and is gone afterwards.

        Data files are hard links: Delta never changes one. The log has been read once, as in a session at work.
        """
        original = dataset or self.dataset
        copied = replace(original, state=str(self.folder / "copies" / f"{next(self._numbers)}"))
        shutil.copytree(original.state, copied.state, copy_function=_link_data)
        self.files(copied)
        try:
            yield copied
        finally:
            shutil.rmtree(copied.state)

    @contextmanager
    def scratch(self) -> Iterator[str]:
        """A path for a table of a yardstick; gone afterwards."""
        path = self.folder / "copies" / f"{next(self._numbers)}"
        try:
            yield str(path)
        finally:
            shutil.rmtree(path, ignore_errors=True)

    @cached_property
    def _numbers(self) -> Iterator[int]:
        return iter(range(1_000_000))

    # Changes

    def slot_change(self, dataset: Dataset | None = None) -> FunctionChange:
        """Random slots that hold 5 % of the state go to the next bucket."""
        dataset = dataset or self.dataset
        function = current_function(dataset)
        sizes = slot_bytes(self.files(dataset), function)
        order = np.random.default_rng(0).permutation(N_SLOTS)
        n_moved = 1 + int(np.searchsorted(np.cumsum(sizes[order]), SHARE_TO_MOVE * sizes.sum()))
        moved = {int(slot): int(function.slots[slot] + 1) % N_BUCKETS for slot in order[:n_moved]}
        return _change(dataset, function, function.with_changes(slots=moved))

    def route_change(self) -> FunctionChange:
        """The heaviest keys go to the next bucket, each on its own."""
        function = current_function(self.dataset)
        heaviest = self.read(self.dataset).groupBy(self.dataset.key).count().orderBy("count", ascending=False)
        keys = [row[0] for row in heaviest.limit(N_HEAVY).collect()]
        routes = {key: (function.bucket_of(key) + 1) % N_BUCKETS for key in keys}
        return _change(self.dataset, function, function.with_changes(routes=routes))


def _change(dataset: Dataset, before: PartitioningFunction, after: PartitioningFunction) -> FunctionChange:
    save_function(dataset.name, after)
    return FunctionChange(kind=MIGRATE, before=before, after=after)


def _link_data(source: str, target: str) -> str:
    """Logs are copied: Delta overwrites its pointer to the last checkpoint."""
    if f"/{_LOG}/" in source:
        return shutil.copy2(source, target)
    os.link(source, target)
    return target


def sizes_on_disk(table: str) -> dict[Path, int]:
    """Bytes of each file below a table's folder."""
    return {path: path.stat().st_size for path in Path(table).rglob("*") if path.is_file()}


def is_log(path: Path) -> bool:
    return _LOG in path.parts
