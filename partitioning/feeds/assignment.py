"""What an assignment is, and how good: fill, redirections and stragglers."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from partitioning.feeds.request import NO_LOADER, FeedRequest

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True, eq=False)
class Assignment:
    """Which loader reads each feed. Loaders without feeds are released: they are not there."""

    request: FeedRequest
    owner: Integers
    strategy: str

    @property
    def loaders(self) -> Integers:
        """Ids of the loaders that read something, ascending."""
        return np.unique(self.owner)

    @property
    def redirected(self) -> Integers:
        """Feeds that change loader; new ones have none to leave."""
        before = self.request.owner
        return np.flatnonzero((before != NO_LOADER) & (before != self.owner))

    @property
    def opened(self) -> Integers:
        return np.setdiff1d(self.owner, self.request.owner)

    @property
    def released(self) -> Integers:
        return np.setdiff1d(self.request.owner[self.request.owner != NO_LOADER], self.owner)

    def fill(self, rows: Floats) -> Floats:
        """Each loader's rows over its capacity, in the order of ``loaders``; ``rows`` may be what came in the end."""
        loaders, position = np.unique(self.owner, return_inverse=True)
        return np.bincount(position, weights=rows, minlength=loaders.size) / self.request.capacity

    def straggler(self, rows: Floats) -> float:
        """The fullest loader over the mean one: how much longer than necessary the window takes. 1 without any rows."""
        fill = self.fill(rows)
        return float(fill.max() / fill.mean()) if fill.size and fill.mean() > 0 else 1.0
