"""Frequency-aware hash partitioning (Balkesen et al., Sec. 4.1), as far as keys stay whole: every key where its slot is."""

from partitioning.measures import home_after
from partitioning.plan import Plan
from partitioning.request import PlanRequest

FREQUENCY_HASH = "frequency_hash"


def plan_frequency_hash(request: PlanRequest) -> Plan:
    """Forgets every route; slots stay. Where keys may be split, ``frequency_planning`` cuts the frequent ones first."""
    return Plan(request=request, owner=home_after(request, request.start), planner=FREQUENCY_HASH)
