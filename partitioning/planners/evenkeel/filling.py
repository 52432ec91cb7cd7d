"""After a growth below an oversized item: limits for all other buckets, so that new ones are filled although θ cannot fall."""

from collections.abc import Callable

import numpy as np

from partitioning.measures import load_per_bucket
from partitioning.oversized import fair_rest, oversized_items
from partitioning.planners.evenkeel.candidates import Candidates
from partitioning.planners.evenkeel.problem import WHOLE, Floats, Problem


def limits_of_rest(candidates: Candidates, problem: Problem) -> Callable[[float], Floats] | None:
    """
    The most each bucket of the problem may hold for a given imbalance of the rest; None where there is nothing to fill.

    Buckets that hold oversized items may hold what they do in the best candidate: no more, or θ would rise.
    """
    request, owner = candidates.request, candidates.owner
    items = oversized_items(request)
    if items.size == 0:
        return None
    fair, seated = fair_rest(request, owner, items)
    load = load_per_bucket(request.cost, owner, request.n_buckets)
    part = WHOLE / float(request.cost.sum())

    def limit(level: float) -> Floats:
        most = np.where(seated > 0, load, (1.0 + level) * fair)[problem.bucket] * part
        return np.asarray(np.ceil(most) - problem.fixed)

    return limit
