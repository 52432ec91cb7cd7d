"""A window's statistics as arrays: its slots, then its heavy keys as the values they have in the state table."""

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partitioning.function import PartitioningFunction
from partitioning.function_json import key_of_text
from partitioning.measures import load_per_bucket
from partitioning.request import NO_SLOT
from partitioning.splits import N_GRAINS, stretches
from schemas.dataset import Dataset
from schemas.tables import ITEM_STATS
from spark_jobs.control_tables import read_rows
from spark_jobs.job import JobError, Window

SLOT, KEY, PART = "slot", "key", "part"
Grains = tuple[int, int]  # from and to, without the last


@dataclass(frozen=True, kw_only=True, eq=False)
class ItemStats:
    """
    Position i of each describes the same item. Slot s is item s; heavy keys follow, in the order of their text.

    A split key may be there in parts, as ``cut_by`` and ``in_parts`` leave it: several items of one key, each with its grains.
    """

    slot: NDArray[np.int64]  # the slot, or the key's slot
    key: list[Any]  # of the heavy keys only; None is the NULL key
    cost: NDArray[np.float64]
    state: NDArray[np.float64]
    grains: tuple[Grains | None, ...] = ()  # of each key: None is a whole key; empty: all are whole

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
        number = position - self.n_slots
        is_part = not is_slot and bool(self.grains) and self.grains[number] is not None
        return {
            "kind": SLOT if is_slot else PART if is_part else KEY,
            "slot": int(self.slot[position]),
            "key": None if is_slot else self.key[number],
        }

    def buckets(self, function: PartitioningFunction) -> NDArray[np.int64]:
        """The bucket of each item under this function; of a split key that is not in parts, the one with most of its rows."""
        if not function.splits:
            keys = function.buckets_of(self.key).tolist() if self.key else []
        else:
            grains = self.grains or (None,) * len(self.key)
            keys = [_bucket(function, key, of) for key, of in zip(self.key, grains, strict=True)]
        return np.concatenate([function.slots, keys]).astype(np.int64)

    def cut_by(self, function: PartitioningFunction) -> "ItemStats":
        """With the keys that this function splits in parts: each part one item, in the place of the key."""
        if not function.splits or self.grains:
            return self
        pieces: list[tuple[int, Grains | None]] = [(slot, None) for slot in range(self.n_slots)]
        for number, key in enumerate(self.key, start=self.n_slots):
            if key not in function.splits:
                pieces.append((number, None))
                continue
            found = stretches([function.parts_of(key)])
            pieces += [(number, (stretch.low, stretch.high)) for stretch in found]
        return self.in_parts(pieces)

    def in_parts(self, pieces: list[tuple[int, Grains | None]]) -> "ItemStats":
        """These pieces of these items, as (position, grains): all slots first, in order."""
        origin = np.array([position for position, _ in pieces], dtype=np.int64)
        share = np.array([1.0 if of is None else (of[1] - of[0]) / N_GRAINS for _, of in pieces])
        of_keys = pieces[self.n_slots :]
        return ItemStats(
            slot=self.slot[origin],
            key=[self.key[position - self.n_slots] for position, _ in of_keys],
            cost=self.cost[origin] * share,
            state=self.state[origin] * share,
            grains=tuple(of for _, of in of_keys),
        )

    def imbalance(self, function: PartitioningFunction, n_wanted: int) -> float:
        """θ over the buckets that are wanted in the end: those above are being emptied, those still to come are empty."""
        n_buckets = max(function.n_buckets, n_wanted)
        parts = self.cut_by(function)
        load = load_per_bucket(parts.cost, parts.buckets(function), n_buckets)
        mean = float(load.sum()) / n_wanted
        return max(0.0, float(load[:n_wanted].max()) / mean - 1.0) if mean > 0 else 0.0

    def homes(self, function: PartitioningFunction) -> NDArray[np.int64]:
        """The bucket of each item's slot."""
        return np.asarray(function.slots[self.slot])


def _bucket(function: PartitioningFunction, key: Any, grains: Grains | None) -> int:
    if grains is not None:
        return function.bucket_of(key, grains[0])
    held: Counter[int] = Counter()
    for bucket, weight in function.parts_of(key):
        held[bucket] += weight
    return min(held, key=lambda bucket: (-held[bucket], bucket))


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
