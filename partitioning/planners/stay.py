"""The planner that does nothing beyond what a change of N forces: the yardstick of all others."""

from partitioning.plan import Plan
from partitioning.request import PlanRequest


def plan_stay(request: PlanRequest) -> Plan:
    """Every item stays where the change of N leaves it (``PlanRequest.start``); without one, nothing moves."""
    return Plan(request=request, owner=request.start, planner="stay")
