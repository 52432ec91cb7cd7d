"""Best-fit decreasing, and a bound on how few loaders any packing can do with."""

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from partitioning.errors import FeedError

# Of the capacity. Sums of floats depend on their order: 0.3 holds 0.21 + 0.06 + 0.03, though 0.06 + 0.21 + 0.03 is a hair above it.
ROUNDING = 1e-9


@dataclass(eq=False)
class Loaders:
    """Loaders that take feeds, by ascending id."""

    capacity: float
    ids: list[int] = field(default_factory=list)
    load: list[float] = field(default_factory=list)
    taken_ids: set[int] = field(default_factory=set)  # also of loaders that take no feeds

    def add(self, loader: int, load: float) -> None:
        self.ids.append(loader)
        self.load.append(load)
        self.taken_ids.add(loader)

    def place(self, size: float) -> int:
        """
        The loader this feed goes to: the one with the least room that is enough, the lower id if two have the same.

        Without one a new loader is opened, with the lowest free id. A feed above the capacity gets a loader for itself.
        """
        load = np.array(self.load)
        fits = np.flatnonzero(load + size <= self.capacity * (1 + ROUNDING))
        if fits.size == 0:
            return self._open(size)
        best = int(fits[np.lexsort((np.array(self.ids)[fits], -load[fits]))[0]])
        self.load[best] += size
        return self.ids[best]

    def _open(self, size: float) -> int:
        loader = next(number for number in range(len(self.taken_ids) + 1) if number not in self.taken_ids)
        self.add(loader, size)
        return loader


def bound_loaders(sizes: ArrayLike, capacity: float) -> int:
    """
    The fewest loaders that could do: all rows over the capacity, with the room that must stay empty counted in.

    The wasted-space bound (Korf, *A new algorithm for optimal bin packing*, AAAI 2002), which the paper measures against:
    beside the largest feed only feeds that still fit can stand; room that all of those together do not fill is wasted.
    A feed above the capacity counts as one loader. Worked: sizes 6, 6, 6 and capacity 10 hold 18 rows, but 4 are wasted beside each 6,
    so 3 loaders, not 2.
    """
    if not 0 < capacity < math.inf:
        raise FeedError(
            f"capacity must be a finite number above 0. Got {capacity!r}. Give the rows a loader reads in a window."
        )
    rows = np.asarray(sizes, dtype=np.float64)
    bad = np.flatnonzero(~(rows >= 0))
    if bad.size:
        raise FeedError(
            f"sizes must be 0 or more. Got {rows[bad[0]].item()!r} at position {bad[0]} ({bad.size} of {rows.size} feeds)."
            " Give the rows of each feed in a window."
        )
    descending = np.sort(np.minimum(rows, capacity))[::-1]
    descending = descending[descending > 0]
    wasted = _wasted_space(descending, capacity)
    return math.ceil((float(descending.sum()) + wasted) / capacity * (1 - ROUNDING))


def _wasted_space(descending: NDArray[np.float64], capacity: float) -> float:
    """Largest feed by largest feed: the room beside it, less the smallest feeds that may stand there."""
    wasted = carried = 0.0
    last = len(descending)  # feeds from here on are spoken for
    for first, size in enumerate(descending):
        if first >= last:
            break
        room = capacity - size
        while last > first + 1 and descending[last - 1] <= room + ROUNDING * capacity:
            last -= 1
            carried += descending[last]
        wasted += max(0.0, room - carried)
        carried = max(0.0, carried - room)
    return wasted
