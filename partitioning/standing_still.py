"""
The best placement without any balancing: where everything is, or what comes closest to it inside the hard limits.

Usually that is ``request.start``. A change of N can move more than ``max_migration`` allows; then items are held back
at their old bucket, as far as it still exists. The table can be larger than ``max_routes`` allows; then keys are sent
home. What no placement can mend (a bucket that goes away empties, whatever the budget) is mended as far as it goes.
"""

import numpy as np
from numpy.typing import NDArray

from partitioning import measures
from partitioning.ranking import Figures, Limits, is_better, measure
from partitioning.request import NO_SLOT, PlanRequest

Owner = NDArray[np.int64]


def stand_still(request: PlanRequest, limits: Limits) -> tuple[Owner, Figures]:
    """``request.start`` if it keeps the hard limits, else the best of the ways to mend it; the first of equals."""
    start = request.start
    best, figures = start, measure(request, start)
    if limits.hold_for(figures):
        return best, figures
    options = [start]
    if figures.migration > limits.migration:
        options += [hold_back(request, limits, max_routes=n) for n in (limits.routes, np.inf)]
    for option in [tidy for held in options for tidy in (held, *clean_table(request, held, limits))]:
        option_figures = measure(request, option)
        if is_better(option_figures, figures, limits):
            best, figures = option, option_figures
    return best, figures


def hold_back(request: PlanRequest, limits: Limits, *, max_routes: float) -> Owner:
    """
    Leaves items where they are that a change of N would move, until the rest keeps ``max_migration``.

    Slots first, with the keys that sit in them, since that costs no route; then keys, most state first, so that few
    routes are needed, and no more than ``max_routes`` of them. Ties by position.
    """
    can_stay = (request.start != request.owner) & (request.owner < request.n_buckets)
    leader = _leader(request)
    state = np.bincount(leader, weights=request.state * can_stay, minlength=request.n_items)
    units = np.flatnonzero(can_stay & (leader == np.arange(request.n_items)))
    units = units[np.lexsort((-state[units], ~request.is_slot[units]))]

    excess = measures.migration(request, request.start) - limits.migration
    needed = np.cumsum(state[units]) - state[units] < excess
    needed &= np.cumsum(~request.is_slot[units]) <= max_routes - measures.count_routes(request, request.start)
    stays = np.zeros(request.n_items, dtype=np.bool_)
    stays[units[needed]] = True
    return np.where(can_stay & stays[leader], request.owner, request.start)


def clean_table(request: PlanRequest, owner: Owner, limits: Limits) -> list[Owner]:
    """
    Sends routed keys home until the table keeps ``max_routes``, as far as ``max_migration`` lets them travel.

    Two ways, for the caller to measure: the keys that add least migration first, and the keys of least cost first,
    which disturb the balance least. A key that goes back to where it came from counts as less migration. Ties by
    position. Nothing to do gives an empty list.
    """
    home = measures.home_after(request, owner)
    routed = np.flatnonzero(owner != home)
    n_over = routed.size - limits.routes
    if n_over <= 0:
        return []
    routed = routed[_may_go_home(request, routed, home)]
    travels, travelled = home[routed] != request.owner[routed], owner[routed] != request.owner[routed]
    added = request.state[routed] * (travels.astype(np.float64) - travelled)
    room = max(0.0, limits.migration - measures.migration(request, owner))
    cost = request.cost[routed]
    ways = []
    for order in (np.lexsort((cost, added)), np.lexsort((added, cost))):
        fits = np.maximum.accumulate(np.cumsum(added[order])) <= room
        sent = routed[order[fits][: int(n_over)]]
        cleaned = owner.copy()
        cleaned[sent] = home[sent]
        ways.append(cleaned)
    return ways


def _may_go_home(request: PlanRequest, routed: Owner, home: Owner) -> NDArray[np.bool_]:
    """Pinned items stay, nothing goes into a drained bucket, and ways back are closed."""
    allowed = ~request.is_pinned & request.is_live[home]
    items, buckets = request.ways_back
    allowed[items[home[items] == buckets]] = False
    return allowed[routed]


def _leader(request: PlanRequest) -> Owner:
    """Each item itself, or the slot it sits in and follows when N changes."""
    position = np.arange(request.n_items)
    slot = np.where(request.slot == NO_SLOT, position, request.slot)
    follows = (request.owner == request.owner[slot]) & (request.start == request.start[slot])
    return np.where(follows, slot, position)
