"""What one commit did to the table's files, read from the log itself by delta-rs and Arrow, without Spark."""

import json
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from urllib.parse import unquote

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from deltalake import DeltaTable
from deltalake.fs import DeltaStorageHandler
from numpy.typing import NDArray
from pyarrow.fs import PyFileSystem

from schemas.dataset import Dataset
from spark_jobs.locations import uri_of
from spark_jobs.table_log import state_log

_ASKED_FOR = ("path", "partition.bucket", "num_records", "size_bytes", "min.slot", "max.slot")


@dataclass(frozen=True, kw_only=True)
class FileEntry:
    """One data file of one version."""

    path: str
    bucket: int
    rows: int  # with those that a deletion vector hides
    n_bytes: int
    low_slot: int
    high_slot: int


@dataclass(frozen=True, eq=False)
class Snapshot:
    """One version of the table: its files, and which of their rows are deleted."""

    table: DeltaTable
    files: PyFileSystem
    n_slots: int

    def entries(self, paths: Collection[str]) -> dict[str, FileEntry]:
        """Those of these files that are in this version, by path. The others never become objects of Python: there may be millions."""
        return {entry.path: entry for entry in self._where(_is_in(self._actions, paths))}

    def n_entries(self, paths: Collection[str]) -> int:
        return int(pc.sum(_is_in(self._actions, paths)).as_py() or 0)

    def others_over(self, places: NDArray[np.int64], paths: Collection[str]) -> list[FileEntry]:
        """
        All files but these that may, by their statistics, hold a row of one of these places.

        A place is ``bucket * n_slots + slot``; they must ascend.
        """
        bucket, low, high = self._ranges
        first = np.searchsorted(places, bucket * self.n_slots + low, side="left")
        end = np.searchsorted(places, bucket * self.n_slots + high, side="right")
        return self._where(pc.and_not(pa.array(first < end), _is_in(self._actions, paths)))

    @cached_property
    def _actions(self) -> pa.Table:
        """What the log says of each file, without the statistics that nobody asks for."""
        actions = pa.table(self.table.get_add_actions(flatten=True))
        return actions.select([name for name in _ASKED_FOR if name in actions.column_names])

    @property
    def _ranges(self) -> Iterator[NDArray[np.int64]]:
        """Of each file its bucket, and between which slots its rows are."""
        actions = self._actions
        unknown = pa.nulls(actions.num_rows, pa.int64())
        for name, otherwise in (("partition.bucket", 0), ("min.slot", 0), ("max.slot", self.n_slots - 1)):
            column = actions[name] if name in actions.column_names else unknown
            yield column.cast(pa.int64()).fill_null(otherwise).to_numpy()

    def _where(self, is_wanted: pa.Array) -> list[FileEntry]:
        return [self._entry(action) for action in self._actions.filter(is_wanted).to_pylist()]

    def _entry(self, action: dict[str, Any]) -> FileEntry:
        low, high = action.get("min.slot"), action.get("max.slot")
        return FileEntry(
            path=action["path"],
            bucket=action["partition.bucket"],
            rows=action["num_records"],
            n_bytes=action["size_bytes"],
            low_slot=0 if low is None else low,
            high_slot=self.n_slots - 1 if high is None else high,
        )

    @cached_property
    def alive(self) -> dict[str, NDArray[np.bool_]]:
        """Which rows of each file with deleted ones are alive, by the file's name."""
        vectors = pa.table(self.table.deletion_vectors()).to_pylist()
        return {
            name_of(unquote(vector["filepath"])): np.array(vector["selection_vector"], dtype=np.bool_)
            for vector in vectors
        }

    def batches_of(self, entry: FileEntry) -> Iterator[pa.RecordBatch]:
        """The file's live rows."""
        alive = self.alive.get(name_of(entry.path))
        with self.files.open_input_file(unquote(entry.path)) as stream:
            first = 0
            # As nanoseconds, which is how old timestamps would come, years far from ours do not fit.
            for batch in pq.ParquetFile(stream, coerce_int96_timestamp_unit="us").iter_batches():
                end = first + batch.num_rows
                yield batch if alive is None else batch.filter(pa.array(_padded(alive, end)[first:end]))
                first = end


@dataclass(frozen=True, kw_only=True, eq=False)
class CommitFiles:
    """The files that a commit removed, wrote or flipped, and the versions on both sides of it."""

    before: Snapshot
    after: Snapshot
    removed: list[FileEntry]  # also: whose deleted rows changed
    written: list[FileEntry]
    flipped: list[tuple[FileEntry, FileEntry]]  # before and after

    def untouched_over(self, places: NDArray[np.int64]) -> list[FileEntry]:
        """Files that the commit left as they were, and that may hold a row of one of these places (``Snapshot.others_over``)."""
        return self.after.others_over(places, self._touched)

    @property
    def is_each_file_once(self) -> bool:
        """Whether no file that was added is listed twice: with other deleted rows it would be another file to Delta, and both would be read."""
        return self.after.n_entries(self._touched) == len(self._touched)

    @property
    def _touched(self) -> list[str]:
        return [entry.path for entry in (*self.written, *(new for _, new in self.flipped))]

    @property
    def flips_are_faithful(self) -> bool:
        """Whether every flipped file has the size, the rows and the deleted rows it had."""
        return all(
            (old.rows, old.n_bytes) == (new.rows, new.n_bytes)
            and np.array_equal(self.before.alive.get(name, []), self.after.alive.get(name, []))
            for old, new in self.flipped
            for name in [name_of(old.path)]
        )


def read_commit(dataset: Dataset, version: int) -> CommitFiles:
    """What the commit that made this version did."""
    store = PyFileSystem(DeltaStorageHandler(uri_of(dataset.state)))
    before, after = (Snapshot(state_log(dataset, v), store, dataset.n_slots) for v in (version - 1, version))
    with store.open_input_stream(f"_delta_log/{version:020}.json") as stream:
        actions = [json.loads(line) for line in stream.read().splitlines()]
    removed = {action["remove"]["path"] for action in actions if "remove" in action}
    added = {action["add"]["path"] for action in actions if "add" in action}
    were, are = before.entries(added | removed), after.entries(added)
    flipped = sorted((added - removed) & were.keys())
    return CommitFiles(
        before=before,
        after=after,
        removed=[were[path] for path in sorted(removed)],
        written=[are[path] for path in sorted(added - set(flipped))],
        flipped=[(were[path], are[path]) for path in flipped],
    )


def _is_in(actions: pa.Table, paths: Collection[str]) -> pa.Array:
    return pc.is_in(actions["path"].cast(pa.string()), pa.array(paths, pa.string()))


def name_of(path: str) -> str:
    return path.rpartition("/")[2]


def _padded(alive: NDArray[np.bool_], n_rows: int) -> NDArray[np.bool_]:
    """A deletion vector says nothing about rows after the last deleted one: they are alive."""
    return np.pad(alive, (0, max(0, n_rows - alive.size)), constant_values=True)
