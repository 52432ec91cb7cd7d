"""
Gives up moves of a planner's answer until what remains keeps the hard limits.

The rule: pick a level of load. Every bucket above it keeps its outgoing moves, cheapest relief first, until it is down
to the level (times its capacity; 0 if it is to be drained), counting what it receives from others; all other moves are
given up. The level is the lowest, between the
goal and the imbalance of standing still, whose moves keep both limits; it is found by bisection. A move that alone
takes more state than is left is given up at once.

Cheapest relief: the least share of the limits used per unit of cost carried away. The two limits are weighed against
each other in a few fixed ways, and the best outcome wins. Ties by position.
Worked: bucket 0 holds costs 6, 3, 3 (state 6, 1, 9), the others are cool, the level is 8. The overload is 4. Relief
costs 6/6, 1/3 and 9/3 per unit: the second item goes (3 of 4 covered), then the first; the third move is given up.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from partitioning import measures
from partitioning.move_units import MoveUnits, units_between
from partitioning.ranking import Figures, Limits, is_better, measure
from partitioning.request import PlanRequest
from partitioning.standing_still import clean_table

Owner = NDArray[np.int64]

WEIGHTS = (1.0, 0.5, 0.0)  # of the migration limit; the rest is the weight of the route limit
N_LEVELS = 12  # steps of bisection: the level is found to 1/4096 of its range
N_PASSES = 8  # a bucket that receives more than it can hold passes moves on, at most this often


def fit_to_limits(request: PlanRequest, limits: Limits, *, still: Owner, answer: Owner) -> Owner:
    """The best placement found between standing still and the answer; ``still`` itself if none is better."""
    best, figures = still, measure(request, still)
    for candidate in _candidates(request, limits, still=still, answer=answer):
        candidate_figures = measure(request, candidate)
        if is_better(candidate_figures, figures, limits):
            best, figures = candidate, candidate_figures
    return best


def _candidates(request: PlanRequest, limits: Limits, *, still: Owner, answer: Owner) -> Iterator[Owner]:
    for target in (answer, *clean_table(request, answer, limits)):
        yield target
        units = units_between(request, still, target)
        room = limits.migration - measures.migration(request, still)
        units = units.take(np.flatnonzero(units.state <= max(room, 0.0)))
        for weight in WEIGHTS:
            yield from _lower_the_level(request, limits, _by_relief(request, limits, units, weight))


def _by_relief(request: PlanRequest, limits: Limits, units: MoveUnits, weight: float) -> MoveUnits:
    """Grouped by the bucket they leave, and in each group cheapest relief first."""
    # Shares of all state and of all items where there is no limit, or one of nothing.
    state_limit = limits.migration if 0 < limits.migration < np.inf else request.total_state
    route_limit = limits.routes if 0 < limits.routes < np.inf else float(request.n_items)
    with np.errstate(over="ignore"):  # a limit, or a cost, next to nothing: infinitely dear
        share = weight * units.state / (state_limit or 1.0) + (1 - weight) * units.routes / route_limit
        price = np.divide(share, units.cost, out=np.full_like(share, np.inf), where=units.cost > 0)
    return units.take(np.lexsort((price, units.source)))


def _lower_the_level(request: PlanRequest, limits: Limits, units: MoveUnits) -> Iterator[Owner]:
    """Placements at the lowest levels that seemed to keep the limits, lowest first, until one does."""
    promising = list(_search_level(request, limits, units))
    for kept in reversed(promising):
        candidate = units.make(kept)
        yield candidate
        if limits.hold_for(measure(request, candidate)):
            return


def _search_level(request: PlanRequest, limits: Limits, units: MoveUnits) -> Iterator[NDArray[np.bool_]]:
    still = measure(request, units.still)
    load = measures.load_per_bucket(request.cost, units.still, request.n_buckets)
    fair = np.where(request.is_live, measures.mean_load(request) * request.capacity, 0.0)
    low, high = limits.imbalance, still.imbalance
    level = low
    for _ in range(N_LEVELS):
        if level >= high:
            return
        kept = _needed_moves(units, load, (1 + level) * fair)
        kept = _make_room_in_table(units, kept, still.routes - limits.routes)
        if limits.hold_for(_figures(request, units, kept, still)):
            yield kept
            high = level
        else:
            low = level
        level = (low + high) / 2


def _needed_moves(
    units: MoveUnits, load: NDArray[np.float64], limit: NDArray[np.float64]
) -> NDArray[np.bool_]:
    """Which moves bring every bucket down to its limit, as far as its moves go."""
    received = np.zeros_like(load)
    kept = np.zeros(units.cost.size, dtype=np.bool_)
    for _ in range(N_PASSES):
        needed = load + received - limit * (1 + measures.TOLERANCE)
        kept = units.cost_before < needed[units.source]
        now_received = measures.load_per_bucket(units.cost[kept], units.target[kept], load.size)
        if np.array_equal(now_received, received):
            break
        received = now_received
    return kept


def _make_room_in_table(units: MoveUnits, kept: NDArray[np.bool_], n_over: float) -> NDArray[np.bool_]:
    """Adds those of the answer's moves that free routes, least state first, while the table is over its limit."""
    n_over += float(units.routes[kept].sum())
    if n_over <= 0:
        return kept
    frees = np.flatnonzero(~kept & (units.routes < 0))
    frees = frees[np.argsort(units.state[frees], kind="stable")]
    kept = kept.copy()
    kept[frees[: int(n_over)]] = True
    return kept


def _figures(request: PlanRequest, units: MoveUnits, kept: NDArray[np.bool_], still: Figures) -> Figures:
    """What these moves come to. With slots a move's routes depend on the others: only measuring tells."""
    if request.has_slots:
        return measure(request, units.make(kept))
    return Figures(
        imbalance=still.imbalance,  # not looked at: the level stands for it
        migration=still.migration + float(units.state[kept].sum()),
        routes=still.routes + int(units.routes[kept].sum()),
    )
