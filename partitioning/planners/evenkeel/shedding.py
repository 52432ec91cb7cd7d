"""
What leaves a bucket that is too full: the cheapest items, by price per cost, that cover the excess.

A prefix in the order of price per cost is what the LP relaxation takes, all but its last item whole. In whole items the
last one matters: for each of the last few prefixes the cheapest single item that closes the gap is tried, the best pair of
prefix and closing item wins, and what then turns out not to be needed stays.

Worked: excess 5; (cost, price) in order: (2, 1), (2, 2), (4, 6), (1, 3). The prefix (2, 1), (2, 2) leaves 1 to close: with
(1, 3) for 6 in all, or (4, 6) for 9. The prefix (2, 1) leaves 3: (4, 6), for 7. So 2, 2 and 1 leave.
"""

import numpy as np

from partitioning.planners.evenkeel.problem import Floats, Integers

N_PREFIXES = 8


def cheapest_cover(cost: Floats, price: Floats, *, excess: float) -> Integers:
    """
    Places of items whose costs cover the excess, for little; all of them if that is too little. Ties by place.

    Prices must be 0 or more. Items without cost are never taken.
    """
    useful = np.flatnonzero(cost > 0)
    order = useful[np.argsort(price[useful] / cost[useful], kind="stable")]
    cost, price = cost[order], price[order]
    covered = np.cumsum(cost)
    n_whole = int(np.searchsorted(covered, excess, side="left"))  # items before the one that closes
    if n_whole >= order.size:
        return order
    prefix, closing = _best_closing(cost, price, covered, n_whole, excess)
    taken = np.append(np.arange(prefix), closing)
    return order[_drop_unneeded(taken, cost, price, spare=float(cost[taken].sum()) - excess)]


def _best_closing(
    cost: Floats, price: Floats, covered: Floats, n_whole: int, excess: float
) -> tuple[int, int]:
    paid = np.concatenate(([0.0], np.cumsum(price[:n_whole])))
    best, least = (n_whole, n_whole), np.inf
    for prefix in range(n_whole, max(-1, n_whole - N_PREFIXES), -1):
        gap = excess - (float(covered[prefix - 1]) if prefix else 0.0)
        closes = np.flatnonzero(cost[prefix:] >= gap)
        if closes.size == 0:
            continue
        closing = prefix + int(closes[price[prefix:][closes].argmin()])
        total = float(paid[prefix] + price[closing])
        if total < least:
            best, least = (prefix, closing), total
    return best


def _drop_unneeded(taken: Integers, cost: Floats, price: Floats, *, spare: float) -> Integers:
    """Without the items that the others cover for, dearest first."""
    if cost[taken].min() > spare:
        return taken
    kept = np.ones(taken.size, dtype=np.bool_)
    for place in np.argsort(-price[taken], kind="stable").tolist():
        if cost[taken[place]] <= spare:
            spare -= float(cost[taken[place]])
            kept[place] = False
    return taken[kept]
