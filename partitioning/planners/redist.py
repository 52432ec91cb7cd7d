"""Redist: place all items anew, next always the item with the best utility per cost (Gedik, Sec. 4.2.3, Alg. 3)."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from partitioning.plan import Plan
from partitioning.planners.gedik_state import Floats, GedikOptions, Ints, Placement, least
from partitioning.request import PlanRequest


@dataclass(frozen=True, kw_only=True)
class RedistOptions(GedikOptions):
    """Redist has no options beyond those of all three algorithms."""


DEFAULTS = RedistOptions()


def plan_redist(request: PlanRequest, options: RedistOptions = DEFAULTS) -> Plan:
    """
    Rebuild the placement from nothing; at each step the item of lowest utility / cost, in its best bucket.

    Like scan, but a light item may come before a heavy one if it sits well enough. Ties: the lower position, then the
    bucket as in scan. Items without cost come last, in order. Where items sit decides the order they are taken in, so that
    a second run on the result may move items again. Cost: n² / 2 utilities for one resource (the paper's
    n² · N / 2 for several), a step an item.
    """
    placement = Placement(request, options)
    unplaced = np.flatnonzero(request.cost > 0)
    while unplaced.size:
        per_cost = _best_utility(placement, unplaced) / request.cost[unplaced]
        chosen = int((per_cost <= least(per_cost)).argmax())
        item = int(unplaced[chosen])
        placement.place(item, placement.best_bucket(item))
        unplaced = np.delete(unplaced, chosen)
    for item in np.flatnonzero(request.cost == 0).tolist():  # utility / cost is infinite for all of them
        placement.place(item, placement.best_bucket(item))
    return Plan(request=request, owner=placement.owner, planner="redist")


def _best_utility(placement: Placement, items: Ints) -> Floats:
    """The lowest utility of each item over all buckets, looked for only where it can be: at home and in the front."""
    owner = placement.request.owner[items]
    is_there = owner < placement.request.n_buckets
    best = np.full(items.size, np.inf)
    best[is_there] = placement.utility_if_placed(items[is_there], owner[is_there])
    for bucket in _front(placement.load):
        best = np.minimum(best, placement.utility_if_placed(items, np.array([bucket])))
    return best


def _front(load: Floats) -> NDArray[np.int64]:
    """
    Buckets that no other is at most as loaded as, in every resource: of equals the first.

    Adding an item to a less loaded bucket raises the maximum less and the minimum more, so that no other bucket can have
    a lower balance penalty; and to an item that moves anyway, all buckets cost the same migration.
    """
    if len(load) == 1:
        return np.array([load.argmin()])
    if len(load) == 0:
        return np.zeros(1, dtype=np.int64)
    # Whatever dominates a bucket comes before it in this order.
    order = np.lexsort(load[::-1])
    front: list[int] = []
    for bucket in order.tolist():
        if not any((load[:, other] <= load[:, bucket]).all() for other in front):
            front.append(bucket)
    return np.array(front, dtype=np.int64)
