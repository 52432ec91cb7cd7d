"""
The items of many windows beside each other, though each window tracks other keys.

A key that a window did not track is inside its slot's total there. So seen from a window t, an earlier window's slot is its total plus
the keys that it tracked and t does not; a key that t tracks has no cost of its own in windows that did not track it.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from partitioning.errors import ForecastError
from partitioning.forecast_history import CostHistory

Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, eq=False)
class ItemWindows:
    """Row w of each is window w, the oldest first. A column is a slot, or a key that any window tracks."""

    slot_cost: Floats  # windows by slots: all keys of the slot that the window does not track
    slot_state: Floats
    key_cost: Floats  # windows by keys; NaN where the window does not track the key
    key_state: Floats  # the same
    key_slot: NDArray[np.int64]  # each key's slot

    def __post_init__(self) -> None:
        n_windows, n_slots = self.slot_cost.shape
        shapes = {
            "slot_state": (n_windows, n_slots),
            "key_cost": (n_windows, self.key_slot.size),
            "key_state": (n_windows, self.key_slot.size),
        }
        for name, shape in shapes.items():
            if getattr(self, name).shape != shape:
                raise ForecastError(
                    f"ItemWindows.{name} must have the shape {shape}. Got {getattr(self, name).shape}."
                    " Give one row a window, one column a slot or key."
                )
        if self.key_slot.size and not 0 <= self.key_slot.min() <= self.key_slot.max() < n_slots:
            raise ForecastError(
                f"ItemWindows.key_slot must lie in [0, {n_slots}). Got {self.key_slot.min()} to {self.key_slot.max()}."
                " Use the slots of the same function."
            )

    @property
    def n_windows(self) -> int:
        return int(self.slot_cost.shape[0])

    @property
    def n_slots(self) -> int:
        return int(self.slot_cost.shape[1])

    def tracked(self, window: int) -> NDArray[np.int64]:
        """The keys that this window tracks, ascending."""
        return np.flatnonzero(~np.isnan(self.key_cost[window]))

    def cost(self, window: int) -> Floats:
        """What its items cost: the slots, then the keys that it tracks."""
        return np.concatenate([self.slot_cost[window], self.key_cost[window, self.tracked(window)]])

    def state(self, window: int) -> Floats:
        return np.concatenate([self.slot_state[window], self.key_state[window, self.tracked(window)]])

    def next_cost(self, window: int) -> Floats:
        """What the items of this window cost in the next one; a key that the next one does not track is in its slot."""
        tracked = self.tracked(window)
        slots = self.slot_cost[window + 1].copy()
        newcomers = np.setdiff1d(self.tracked(window + 1), tracked)
        np.add.at(slots, self.key_slot[newcomers], self.key_cost[window + 1, newcomers])
        return np.concatenate([slots, np.nan_to_num(self.key_cost[window + 1, tracked])])

    def history(self, window: int, n_windows: int) -> CostHistory:
        """What the items of this window cost in it and in up to ``n_windows - 1`` windows before it."""
        first = max(0, window + 1 - n_windows)
        tracked = self.tracked(window)
        others = np.setdiff1d(np.arange(self.key_slot.size), tracked)
        in_slots = [
            np.bincount(self.key_slot[others], weights=costs, minlength=self.n_slots)
            for costs in np.nan_to_num(self.key_cost[first : window + 1, others])
        ]
        slots = self.slot_cost[first : window + 1] + np.array(in_slots)
        return CostHistory.of(np.hstack([slots, self.key_cost[first : window + 1, tracked]]))
