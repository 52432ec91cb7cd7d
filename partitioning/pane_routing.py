"""Which node works on which pane: plain round robin, and the rate-aware form that keeps nodes even when the rate jumps."""

import math
from collections import deque
from dataclasses import dataclass
from statistics import fmean, pstdev

import numpy as np
from numpy.typing import ArrayLike, NDArray

from partitioning.errors import PaneError
from partitioning.hashing import is_whole

Integers = NDArray[np.int64]

N_RECENT = 50  # panes that the running mean and deviation look back on
MIN_RECENT = 2  # before so many panes nothing is known of their size
MAX_PIECES = 100  # of a pane, for each node: after an idle hour the mean is next to nothing, and every row would be a piece


@dataclass(frozen=True, kw_only=True, eq=False)
class Pieces:
    """Panes, or parts of them, in the order they are sent; the rows of a pane's pieces add up to the pane."""

    pane: Integers
    node: Integers
    rows: Integers

    def load(self, n_nodes: int) -> NDArray[np.float64]:
        return np.bincount(self.node, weights=self.rows, minlength=n_nodes).astype(np.float64)


def route_panes(rows: ArrayLike, n_nodes: int) -> Pieces:
    """Pane i to node i modulo the number of nodes."""
    sizes = _as_sizes(rows, n_nodes)
    pane = np.arange(sizes.size)
    return Pieces(pane=pane, node=pane % n_nodes, rows=sizes)


def route_panes_by_rate(rows: ArrayLike, n_nodes: int, n_recent: int = N_RECENT) -> Pieces:
    """
    Round robin by rows instead of panes (Sec. 4.2).

    A pane larger than the mean of the recent ones plus their standard deviation is cut into pieces of the mean, or of more where
    these would be over ``MAX_PIECES`` for each node. A node's turn lasts until it has had the mean, so small panes bring it more
    of them; what it had beyond the mean counts for its next turn (one mean at most), in which it gets one piece at least. Until
    ``MIN_RECENT`` panes are known it is plain.
    """
    sizes = _as_sizes(rows, n_nodes)
    if not is_whole(n_recent) or n_recent < MIN_RECENT:
        raise PaneError(
            f"n_recent must be a whole number from {MIN_RECENT}. Got {n_recent!r}. Give how many panes to look back on."
        )
    recent: deque[int] = deque(maxlen=int(n_recent))
    pieces: list[tuple[int, int, int]] = []
    node, had = 0, [0.0] * n_nodes
    for pane, size in enumerate(sizes.tolist()):
        mean, limit = _recent_size(recent)
        least = -(-size // (MAX_PIECES * n_nodes))  # rounded up
        for part in _cut(size, max(least, math.floor(mean)), limit):
            pieces.append((pane, node, part))
            had[node] += part
            if had[node] >= mean:
                had[node] = min(had[node] - mean, mean)
                node = (node + 1) % n_nodes
        recent.append(size)
    columns = np.array(pieces, dtype=np.int64).reshape(-1, 3)
    return Pieces(pane=columns[:, 0], node=columns[:, 1], rows=columns[:, 2])


def _recent_size(recent: deque[int]) -> tuple[float, float]:
    """The mean of recent panes, and the size from which a pane is cut."""
    if len(recent) < MIN_RECENT:
        return 0.0, math.inf
    mean = fmean(recent)
    return mean, mean + pstdev(recent)


def _cut(size: int, piece: int, limit: float) -> list[int]:
    if size <= limit:
        return [size]
    whole, rest = divmod(size, piece)
    return [piece] * whole + [rest] * (rest > 0)


def _as_sizes(rows: ArrayLike, n_nodes: int) -> Integers:
    sizes = np.asarray(rows)
    if sizes.ndim != 1 or (sizes.size and (sizes.dtype.kind not in "iu" or sizes.min() < 0)):
        raise PaneError(
            f"rows must hold a whole number a pane, 0 or more. Got shape {sizes.shape}, dtype {sizes.dtype}. Count each pane's rows."
        )
    if isinstance(n_nodes, bool) or not isinstance(n_nodes, int) or n_nodes < 1:
        raise PaneError(f"n_nodes must be a whole number from 1. Got {n_nodes!r}. Give at least one node.")
    return sizes.astype(np.int64)
