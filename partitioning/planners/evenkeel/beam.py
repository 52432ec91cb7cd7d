"""
The search over coarse items: which bucket each of the heaviest gets, valued by what the rest must cost.

Items are decided one by one, heaviest first. A node is a set of decisions; its value is

    what has moved + λ · routes + for every bucket the least price of covering its excess with what is undecided

which no completion of the node is below. The ``width`` best nodes of each step are kept. Exchanges come out by
themselves: a heavy item may enter a full bucket, whose excess is then covered by what is cheapest there.

Worked: limit 11; bucket 0 holds 7 and 6, bucket 1 holds 5 and 3, all of state 1. Sending the 6 over leaves an excess of
14 - 11 = 3 in bucket 1, which the 3 covers at 1: value 2, an exchange. Keeping both 7 and 6 leaves an excess of 2 that nothing
undecided covers: there is no such node.
"""

from dataclasses import dataclass

import numpy as np

from partitioning.planners.evenkeel.covers import Covers, sand_prices, tabulate
from partitioning.planners.evenkeel.problem import NOWHERE, Flags, Floats, Integers, Problem

N_CONSIDERED = 4  # times the width: children beyond are dropped unseen
HASH_STEP = 1_000_003  # odd: loads of different buckets must not add up to the same mark


@dataclass(frozen=True, kw_only=True, eq=False)
class Aim:
    """What is searched for: a placement below ``limit``, with routes at a price and at most so many of them."""

    limit: Floats  # per bucket
    route_price: float
    max_routes: float
    grain: float | None = (
        None  # loads this close count as equal; 1 is exact, None a quarter of a cell: more variety
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class Found:
    """The best complete sets of decisions, best first, and the least that was not looked into."""

    owner: Integers  # (n, coarse items)
    dropped: float  # least value of any node that was dropped for want of width; infinite if none was


def search(problem: Problem, aim: Aim, *, coarse: Integers, width: int, n_best: int) -> Found:
    """Decides the coarse items, given in the order to decide them; all others are sand, which may leave in parts."""
    beam = _Beam(problem, aim, coarse)
    if not np.isfinite(beam.price).all():  # some bucket is above its limit with all that may leave gone
        return Found(owner=np.empty((0, coarse.size), dtype=np.int64), dropped=np.inf)
    for place in range(coarse.size):
        beam.decide(place, width)
    return beam.best(n_best)


class _Beam:
    """The nodes of one step, as columns: excess and least price per bucket, what moved, routes."""

    def __init__(self, problem: Problem, aim: Aim, coarse: Integers) -> None:
        self._problem, self._aim, self._coarse = problem, aim, coarse
        price = problem.state + aim.route_price * problem.routes_added
        at_origin = problem.load(problem.origin)
        self._stay = at_origin.copy()  # cost of what is undecided, per bucket it stays in
        reach = float(at_origin.max(initial=0.0))
        self._covers = _covers(problem, price, coarse, reach)
        self.excess = (at_origin - aim.limit)[None, :]
        self.price = self._covers.price(0, self.excess)
        self.moved, self.routes = np.zeros(1), np.zeros(1)
        self.dropped = np.inf
        self._steps: list[tuple[Integers, Integers]] = []  # (parent, bucket) of each node

    def decide(self, place: int, width: int) -> None:
        """One step: every node with every bucket for the next item, then only the best of them."""
        item = int(self._coarse[place])
        origin, cost = int(self._problem.origin[item]), float(self._problem.cost[item])
        if origin != NOWHERE:
            self._stay[origin] -= cost
        moved, routes = self._moved_and_routes(item, origin)
        value = moved + self._aim.route_price * routes + self._price_if_placed(place, origin, cost)
        value[~self._is_possible(item, origin, cost, routes)] = np.inf
        node = self._select(value, routes, width, origin, cost)
        parent, bucket = np.divmod(node, self._problem.n_buckets)
        self.moved, self.routes = moved.ravel()[node], routes.ravel()[node]
        self.excess = self._excess_of(parent, bucket, origin, cost)
        self.price = self._covers.price(place + 1, self.excess)
        self._steps.append((parent, bucket))

    def best(self, n_best: int) -> Found:
        """The decisions of the best nodes, best first."""
        rest = self.moved + self.price.sum(axis=1)
        value = rest + self._aim.route_price * self.routes
        node = np.lexsort((value, rest))[:n_best]  # routes are within their limit: now only what moves counts
        owner = np.empty((node.size, self._coarse.size), dtype=np.int64)
        for place in range(self._coarse.size - 1, -1, -1):
            parent, bucket = self._steps[place]
            owner[:, place] = bucket[node]
            node = parent[node]
        return Found(owner=owner, dropped=self.dropped)

    def _moved_and_routes(self, item: int, origin: int) -> tuple[Floats, Floats]:
        shape = (self.moved.size, self._problem.n_buckets)
        moved = np.empty(shape)
        moved[:] = self.moved[:, None]
        if origin != NOWHERE:
            moved += self._problem.state[item]
            moved[:, origin] = self.moved
        routes = np.empty(shape)
        routes[:] = self.routes[:, None]
        if self._problem.is_slot[item]:
            routes += self._problem.left_behind[item]
            at_home = origin
        else:
            routes += 1.0
            at_home = int(self._problem.home[item])
        if at_home != NOWHERE:
            routes[:, at_home] = self.routes
        return moved, routes

    def _price_if_placed(self, place: int, origin: int, cost: float) -> Floats:
        """Least prices of all buckets together, one column for each bucket the item may go to."""
        rest = self.price.sum(axis=1)[:, None]
        there = self._covers.price(place + 1, self.excess + cost)
        if origin == NOWHERE:
            return np.asarray(rest - self.price + there)
        left = self._covers.price_of(place + 1, origin, self.excess[:, origin] - cost)
        kept = self._covers.price_of(place + 1, origin, self.excess[:, origin])
        rest = rest - self.price[:, [origin]]
        total = rest - self.price + there + left[:, None]
        total[:, origin] = rest[:, 0] + kept
        return np.asarray(total)

    def _is_possible(self, item: int, origin: int, cost: float, routes: Floats) -> Flags:
        possible = self.excess + cost <= self._stay
        if origin != NOWHERE:
            possible[:, origin] = self.excess[:, origin] <= self._stay[origin]
        if self._problem.is_barred is not None:
            possible &= ~self._problem.is_barred[item]
        return np.asarray(possible & (routes <= self._aim.max_routes))

    def _excess_of(self, parent: Integers, bucket: Integers, origin: int, cost: float) -> Floats:
        excess = self.excess[parent]
        node = np.arange(parent.size)
        if origin != NOWHERE:
            moves = bucket != origin
            excess[node[moves], bucket[moves]] += cost
            excess[moves, origin] -= cost
        else:
            excess[node, bucket] += cost
        return excess

    def _select(self, value: Floats, routes: Floats, width: int, origin: int, cost: float) -> Integers:
        """The best children, of those with equal loads and routes only the best; of equal values the most even first."""
        flat, n_routes = value.ravel(), routes.ravel()
        possible = self._below_cut(flat, N_CONSIDERED * width)
        parent, bucket = np.divmod(possible, self._problem.n_buckets)
        excess = self._excess_of(parent, bucket, origin, cost)
        order = np.lexsort((excess.max(axis=1, initial=0.0), flat[possible]))
        _, first = np.unique(self._mark(excess[order], n_routes[possible[order]]), return_index=True)
        ranked = possible[order[np.sort(first)]]
        if ranked.size <= width:
            return ranked
        kept = self._kept(n_routes[ranked], width)
        self.dropped = min(self.dropped, float(flat[ranked[~kept]].min()))
        return ranked[kept]

    def _below_cut(self, value: Floats, n_most: int) -> Integers:
        """Places of possible children, at most about ``n_most`` of the best."""
        possible = np.flatnonzero(np.isfinite(value))
        if possible.size <= n_most:
            return possible
        cut = np.partition(value[possible], n_most)[n_most]
        self.dropped = min(self.dropped, float(cut))
        return np.asarray(possible[value[possible] <= cut][: 2 * n_most])

    def _kept(self, n_routes: Floats, width: int) -> Flags:
        """
        Which of the nodes, best first, to keep.

        Without a table the first; with one half of them, and of the others the best of every number of routes in turn: a node
        of few routes is the way out when the better ones turn out to need too many.
        """
        place = np.arange(n_routes.size)
        if np.isinf(self._aim.max_routes):
            return place < width
        by_routes = np.argsort(n_routes, kind="stable")
        grouped = n_routes[by_routes]
        turn = np.empty(n_routes.size, dtype=np.int64)
        turn[by_routes] = place - np.searchsorted(grouped, grouped)
        order = np.lexsort((place, np.where(place < width // 2, -1, turn)))
        kept = np.zeros(n_routes.size, dtype=np.bool_)
        kept[order[:width]] = True
        return kept

    def _mark(self, excess: Floats, routes: Floats) -> Integers:
        """A number for each node, equal where routes are equal and loads are, to a grain."""
        grain = self._covers.cell / 4.0 if self._aim.grain is None else self._aim.grain
        cells = np.floor(excess / grain).astype(np.int64)
        weight = HASH_STEP ** np.arange(1, excess.shape[1] + 1, dtype=np.int64)
        return np.asarray(cells @ weight + routes.astype(np.int64))


def _covers(problem: Problem, price: Floats, coarse: Integers, reach: float) -> Covers:
    is_sand = np.ones(problem.n_items, dtype=np.bool_)
    is_sand[coarse] = False
    sand = sand_prices(
        cost=problem.cost[is_sand],
        price=price[is_sand],
        origin=problem.origin[is_sand],
        n_buckets=problem.n_buckets,
        reach=reach,
    )
    return tabulate(
        cost=problem.cost[coarse],
        price=price[coarse],
        origin=problem.origin[coarse],
        sand=sand,
        reach=reach,
    )
