"""
A plan's figures, computed a second time: from the window's statistics and two functions, key by key, in plain Python.

Nothing here is used by a planner, and nothing of a planner's is used here: two that agree were not wrong in the same way.
"""

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from math import fsum
from typing import Any, NamedTuple

from partitioning.function import PartitioningFunction
from partitioning.function_json import key_of_text
from partitioning.splits import N_GRAINS
from spark_jobs.control_tables import Row

SLOT, KEY, PART = "slot", "key", "part"
PARTIAL_COST = 1.0  # of one more partial result to merge
MOVE_FIELDS = ("kind", "slot", "key", "from_bucket", "to_bucket", "cost", "state")


class Piece(NamedTuple):
    """What goes one way: an item, or the rows of a split key between two buckets."""

    kind: str
    slot: int
    key: str | None
    old: int
    new: int
    cost: float
    state: float


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
    def pieces(self) -> list[Piece]:
        """The items, a split key as many times as there are ways from an old bucket to a new one for its rows."""
        return [piece for item in self.items for piece in pieces_of(item, self.before, self.after)]

    @property
    def new_buckets(self) -> list[int]:
        return [piece.new for piece in self.pieces]

    @cached_property
    def moves(self) -> "Counter[tuple[Any, ...]]":
        """The pieces on which the functions differ, as rows of ``moves``; a change of N is no exception."""
        return Counter(
            (piece.kind, piece.slot, piece.key, piece.old, piece.new, piece.cost, piece.state)
            for piece in self.pieces
            if piece.old != piece.new
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
        return loads([(piece.cost, piece.old) for piece in self.pieces], self.n_buckets)

    @cached_property
    def load_after(self) -> list[float]:
        return loads([(piece.cost, piece.new) for piece in self.pieces], self.n_buckets)

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
        return theta(self._loads_under(ring), self.n_wanted)

    def _loads_under(self, function: PartitioningFunction) -> list[float]:
        pieces = [piece for item in self.items for piece in pieces_of(item, function, function)]
        return loads([(piece.cost, piece.old) for piece in pieces], function.n_buckets)

    def merging(self, function: PartitioningFunction) -> float:
        """What partial results beyond one a key cost, on the scale of θ."""
        n_partials = sum(
            len({piece.old for piece in pieces_of(item, function, function)}) - 1 for item in self.items
        )
        mean = self.total_cost / self.n_wanted
        return n_partials * PARTIAL_COST / mean if mean > 0 else 0.0

    @cached_property
    def predictions(self) -> dict[str, Any]:
        """The fields of a row of ``plans`` that follow from the other tables."""
        saved = self.theta_start + self.merging(self.before) - self.theta_after - self.merging(self.after)
        return {
            "imbalance_hash": theta(self._loads_under(self.by_hash), self.n_wanted),
            "imbalance_before": self.theta_before,
            "imbalance_after": self.theta_after,
            "load_before": self.load_before,
            "load_after": self.load_after,
            "n_routes": self.after.n_routes,
            "n_moves": self.moves.total(),
            "migration": self.migration,
            "total_state": self.total_state,
            "cost_saved": self.n_windows * saved * self.total_cost,
            "cost_spent": self.migration * self.total_cost / self.total_state if self.total_state else 0.0,
        }


def pieces_of(item: Row, before: PartitioningFunction, after: PartitioningFunction) -> list[Piece]:
    """A slot or a whole key as it is; a split key grain by grain, those that go the same way together."""
    kind, slot, cost, state = item["kind"], item["slot"], item["cost"], item["state"]
    if kind == SLOT:
        old, new = (
            int(of.slots[slot % of.n_slots]) for of in (before, after)
        )  # out of range is told elsewhere
        return [Piece(SLOT, slot, item["key"], old, new, cost, state)]
    key = key_of_text(item["key"], before.key_type)
    if key not in before.splits and key not in after.splits:
        return [Piece(kind, slot, item["key"], before.bucket_of(key), after.bucket_of(key), cost, state)]
    ways = Counter((before.bucket_of(key, grain), after.bucket_of(key, grain)) for grain in range(N_GRAINS))
    return [
        Piece(PART, slot, item["key"], old, new, cost * n / N_GRAINS, state * n / N_GRAINS)
        for (old, new), n in sorted(ways.items())
    ]


def loads(costs: list[tuple[float, int]], n_buckets: int) -> list[float]:
    """The sum of cost per bucket, of (cost, bucket)."""
    held: list[list[float]] = [[] for _ in range(n_buckets)]
    for cost, bucket in costs:
        held[bucket].append(cost)
    return [fsum(inside) for inside in held]


def theta(load: list[float], n_wanted: int) -> float:
    """θ: how far the hottest bucket that stays is above the mean, as a fraction of the mean; 0 where there is no load."""
    mean = fsum(load) / n_wanted
    return max(0.0, max(load[:n_wanted]) / mean - 1.0) if mean > 0 else 0.0
