"""
What it takes at least to bring a bucket down: the cheapest cover of an excess, tabulated for the search.

Items of a bucket that are not decided yet may leave at a price. ``Covers`` knows, for every number of decided items and
every excess, the least total price of undecided items whose costs cover it: whole for the coarse ones, by a knapsack
recursion, and in parts for the sand below them. Costs are rounded up and excesses down to cells, so that a table is never
above the truth.

Worked: cells of 1; undecided are costs 2 and 3 at prices 4 and 5. An excess of 1 or 2 takes 4, one of 3 takes 5, one
of 4 or 5 takes 9, more cannot be covered.
"""

from dataclasses import dataclass

import numpy as np

from partitioning.planners.evenkeel.problem import NOWHERE, Floats, Integers

N_CELLS = 1_024


@dataclass(frozen=True, kw_only=True, eq=False)
class Covers:
    """Tables of least prices. ``row[i, b]`` is the table of bucket b once the first i coarse items are decided."""

    table: Floats  # (tables, cells + 1)
    row: Integers  # (coarse items + 1, buckets)
    cell: float  # width of a cell

    def price(self, n_decided: int, excess: Floats) -> Floats:
        """The least price that covers each excess; one column a bucket, 0 or less costs nothing to cover."""
        return np.asarray(self.table[self.row[n_decided], self._cells(excess)])

    def price_of(self, n_decided: int, bucket: int, excess: Floats) -> Floats:
        """The same for one bucket."""
        return np.asarray(self.table[self.row[n_decided, bucket], self._cells(excess)])

    def _cells(self, excess: Floats) -> Integers:
        return np.clip(excess / self.cell, 0.0, N_CELLS).astype(np.int64)


def tabulate(*, cost: Floats, price: Floats, origin: Integers, sand: Floats, reach: float) -> Covers:
    """
    Tables for coarse items in the order they will be decided; ``sand`` holds the prices of each bucket's sand per cell.

    ``reach`` is the largest excess that is ever asked for.
    """
    n_buckets = sand.shape[0]
    cell = reach / N_CELLS or 1.0
    width = np.minimum(np.ceil(cost / cell), N_CELLS).astype(np.int64).tolist()
    table = np.empty((n_buckets + cost.size, N_CELLS + 1))
    table[:n_buckets] = sand
    row = np.empty((cost.size + 1, n_buckets), dtype=np.int64)
    row[cost.size] = np.arange(n_buckets)
    n_rows = n_buckets
    prices, origins = price.tolist(), origin.tolist()
    for place in range(cost.size - 1, -1, -1):
        row[place] = row[place + 1]
        bucket = origins[place]
        if bucket == NOWHERE:
            continue
        old, new, cells = table[row[place, bucket]], table[n_rows], width[place]
        new[cells:] = old[: N_CELLS + 1 - cells]
        new[:cells] = old[0]
        new += prices[place]
        np.minimum(new, old, out=new)
        row[place, bucket] = n_rows
        n_rows += 1
    return Covers(table=table[:n_rows], row=row, cell=cell)


def sand_prices(*, cost: Floats, price: Floats, origin: Integers, n_buckets: int, reach: float) -> Floats:
    """The least price of each excess in cells, items taken in part: by price per cost, as in the LP relaxation."""
    excess = np.arange(N_CELLS + 1) * (reach / N_CELLS)
    prices = np.full((n_buckets, N_CELLS + 1), np.inf)
    prices[:, 0] = 0.0
    leaves = np.flatnonzero((origin != NOWHERE) & (cost > 0))
    ratio = np.maximum(price[leaves], 0.0) / cost[leaves]
    order = leaves[np.lexsort((ratio, origin[leaves]))]
    ends = np.searchsorted(origin[order], np.arange(n_buckets + 1))
    for bucket in range(n_buckets):
        items = order[ends[bucket] : ends[bucket + 1]]
        shed = np.concatenate(([0.0], np.cumsum(cost[items])))
        paid = np.concatenate(([0.0], np.cumsum(np.maximum(price[items], 0.0))))
        within = excess <= shed[-1]
        prices[bucket, within] = np.interp(excess[within], shed, paid)
    return prices
