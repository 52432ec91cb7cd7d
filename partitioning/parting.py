"""
A request with some keys cut into parts: each part an item of its own, so that any planner can place it.

The first part of a key is at the key's position, the others follow after all items, so that positions of slots stay what they are. A
part is where most of its rows are today, of buckets that stay in use if it has rows in any. What lies elsewhere moves under every plan:
that state is ``forced``, is taken off the budget before anything is planned, and is none of the part's own.

Worked: a key in buckets 0 and 1, half and half, is to have three parts of a third. The first lies in 0, the last in 1, the second half
in each: whichever bucket counts as its own, a sixth of the key's state is forced.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from partitioning import measures
from partitioning.history import History
from partitioning.request import PlanRequest
from partitioning.splits import N_GRAINS, Part, Parts, stretches

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Cut = Mapping[int, tuple[int, ...]]  # position of a key → the weights of its parts, two or more


@dataclass(frozen=True, kw_only=True, eq=False)
class PartedRequest:
    """``whole`` has every key as one item. ``today`` are the parts of keys that are split, ``cut`` those that are to be, by position."""

    whole: PlanRequest
    today: Mapping[int, Parts]
    cut: Cut

    @cached_property
    def origin(self) -> Integers:
        """For each item the position of its key or slot in ``whole``."""
        more = [item for item, weights in sorted(self.cut.items()) for _ in weights[1:]]
        return np.concatenate([np.arange(self.whole.n_items), more]).astype(np.int64)

    @cached_property
    def grains(self) -> list[tuple[int, int]]:
        """For each item its grains, from and to; all of them where the key or slot is whole."""
        found = [(0, N_GRAINS)] * self.origin.size
        for item, weights in self.cut.items():
            ends = np.cumsum(weights).tolist()
            for position, low, high in zip(self.positions(item), [0, *ends[:-1]], ends, strict=True):
                found[position] = (low, high)
        return found

    def positions(self, item: int) -> list[int]:
        """Where the parts of a key of ``whole`` are, in the order of their grains."""
        positions: list[int] = np.flatnonzero(self.origin == item).tolist()
        return positions

    def parts_today(self, item: int) -> Parts:
        return self.today.get(item, (Part(int(self.whole.owner[item]), N_GRAINS),))

    @property
    def as_today(self) -> "PartedRequest":
        """The same keys, cut as they are today: nothing is forced."""
        kept = {item: tuple(part.weight for part in parts) for item, parts in self.today.items()}
        return self if kept == self.cut else replace(self, cut=kept)

    @cached_property
    def concerned(self) -> list[int]:
        """Positions in ``whole`` of the keys that are or will be split, ascending."""
        return sorted({*self.today, *self.cut})

    @cached_property
    def _held(self) -> dict[int, dict[int, int]]:
        """For each item that is not simply whole: how many of its grains each bucket holds today."""
        held: dict[int, dict[int, int]] = {}
        for item in self.concerned:
            for position in self.positions(item):
                low, high = self.grains[position]
                end = 0
                found: dict[int, int] = {}
                for bucket, weight in self.parts_today(item):
                    inside = min(high, end + weight) - max(low, end)
                    end += weight
                    if inside > 0:
                        found[bucket] = found.get(bucket, 0) + inside
                held[position] = found
        return held

    def _own(self, held: Mapping[int, int]) -> int:
        """The bucket in use that holds most of an item, the lowest of such; of others only if there is none: nothing is to gather in them."""
        live = self.whole.is_live
        return min(
            held, key=lambda bucket: (not (bucket < live.size and live[bucket]), -held[bucket], bucket)
        )

    @cached_property
    def forced(self) -> float:
        """State that changes bucket whatever is planned."""
        elsewhere = (
            (sum(held.values()) - held[self._own(held)])
            / N_GRAINS
            * float(self.whole.state[self.origin[position]])
            for position, held in self._held.items()
        )
        return float(sum(elsewhere))

    @property
    def is_affordable(self) -> bool:
        """Whether ``max_migration`` lets the cut happen at all."""
        return self.forced <= self.whole.budgets.migration_limit(self.whole.total_state)

    @cached_property
    def request(self) -> PlanRequest:
        """What a planner is asked; ``whole`` itself where nothing is or will be split."""
        if not self.concerned:
            return self.whole
        whole, origin = self.whole, self.origin
        cost, state, owner = whole.cost[origin], whole.state[origin], whole.owner[origin]
        for position, held in self._held.items():
            low, high = self.grains[position]
            owner[position] = self._own(held)
            cost[position] *= (high - low) / N_GRAINS
            state[position] *= held[owner[position]] / N_GRAINS
        return replace(
            whole,
            cost=cost,
            state=state,
            owner=owner,
            home=whole.home[origin],
            home_before=whole.home_before[origin],
            is_slot=whole.is_slot[origin],
            slot=whole.slot[origin],
            is_pinned=whole.is_pinned[origin],
            budgets=replace(whole.budgets, max_migration=self._migration_left(float(state.sum()))),
            history=self._history,
        )

    def _migration_left(self, total: float) -> float | None:
        """What ``forced`` leaves of ``max_migration``, as a share of the items' state: an amount up to 1 would be taken for one."""
        if self.whole.budgets.max_migration is None:
            return None
        left = max(0.0, self.whole.budgets.migration_limit(self.whole.total_state) - self.forced)
        return min(1.0, left / total) if total > 0 else 0.0

    @property
    def _history(self) -> History:
        """Without moves of split keys: their parts are not what moved then."""
        history = self.whole.history
        kept = ~np.isin(history.item, self.concerned)
        return replace(history, item=history.item[kept], source=history.source[kept], age=history.age[kept])

    # What a placement of the items means for whole keys

    def parts_after(self, owner: Integers) -> dict[int, Parts]:
        """The parts of each key that is or will be split, by position in ``whole``; one part if it is whole."""
        return {
            item: tuple(
                Part(int(owner[position]), self.grains[position][1] - self.grains[position][0])
                for position in self.positions(item)
            )
            for item in self.concerned
        }

    def migration(self, owner: Integers) -> float:
        """State that changes bucket, to the grain: what was forced and lands where it was is not in it."""
        others = np.ones(self.origin.size, dtype=np.bool_)
        others[list(self._held)] = False
        moved = others & (owner != self.request.owner)
        return float(self.request.state[moved].sum()) + sum(
            stretch.share * float(self.whole.state[item])
            for item, parts in self.parts_after(owner).items()
            for stretch in stretches([self.parts_today(item), parts])
            if stretch.buckets[0] != stretch.buckets[1]
        )

    def n_routes(self, owner: Integers) -> int:
        """What the new function counts: a key or a part that is not where its slot is. Neighbours in one bucket are one part."""
        is_route = owner != measures.home_after(self.request, owner)
        for item in self.concerned:
            for before, after in pairwise(self.positions(item)):
                is_route[after] &= owner[after] != owner[before]
        return int(np.count_nonzero(is_route))

    def load_today(self) -> Floats:
        """The load of each bucket before the plan, parts where they really are."""
        load = measures.load_per_bucket(self.request.cost, self.request.owner, self.request.n_buckets)
        for position, held in self._held.items():
            cost = float(self.whole.cost[self.origin[position]]) / N_GRAINS
            load[self.request.owner[position]] -= float(self.request.cost[position])
            for bucket, weight in held.items():
                load[bucket] += weight * cost
        return load


def n_partials(parts: Mapping[int, Parts]) -> int:
    """Partial results to merge in a window beyond one a key: Γ of these keys less their number."""
    return sum(len({part.bucket for part in of_key}) - 1 for of_key in parts.values())
