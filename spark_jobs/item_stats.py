"""A window's statistics as arrays: its slots, then its heavy keys as the values they have in the state table."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partitioning.function import PartitioningFunction
from partitioning.function_json import key_of_text
from partitioning.measures import load_per_bucket
from partitioning.request import NO_SLOT
from schemas.dataset import Dataset
from schemas.tables import ITEM_STATS
from spark_jobs.control_tables import read_rows
from spark_jobs.job import JobError, Window


@dataclass(frozen=True, kw_only=True, eq=False)
class ItemStats:
    """Position i of each describes the same item. Slot s is item s; heavy keys follow, in the order of their text."""

    slot: NDArray[np.int64]  # the slot, or the key's slot
    key: list[Any]  # of the heavy keys only; None is the NULL key
    cost: NDArray[np.float64]
    state: NDArray[np.float64]

    @property
    def n_slots(self) -> int:
        return self.slot.size - len(self.key)

    @property
    def is_slot(self) -> NDArray[np.bool_]:
        return np.asarray(np.arange(self.slot.size) < self.n_slots)

    @property
    def slot_position(self) -> NDArray[np.int64]:
        """For each key the position of its slot's item, as a plan request wants it."""
        return np.where(self.is_slot, NO_SLOT, self.slot)

    def name_of(self, position: int) -> dict[str, Any]:
        """How an item is named in the tables: kind, slot and key."""
        is_slot = position < self.n_slots
        return {
            "kind": "slot" if is_slot else "key",
            "slot": int(self.slot[position]),
            "key": None if is_slot else self.key[position - self.n_slots],
        }

    def buckets(self, function: PartitioningFunction) -> NDArray[np.int64]:
        """The bucket of each item under this function."""
        return np.concatenate([function.slots, function.buckets_of(self.key) if self.key else []]).astype(
            np.int64
        )

    def imbalance(self, function: PartitioningFunction, n_wanted: int) -> float:
        """θ over the buckets that are wanted in the end: those above are being emptied, those still to come are empty."""
        n_buckets = max(function.n_buckets, n_wanted)
        load = load_per_bucket(self.cost, self.buckets(function), n_buckets)
        mean = float(load.sum()) / n_wanted
        return max(0.0, float(load[:n_wanted].max()) / mean - 1.0) if mean > 0 else 0.0

    def homes(self, function: PartitioningFunction) -> NDArray[np.int64]:
        """The bucket of each item's slot."""
        return np.asarray(function.slots[self.slot])


def read_stats(dataset: Dataset, window: Window) -> ItemStats:
    """The window's items: the same order whatever wrote them."""
    rows = read_rows(ITEM_STATS, dataset=dataset.name, window_start=window.start)
    if not rows.num_rows:
        raise JobError(f"item_stats must hold the window {window.name}. Got no rows. Run profile_keys first.")
    items = sorted(rows.to_pylist(), key=_order)
    keys = [key_of_text(item["key"], dataset.key_type) for item in items if item["kind"] == "key"]
    stats = ItemStats(
        slot=np.array([item["slot"] for item in items], dtype=np.int64),
        key=keys,
        cost=np.array([item["cost"] for item in items], dtype=np.float64),
        state=np.array([item["state"] for item in items], dtype=np.float64),
    )
    if stats.slot[: stats.n_slots].tolist() != list(range(dataset.n_slots)):
        raise JobError(
            f"item_stats must hold each of the {dataset.n_slots} slots once for the window {window.name}. Got"
            f" {stats.n_slots} rows of kind slot. Run profile_keys again: it replaces them."
        )
    return stats


def _order(item: dict[str, Any]) -> tuple[bool, int, bool, str]:
    is_key = item["kind"] == "key"
    return is_key, 0 if is_key else item["slot"], item["key"] is not None, item["key"] or ""
