"""
As even for less: what has moved goes back where it came from, if need be against something cheaper that leaves in its place.

Each step takes the return that saves most state: alone, if its bucket has room for it, or with a unit of that bucket that leaves
for the bucket the first one was in, or for the one with most room. Ties by position.

Worked: limit 10; a unit of cost 4 and state 9 left bucket 0, which holds 8 since; bucket 1 holds 9 with it. In bucket 0 there is a
unit of cost 3 and state 2. The first comes back and the second leaves: loads 9 and 8, and 2 have moved instead of 9.
"""

from dataclasses import dataclass

import numpy as np

from partitioning.planners.evenkeel.problem import NOWHERE, Floats
from partitioning.planners.evenkeel.standing import Standing

N_STEPS = 64
NOTHING = -1


@dataclass(frozen=True, kw_only=True)
class _Return:
    """A unit that goes back to its origin, and what leaves that instead (NOTHING: it has room)."""

    unit: int
    saved: float
    instead: int = NOTHING
    target: int = NOWHERE


def bring_back(standing: Standing, *, limit: Floats) -> None:
    """Lowers what has moved; no bucket rises above its limit. ``N_STEPS`` steps at most."""
    for _ in range(N_STEPS):
        best = _best_return(standing, limit)
        if best is None:
            return
        standing.move(best.unit, int(standing.problem.origin[best.unit]))
        if best.instead != NOTHING:
            standing.move(best.instead, best.target)


def _best_return(standing: Standing, limit: Floats) -> _Return | None:
    problem = standing.problem
    away = (standing.owner != problem.origin) & (problem.origin != NOWHERE) & (problem.state > 0)
    away &= standing.is_allowed(np.arange(problem.n_items), problem.origin)
    units = np.flatnonzero(away)
    best = None
    for unit in units[np.argsort(-problem.state[units], kind="stable")].tolist():
        if best is not None and problem.state[unit] <= best.saved:
            break  # it can hardly save more than itself
        found = _return_of(standing, unit, limit)
        if found is not None and (best is None or found.saved > best.saved):
            best = found
    return best


def _return_of(standing: Standing, unit: int, limit: Floats) -> _Return | None:
    """The best way for this unit to go back, if any saves state."""
    problem = standing.problem
    one, origin = np.array([unit]), int(problem.origin[unit])
    saved = -float(standing.state_added(one, problem.origin[one])[0])
    routes_left = max(0.0, standing.routes_left) - float(standing.routes_added(one, problem.origin[one])[0])
    room = limit - standing.load
    room[standing.owner[unit]] += problem.cost[unit]
    room[origin] -= problem.cost[unit]
    if room[origin] >= 0:
        return _Return(unit=unit, saved=saved) if routes_left >= 0 else None
    inside = np.flatnonzero((standing.owner == origin) & (problem.cost >= -room[origin]))
    best = None
    for target in {
        int(standing.owner[unit]),
        int(np.where(np.arange(room.size) == origin, -np.inf, room).argmax()),
    }:
        there = np.full(inside.size, target)
        added = standing.state_added(inside, there)
        fits = (problem.cost[inside] <= room[target]) & standing.is_allowed(inside, there)
        fits &= (standing.routes_added(inside, there) <= routes_left) & (added < saved)
        if fits.any():
            place = int(np.where(fits, added, np.inf).argmin())
            if best is None or saved - added[place] > best.saved:
                best = _Return(
                    unit=unit, saved=saved - float(added[place]), instead=int(inside[place]), target=target
                )
    return best
