"""What a commit did, read without Spark."""

import numpy as np
import pyarrow as pa
from deltalake import DeltaTable, write_deltalake
from deltalake.fs import DeltaStorageHandler
from pyarrow.fs import PyFileSystem

from spark_jobs.commit_files import Snapshot


def test_only_the_files_that_are_asked_for_are_looked_at(tmp_path):
    """A commit names a few files of a table that may have millions: the proof must not hold them all."""
    path = str(tmp_path / "table")
    rows = pa.table({"slot": pa.array([1, 1, 5], pa.int32()), "bucket": pa.array([0, 0, 1], pa.int32())})
    write_deltalake(path, rows, partition_by=["bucket"])
    table = DeltaTable(path)
    snapshot = Snapshot(table, PyFileSystem(DeltaStorageHandler(path)), n_slots=16)
    (wanted,) = (name for name in pa.table(table.get_add_actions())["path"].to_pylist() if "bucket=0" in name)

    found = snapshot.entries({wanted, "bucket=0/gone.parquet"})

    assert list(found) == [wanted]
    assert (found[wanted].bucket, found[wanted].rows) == (0, 2)
    assert (found[wanted].low_slot, found[wanted].high_slot) == (1, 1)


def test_files_are_found_by_what_their_statistics_let_them_hold(tmp_path):
    """Both ends of the range of slots count, in the file's own bucket."""
    path = str(tmp_path / "table")
    for bucket, slots in ((0, [2, 5]), (1, [2, 5]), (0, [9])):
        rows = pa.table(
            {"slot": pa.array(slots, pa.int32()), "bucket": pa.array([bucket] * len(slots), pa.int32())}
        )
        write_deltalake(path, rows, partition_by=["bucket"], mode="append")
    snapshot = Snapshot(DeltaTable(path), PyFileSystem(DeltaStorageHandler(path)), n_slots=16)

    def found(*places, but=()):
        entries = snapshot.others_over(np.array(sorted(places), dtype=np.int64), but)
        return sorted((entry.bucket, entry.low_slot) for entry in entries)

    assert found() == found(1, 6, 8, 10, 16 + 1, 16 + 6, 32) == []
    assert found(2) == found(4) == found(5) == [(0, 2)]
    assert found(5, 9, 16 + 2) == [(0, 2), (0, 9), (1, 2)]
    assert found(16 + 15) == []
    (path_of_9,) = (entry.path for entry in snapshot.others_over(np.array([9]), ()))
    assert found(5, 9, but=[path_of_9]) == [(0, 2)]


def test_file_without_statistics_may_hold_any_slot(tmp_path):
    """Another tool wrote it; that it tells nothing must not hide it."""
    path = str(tmp_path / "table")
    rows = pa.table({"slot": pa.array([3], pa.int32()), "bucket": pa.array([1], pa.int32())})
    write_deltalake(
        path, rows, partition_by=["bucket"], configuration={"delta.dataSkippingNumIndexedCols": "0"}
    )
    snapshot = Snapshot(DeltaTable(path), PyFileSystem(DeltaStorageHandler(path)), n_slots=16)

    assert [len(snapshot.others_over(np.array([place]), ())) for place in (15, 16, 31, 32)] == [0, 1, 1, 0]
