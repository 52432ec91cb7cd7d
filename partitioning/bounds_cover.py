"""
The cheapest way for overloaded buckets to shed what is too much: part of the bounds on migration.

Every plan as even as asked takes from each overloaded bucket items that cost at least its excess. What those items are
worth at best, whatever the price of an item is taken to be, no plan can be below.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from partitioning.bounds_whole import MAX_WHOLE_ITEMS, cover_whole
from partitioning.groups import sum_before_in_group
from partitioning.measures import load_per_bucket

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True, eq=False)
class Shedding:
    """Items that may leave their bucket, and what each bucket must be rid of. Position i is one item, or alike ones."""

    bucket: Integers
    cost: Floats
    state: Floats
    routes: Floats  # what leaving adds to the table at best: less than 0 if it can go home
    excess: Floats  # cost that must leave, per bucket; 0 where nothing must

    def price(self, route_price: float) -> Floats:
        """What it takes for each item to leave, with a price on a route."""
        return np.asarray(self.state + route_price * self.routes)


def cover(shedding: Shedding, price: Floats) -> float:
    """
    At most the least price at which each bucket sheds its excess in whole items.

    Exact per bucket as far as ``cover_whole`` is, for up to MAX_WHOLE_ITEMS items; above, the last item of a bucket
    is taken in part. Items of a negative price leave in any case.
    """
    share = cover_in_parts(shedding, price)
    in_parts = load_per_bucket(share * price, shedding.bucket, shedding.excess.size)
    excess = _excess_left(shedding, price)
    rest = np.flatnonzero((price >= 0) & (excess[shedding.bucket] > 0) & (shedding.cost > 0))
    if rest.size <= MAX_WHOLE_ITEMS:
        for bucket in np.flatnonzero(excess > 0).tolist():
            items = rest[shedding.bucket[rest] == bucket]
            leaves_anyway = float(price[(shedding.bucket == bucket) & (price < 0)].sum())
            whole = cover_whole(shedding.cost[items], price[items], excess=float(excess[bucket]))
            in_parts[bucket] = max(in_parts[bucket], leaves_anyway + whole)
    return float(in_parts.sum())


def cover_in_parts(shedding: Shedding, price: Floats) -> Floats:
    """The share of each item that leaves at least price: by price per cost, the last of each bucket in part."""
    share = (price < 0).astype(np.float64)
    excess = _excess_left(shedding, price)
    rest = np.flatnonzero((price >= 0) & (excess[shedding.bucket] > 0) & (shedding.cost > 0))
    with np.errstate(over="ignore"):  # next to no cost: infinitely dear, and sorted last
        rest = rest[np.lexsort((price[rest] / shedding.cost[rest], shedding.bucket[rest]))]
    bucket, cost = shedding.bucket[rest], shedding.cost[rest]
    share[rest] = np.clip(excess[bucket] - sum_before_in_group(bucket, cost), 0.0, cost) / cost
    return share


def _excess_left(shedding: Shedding, price: Floats) -> Floats:
    """The excess of each bucket once all items of a negative price are gone."""
    leaves_anyway = np.flatnonzero(price < 0)
    gone = load_per_bucket(shedding.cost[leaves_anyway], shedding.bucket[leaves_anyway], shedding.excess.size)
    return np.asarray(np.maximum(shedding.excess - gone, 0.0))
