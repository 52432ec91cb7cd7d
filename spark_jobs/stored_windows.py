"""The windows that ``item_stats`` holds, as arrays beside each other. One read, no loop over rows."""

from dataclasses import dataclass
from datetime import datetime

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from deltalake import DeltaTable
from numpy.typing import NDArray

from partitioning.item_windows import ItemWindows
from schemas.dataset import Dataset
from schemas.tables import ITEM_STATS
from spark_jobs.balance import profiled_windows
from spark_jobs.job import JobError, Window
from spark_jobs.scheduled_windows import are_alike, is_interval

Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, eq=False)
class StoredWindows:
    """``items`` has a row for each of ``starts``, oldest first, and a column for each of ``keys``."""

    items: ItemWindows
    starts: list[datetime]
    keys: list[str | None]  # as the table names them


def read_windows(dataset: Dataset, *, until: datetime, n_windows: int) -> StoredWindows:
    """
    The last ``n_windows`` windows up to the one that starts at ``until``; fewer if fewer are stored.

    They follow one another without a gap, and are like the newest of them: as long, or intervals of the schedule as it is. What came
    before a gap, or a window of another kind, is left out, since no forecast could tell when it was.
    """
    in_a_row = starts_in_a_row(dataset, until=until, n_windows=n_windows)
    starts = pa.array(in_a_row, ITEM_STATS.columns["window_start"])
    rows = _rows(dataset, starts)
    window = pc.index_in(rows["window_start"], value_set=starts)
    is_slot = pc.equal(rows["kind"], "slot")
    slots, keys = rows.filter(is_slot), rows.filter(pc.invert(is_slot))
    names = _names(keys)
    places = pc.index_in(keys["key"], value_set=names)
    shape = (len(starts), dataset.n_slots)
    in_slots = _Spread(shape=shape, row=_whole(window.filter(is_slot)), column=_whole(slots["slot"]))
    in_keys = _Spread(
        shape=(len(starts), len(names)), row=_whole(window.filter(pc.invert(is_slot))), column=_whole(places)
    )
    key_slot = np.zeros(len(names), dtype=np.int64)
    key_slot[_whole(places)] = _whole(keys["slot"])
    items = ItemWindows(
        slot_cost=in_slots.spread(slots["cost"], empty=0.0),
        slot_state=in_slots.spread(slots["state"], empty=0.0),
        key_cost=in_keys.spread(keys["cost"], empty=np.nan),
        key_state=in_keys.spread(keys["state"], empty=np.nan),
        key_slot=key_slot,
    )
    return StoredWindows(items=items, starts=starts.to_pylist(), keys=names.to_pylist())


def starts_in_a_row(dataset: Dataset, *, until: datetime, n_windows: int) -> list[datetime]:
    """
    When the windows begin that ``read_windows`` reads, oldest first.

    Windows by hand that overlap others are no gap: each window is followed back to one that ends where it begins, to the schedule's own
    if there are two.
    """
    windows = [window for window in profiled_windows(dataset) if window.start <= until]
    if not windows:
        raise no_windows(dataset)
    newest = windows.pop()
    ending: dict[datetime, Window] = {}
    for window in windows:
        if not are_alike(dataset.schedule, window, newest):
            continue
        # The schedule is asked only where two end at once: there may be thousands of windows.
        if window.end not in ending or is_interval(dataset.schedule, window):
            ending[window.end] = window
    starts = [newest.start]
    while len(starts) < n_windows and (before := ending.get(starts[-1])):
        starts.append(before.start)
    return starts[::-1]


def _rows(dataset: Dataset, starts: pa.Array) -> pa.Table:
    """The items of these windows; the files of others are not opened."""
    wanted = (
        (pc.field("dataset") == dataset.name)
        & (pc.field("window_start") >= starts[0])
        & pc.field("window_start").isin(starts)
    )
    rows = DeltaTable(ITEM_STATS.path).to_pyarrow_dataset().to_table(filter=wanted)
    if pc.max(rows["slot"]).as_py() >= dataset.n_slots:
        raise JobError(
            f"item_stats.slot must be below layout.slots, {dataset.n_slots}. Got {pc.max(rows['slot']).as_py()}. The number of"
            " slots cannot be changed: put the old one back."
        )
    return rows


def no_windows(dataset: Dataset) -> JobError:
    return JobError(
        f"item_stats must hold windows of {dataset.name}. Got none. Run a few windows first, by its Dag or by evenkeel run {dataset.name}."
    )


def _names(keys: pa.Table) -> pa.Array:
    """The distinct keys as ``item_stats.read_stats`` orders them: the NULL key first, then by text."""
    distinct = pc.unique(keys["key"]).to_pylist()
    return pa.array(sorted(distinct, key=lambda key: (key is not None, key or "")), pa.string())


@dataclass(frozen=True, kw_only=True, eq=False)
class _Spread:
    """Rows of a table as cells of a matrix."""

    shape: tuple[int, int]
    row: NDArray[np.int64]
    column: NDArray[np.int64]

    def spread(self, values: pa.ChunkedArray, *, empty: float) -> Floats:
        matrix = np.full(self.shape, empty)
        matrix[self.row, self.column] = values.to_numpy()
        return matrix


def _whole(values: pa.ChunkedArray) -> NDArray[np.int64]:
    return np.asarray(values.to_numpy(), dtype=np.int64)
