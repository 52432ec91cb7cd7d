"""The moves between two placements, as the units they can be made or given up in."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from partitioning import measures
from partitioning.groups import sum_before_in_group
from partitioning.request import NO_SLOT, PlanRequest

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True, eq=False)
class MoveUnits:
    """
    Moves from ``still`` to ``goal``, one entry a unit.

    A unit is one item, or a slot with the keys that go with it from the same bucket to the same bucket: apart they would
    need routes.
    """

    still: Integers  # the placement before, one entry an item
    goal: Integers  # the placement after
    moved: Integers  # positions of the items that move
    unit_of_moved: Integers  # the unit of each of them, by its first place
    name: Integers  # from here on per unit: the first place of the unit
    source: Integers
    target: Integers
    cost: Floats
    state: Floats  # migration it adds; less than 0 if it brings items back
    routes: Floats  # routes it adds if all other moves are made too; exact without slots

    def take(self, order: Integers) -> "MoveUnits":
        """Only these units, in this order."""
        per_unit = ("name", "source", "target", "cost", "state", "routes")
        return replace(self, **{field: getattr(self, field)[order] for field in per_unit})

    @cached_property
    def cost_before(self) -> Floats:
        """The cost of the units before each one that leave the same bucket; they must lie together."""
        return sum_before_in_group(self.source, self.cost)

    def make(self, kept: NDArray[np.bool_]) -> Integers:
        """The placement with these units moved and all others left."""
        is_made = np.zeros(int(self.unit_of_moved.max(initial=-1)) + 1, dtype=np.bool_)
        is_made[self.name[kept]] = True
        items = self.moved[is_made[self.unit_of_moved]]
        owner = self.still.copy()
        owner[items] = self.goal[items]
        return owner


def units_between(request: PlanRequest, still: Integers, goal: Integers) -> MoveUnits:
    """All differences between two placements, in the order of their first items."""
    moved = np.flatnonzero(still != goal)
    leaders, unit = np.unique(_leader(request, moved, still, goal), return_inverse=True)
    away = (goal[moved] != request.owner[moved]).astype(np.float64) - (still[moved] != request.owner[moved])

    def total(amount: Floats) -> Floats:
        return np.bincount(unit, weights=amount, minlength=leaders.size).astype(np.float64)

    return MoveUnits(
        still=still,
        goal=goal,
        moved=moved,
        unit_of_moved=unit,
        name=np.arange(leaders.size),
        source=still[leaders],
        target=goal[leaders],
        cost=total(request.cost[moved]),
        state=total(request.state[moved] * away),
        routes=total(_routes_added(request, still, goal)[moved]),
    )


def _leader(request: PlanRequest, moved: Integers, still: Integers, goal: Integers) -> Integers:
    """For each moved item the slot it travels with, or itself."""
    slot = np.where(request.slot[moved] == NO_SLOT, moved, request.slot[moved])
    together = (still[moved] == still[slot]) & (goal[moved] == goal[slot])
    return np.where(together, slot, moved)


def _routes_added(request: PlanRequest, still: Integers, goal: Integers) -> Floats:
    """Routes each item adds; a key that stays while its slot goes is counted at the slot."""
    before = still != measures.home_after(request, still)
    added = (goal != measures.home_after(request, goal)).astype(np.float64) - before
    left_behind = np.flatnonzero((still == goal) & (added != 0))
    at_slot = measures.load_per_bucket(added[left_behind], request.slot[left_behind], request.n_items)
    return np.asarray(added + at_slot)
