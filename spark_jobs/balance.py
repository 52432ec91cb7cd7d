"""How a window's load lies in the buckets of a function: the figures of a plan's "before", for any function."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow.compute as pc
from deltalake import DeltaTable
from numpy.typing import NDArray

from partitioning import PlanRequest
from partitioning.function import PartitioningFunction
from partitioning.history import NO_HISTORY
from partitioning.measures import imbalance, loads, mean_load
from schemas.dataset import Dataset
from schemas.tables import ITEM_STATS
from spark_jobs.item_stats import ItemStats, read_stats
from spark_jobs.job import Window
from spark_jobs.plan_request import request_of


@dataclass(frozen=True, kw_only=True, eq=False)
class Balance:
    """A profiled window under a function. Figures are those that a plan made on it begins with, to the last digit."""

    window: Window
    items: ItemStats  # split keys in parts
    request: PlanRequest

    @cached_property
    def load(self) -> NDArray[np.float64]:
        """Of each bucket; buckets that are still to come have none."""
        return loads(self.request, self.request.owner)

    @property
    def mean(self) -> float:
        return mean_load(self.request)

    @property
    def imbalance(self) -> float:
        """θ."""
        return imbalance(self.request, self.request.owner)

    def excess(self, load: float) -> float:
        """How far a load is above the mean, as a fraction of it; negative below. 0 where there is no load at all."""
        return load / self.mean - 1.0 if self.mean > 0 else 0.0


def balance_of(dataset: Dataset, window: Window, function: PartitioningFunction) -> Balance:
    """The window as it is profiled, under this function, judged for the number of buckets that the dataset wants."""
    items = read_stats(dataset, window).cut_by(function)
    return Balance(
        window=window, items=items, request=request_of(dataset, items, function, history=NO_HISTORY)
    )


def profiled_windows(dataset: Dataset) -> list[Window]:
    """The windows that ``item_stats`` holds, oldest first."""
    if not DeltaTable.is_deltatable(ITEM_STATS.path):
        return []
    names = ["window_start", "window_end"]
    stored = DeltaTable(ITEM_STATS.path).to_pyarrow_dataset()
    found = stored.to_table(columns=names, filter=pc.field("dataset") == dataset.name)
    distinct = found.group_by(names).aggregate([]).to_pylist()
    return sorted(
        (Window(start=row["window_start"], end=row["window_end"]) for row in distinct),
        key=lambda window: window.start,
    )


def newest_window(dataset: Dataset) -> Window | None:
    """The last window that was profiled; None if none was."""
    return next(reversed(profiled_windows(dataset)), None)
