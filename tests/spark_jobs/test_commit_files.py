"""What a commit did, read without Spark."""

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
