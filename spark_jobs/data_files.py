"""A table's data files as its log describes them: where they lie, how big they are, between which slots their rows are."""

import json
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from partitioning.classify import FileRanges

UNKNOWN = -1


@dataclass(frozen=True, kw_only=True, eq=False)
class DataFiles:
    """Some files of one version. Position i of each array is one file."""

    action: list[str]  # the log's own entry, as JSON
    bucket: NDArray[np.int64]
    low_slot: NDArray[np.int64]
    high_slot: NDArray[np.int64]
    rows: NDArray[np.int64]  # alive: what deletion vectors hide is not counted; UNKNOWN without statistics
    deleted_rows: NDArray[np.int64]  # hidden by deletion vectors
    n_bytes: NDArray[np.int64]  # on disk

    def __len__(self) -> int:
        return len(self.action)

    def take(self, positions: NDArray[np.int64]) -> "DataFiles":
        arrays = ("bucket", "low_slot", "high_slot", "rows", "deleted_rows", "n_bytes")
        return DataFiles(
            action=[self.action[position] for position in positions],
            **{name: getattr(self, name)[positions] for name in arrays},
        )

    @property
    def ranges(self) -> FileRanges:
        return FileRanges(bucket=self.bucket, low_slot=self.low_slot, high_slot=self.high_slot)

    @property
    def is_settled(self) -> NDArray[np.bool_]:
        """Whether all rows of a file share one slot."""
        return np.asarray(self.low_slot == self.high_slot)

    @property
    def live_bytes(self) -> NDArray[np.float64]:
        """The bytes of rows that are alive, as if all rows of a file were alike."""
        alive = np.where(self.rows == UNKNOWN, 1, self.rows)
        return self.n_bytes * alive / np.maximum(alive + self.deleted_rows, 1)

    @property
    def paths(self) -> list[str]:
        return [json.loads(action)["path"] for action in self.action]


def described(files: DataFrame, *, n_slots: int, time: str | None = None) -> DataFrame:
    """
    The log's entries with what the jobs ask of them as columns.

    A file without statistics may hold any slot, any time and an unknown number of rows (NULL).
    """
    stats = F.from_json("stats", _stats_schema(time))
    n_rows = stats["numRecords"]
    deleted = F.coalesce(F.col("deletionVector.cardinality"), F.lit(0)).cast("long")
    columns = {
        "bucket": F.col("partitionValues")["bucket"].cast("int"),
        "low_slot": F.coalesce(stats["minValues"]["slot"], F.lit(0)),
        "high_slot": F.coalesce(stats["maxValues"]["slot"], F.lit(n_slots - 1)),
        "rows": n_rows - deleted,
        "deleted_rows": deleted,
        "n_bytes": F.col("size"),
    }
    if time is not None:
        columns |= _time_columns(stats, time)
    return files.select(
        F.to_json(F.struct("*")).alias("action"), *[column.alias(name) for name, column in columns.items()]
    )


def _stats_schema(time: str | None) -> T.StructType:
    times = [] if time is None else [T.StructField(time, T.TimestampType())]
    nulls = [] if time is None else [T.StructField(time, T.LongType())]
    values = T.StructType([T.StructField("slot", T.IntegerType()), *times])
    return T.StructType(
        [
            T.StructField("numRecords", T.LongType()),
            T.StructField("minValues", values),
            T.StructField("maxValues", values),
            T.StructField("nullCount", T.StructType(nulls)),
        ]
    )


def _time_columns(stats: Column, time: str) -> dict[str, Column]:
    """Bounds of the event times; statistics cut them to milliseconds, so the last one is rounded up."""
    is_known = stats["nullCount"][time] == 0
    last = stats["maxValues"][time] + F.expr("INTERVAL 1 MILLISECOND")
    return {
        "first_time": F.when(is_known, stats["minValues"][time]),
        "last_time": F.when(is_known, last),
    }


def collected(frame: DataFrame) -> DataFiles:
    """The described files on the driver, in the order of their entries: the same on every machine."""
    table: pa.Table = frame.toArrow().sort_by("action")
    numbers = {
        name: table[name].fill_null(UNKNOWN).to_numpy().astype(np.int64)
        for name in ("bucket", "low_slot", "high_slot", "rows", "deleted_rows", "n_bytes")
    }
    return DataFiles(action=table["action"].to_pylist(), **numbers)
