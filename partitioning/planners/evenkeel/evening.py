"""
Evens out a placement by single moves and exchanges out of the hottest bucket, inside both budgets.

The search aims at levels; between two of them budgets are left over. Each step looks at every unit of the hottest bucket,
alone and against every unit elsewhere, and takes what leaves the two buckets lowest; down to the next hottest bucket all
count the same, and the least state decides, then the fewest routes, then the position.

Worked: loads 9 | 7 | 5 as 5, 4 | 4, 3 | 3, 2. No single move out of bucket 0 helps: 4 would make 9 of bucket 2.
Exchanging 5 for 3 gives 7 | 7 | 7.
"""

import numpy as np

from partitioning.planners.evenkeel.problem import Floats, Integers
from partitioning.planners.evenkeel.standing import Standing

N_STEPS = 64


def even_out(standing: Standing, *, goal: float) -> None:
    """Lowers the hottest bucket while that is above the goal and a move or an exchange helps; ``N_STEPS`` at most."""
    for _ in range(N_STEPS):
        level = standing.level
        hottest = int(level.argmax())
        if level[hottest] <= 1.0 + goal or not _lower(standing, level, hottest):
            return


def _lower(standing: Standing, level: Floats, hottest: int) -> bool:
    """Makes the best move or exchange out of the hottest bucket; False if none helps."""
    problem, owner = standing.problem, standing.owner
    inside = np.flatnonzero((owner == hottest) & (problem.cost > 0))
    if problem.n_buckets == 1 or inside.size == 0:
        return False
    out, back, target, reached = _options(standing, level, inside, hottest)
    state, routes = _costs(standing, out, back, target, hottest)
    is_left = (state <= standing.state_left) & (routes <= np.maximum(standing.routes_left, 0.0))
    options = np.flatnonzero(is_left)
    if options.size == 0:
        return False
    following = float(np.partition(level, -2)[-2])
    order = np.lexsort((routes[options], state[options], np.maximum(reached[options], following)))
    best = int(options[order[0]])
    standing.move(int(out[best]), int(target[best]))
    if back[best] >= 0:
        standing.move(int(back[best]), hottest)
    return True


def _options(
    standing: Standing, level: Floats, inside: Integers, hottest: int
) -> tuple[Integers, Integers, Integers, Floats]:
    """
    Every unit of the hottest bucket to every bucket, and against every unit elsewhere, of these what helps: out, back (or -1),
    target, and the higher level of the two buckets afterwards.
    """
    problem, owner = standing.problem, standing.owner
    others = np.delete(np.arange(problem.n_buckets), hottest)
    outside = np.flatnonzero(owner != hottest)
    target = np.concatenate((others, owner[outside]))
    back = np.concatenate((np.full(others.size, -1), outside))
    comes = np.concatenate((np.zeros(others.size), problem.cost[outside]))
    carried = problem.cost[inside][:, None] - comes
    left = level[hottest] - carried / problem.share[hottest]
    reached = np.maximum(left, level[target] + carried / problem.share[target])
    of_inside, of_target = np.nonzero((carried > 0) & (reached < level[hottest]))
    out, back, target = inside[of_inside], back[of_target], target[of_target]
    allowed = standing.is_allowed(out, target)
    allowed &= (back < 0) | standing.is_allowed(back, np.full(back.size, hottest))
    return out[allowed], back[allowed], target[allowed], reached[of_inside, of_target][allowed]


def _costs(
    standing: Standing, out: Integers, back: Integers, target: Integers, hottest: int
) -> tuple[Floats, Floats]:
    """State and routes that each option adds."""
    there = np.full(back.size, hottest)
    comes = back >= 0
    state = standing.state_added(out, target) + np.where(comes, standing.state_added(back, there), 0.0)
    routes = standing.routes_added(out, target) + np.where(comes, standing.routes_added(back, there), 0.0)
    return state, routes
