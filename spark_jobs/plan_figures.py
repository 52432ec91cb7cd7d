"""
A plan's figures, computed a second time: from the window's statistics and two functions, key by key, in plain Python.

Nothing here is used by a planner, and nothing of a planner's is used here: two that agree were not wrong in the same way.
"""

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from math import fsum
from typing import Any

from partitioning.function import PartitioningFunction
from partitioning.function_json import key_of_text
from spark_jobs.control_tables import Row

SLOT, KEY = "slot", "key"
MOVE_FIELDS = ("kind", "slot", "key", "from_bucket", "to_bucket", "cost", "state")


@dataclass(frozen=True, kw_only=True, eq=False)
class Figures:
    """What follows from these items (rows of ``item_stats``) and the change from ``before`` to ``after``."""

    items: list[Row]
    before: PartitioningFunction
    after: PartitioningFunction
    by_hash: PartitioningFunction  # the plain hash, which all is compared with
    n_wanted: int  # buckets in the end; those above are being emptied, and count for no imbalance
    n_windows: int  # of the payback rule

    @cached_property
    def old_buckets(self) -> list[int]:
        return [bucket_of(item, self.before) for item in self.items]

    @cached_property
    def new_buckets(self) -> list[int]:
        return [bucket_of(item, self.after) for item in self.items]

    @cached_property
    def moves(self) -> "Counter[tuple[Any, ...]]":
        """The items on which the functions differ, as rows of ``moves``; a change of N is no exception."""
        places = zip(self.items, self.old_buckets, self.new_buckets, strict=True)
        return Counter(
            (item["kind"], item["slot"], item["key"], old, new, item["cost"], item["state"])
            for item, old, new in places
            if old != new
        )

    @cached_property
    def total_state(self) -> float:
        return fsum(item["state"] for item in self.items)

    @cached_property
    def migration(self) -> float:
        return fsum(move[-1] * n for move, n in self.moves.items())

    @cached_property
    def total_cost(self) -> float:
        return fsum(item["cost"] for item in self.items)

    @property
    def n_buckets(self) -> int:
        """All that there are before or afterwards; what is new is empty before."""
        return max(self.before.n_buckets, self.after.n_buckets)

    @cached_property
    def load_before(self) -> list[float]:
        return loads(self.items, self.old_buckets, self.n_buckets)

    @cached_property
    def load_after(self) -> list[float]:
        return loads(self.items, self.new_buckets, self.n_buckets)

    @cached_property
    def theta_before(self) -> float:
        return theta(self.load_before, self.n_wanted)

    @cached_property
    def theta_after(self) -> float:
        return theta(self.load_after, self.n_wanted)

    @cached_property
    def theta_start(self) -> float:
        """θ before any balancing: as things are, or where the ring leads if buckets are added."""
        if self.n_wanted <= self.before.n_buckets:
            return self.theta_before
        ring = self.before.with_n_buckets(self.n_wanted)
        followed = [bucket_of(item, ring) for item in self.items]
        return theta(loads(self.items, followed, ring.n_buckets), self.n_wanted)

    @cached_property
    def predictions(self) -> dict[str, Any]:
        """The fields of a row of ``plans`` that follow from the other tables."""
        hashed = [bucket_of(item, self.by_hash) for item in self.items]
        return {
            "imbalance_hash": theta(loads(self.items, hashed, self.by_hash.n_buckets), self.n_wanted),
            "imbalance_before": self.theta_before,
            "imbalance_after": self.theta_after,
            "load_before": self.load_before,
            "load_after": self.load_after,
            "n_routes": self.after.n_routes,
            "n_moves": self.moves.total(),
            "migration": self.migration,
            "total_state": self.total_state,
            "cost_saved": self.n_windows * (self.theta_start - self.theta_after) * self.total_cost,
            "cost_spent": self.migration * self.total_cost / self.total_state if self.total_state else 0.0,
        }


def bucket_of(item: Row, function: PartitioningFunction) -> int:
    """A slot's bucket, or the bucket of a heavy key."""
    if item["kind"] == SLOT:
        return int(function.slots[item["slot"] % function.n_slots])  # a slot out of range is told elsewhere
    return function.bucket_of(key_of_text(item["key"], function.key_type))


def loads(items: list[Row], buckets: list[int], n_buckets: int) -> list[float]:
    """The sum of cost per bucket."""
    costs: list[list[float]] = [[] for _ in range(n_buckets)]
    for item, bucket in zip(items, buckets, strict=True):
        costs[bucket].append(item["cost"])
    return [fsum(held) for held in costs]


def theta(load: list[float], n_wanted: int) -> float:
    """θ: how far the hottest bucket that stays is above the mean, as a fraction of the mean; 0 where there is no load."""
    mean = fsum(load) / n_wanted
    return max(0.0, max(load[:n_wanted]) / mean - 1.0) if mean > 0 else 0.0
