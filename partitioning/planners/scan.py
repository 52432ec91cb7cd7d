"""Scan: place all items anew, the costliest first, each where the utility is best (Gedik, Sec. 4.2.2, Alg. 2)."""

from dataclasses import dataclass

import numpy as np

from partitioning.plan import Plan
from partitioning.planners.gedik_state import GedikOptions, Placement
from partitioning.request import PlanRequest


@dataclass(frozen=True, kw_only=True)
class ScanOptions(GedikOptions):
    """Scan has no options beyond those of all three algorithms."""


DEFAULTS = ScanOptions()


def plan_scan(request: PlanRequest, options: ScanOptions = DEFAULTS) -> Plan:
    """
    Rebuild the placement from nothing, in one pass over the items by descending cost.

    The costliest come first since they are the hardest to make up for. An item that leaves ``owner`` raises the
    migration penalty by its state; one whose bucket is gone pays wherever it goes. Equal costs go by position, equal
    utilities to where the item starts, then to the lowest bucket. Cost: n items times N buckets, a step an item.
    """
    placement = Placement(request, options)
    for item in np.argsort(-request.cost, kind="stable").tolist():
        placement.place(item, placement.best_bucket(item))
    return Plan(request=request, owner=placement.owner, planner="scan")
