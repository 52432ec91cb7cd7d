"""The least price of whole items that cover an overload: a knapsack cover by dynamic programming."""

import math

import numpy as np
from numpy.typing import NDArray

MAX_WHOLE_ITEMS = 5_000  # of all overloaded buckets: at one pass over the cells each, some 50 ms
MAX_CELLS = 4_096  # the overload is counted in at most this many cells


def cover_whole(cost: NDArray[np.float64], price: NDArray[np.float64], *, excess: float) -> float:
    """
    At most the least price, 0 or more each, of whole items whose costs sum to ``excess``; infinite if all is too little.

    Exact if the costs are whole multiples of one number (e.g. rows) and the excess is at most MAX_CELLS of it. Else the
    excess is cut into MAX_CELLS cells and costs are rounded up to whole cells, so that every cover stays one.

    Worked: excess 3, costs 2 and 2 with prices 4 and 6, a cost 4 with price 11: 4 + 6 = 10. In parts it is 4 + 6/2 = 7.
    """
    cell, n_cells = _cells(cost, excess)
    width = np.minimum(np.ceil(cost / cell), n_cells).astype(np.int64)
    useful = _useful(width, price, n_cells)
    least = np.full(n_cells + 1, np.inf)  # the least price that covers this many cells
    least[0] = 0.0
    for cells, amount in zip(width[useful].tolist(), price[useful].tolist(), strict=True):
        with_it = least[: n_cells + 1 - cells] + amount
        np.minimum(least[1:cells], amount, out=least[1:cells])
        np.minimum(least[cells:], with_it, out=least[cells:])
    return float(least[n_cells])


def _cells(cost: NDArray[np.float64], excess: float) -> tuple[float, int]:
    """The width of a cell, and how many the excess has."""
    is_countable = bool(np.all(cost == np.floor(cost)) and cost.max(initial=0.0) < np.iinfo(np.int64).max)
    unit = float(np.gcd.reduce(cost.astype(np.int64))) if is_countable else 0.0
    if unit and excess <= MAX_CELLS * unit:  # sums of multiples that reach the excess reach the next multiple
        return unit, math.ceil(excess / unit)
    return excess / MAX_CELLS, MAX_CELLS


def _useful(width: NDArray[np.int64], price: NDArray[np.float64], n_cells: int) -> NDArray[np.int64]:
    """Of equally wide items only the cheapest can be needed, as many as cover all cells."""
    order = np.lexsort((price, width))
    wide = width[order]
    nth = np.arange(wide.size) - np.searchsorted(wide, wide)
    return order[nth * wide < n_cells]
