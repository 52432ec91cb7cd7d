"""The last phase: what the search found is evened out step by step, then made cheaper at the level it reached."""

from partitioning.planners.evenkeel.evening import even_out
from partitioning.planners.evenkeel.problem import Integers, Problem
from partitioning.planners.evenkeel.returning import bring_back
from partitioning.planners.evenkeel.standing import Standing

MAX_UNITS = 2_000  # with more, one unit hardly matters, and every pair is too many


def polish(
    problem: Problem, owner: Integers, *, goal: float, max_moved: float, max_routes: float
) -> Integers:
    """A placement as even as this one or more, and where it is no more even, no dearer."""
    standing = Standing(problem, owner, max_moved=max_moved, max_routes=max_routes)
    even_out(standing, goal=goal)
    bring_back(standing, limit=problem.limit(max(goal, float(standing.level.max()) - 1.0)))
    return standing.owner
