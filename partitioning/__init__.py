"""The heart of Evenkeel: which bucket each key goes to, and how to change that for little. NumPy only, pure."""

from partitioning.bounds import Bounds
from partitioning.budgets import Budgets
from partitioning.errors import FunctionError, PartitioningError, PlanRequestError
from partitioning.plan import Plan
from partitioning.planners import PLANNERS
from partitioning.planning import make_plan
from partitioning.request import PlanRequest

__all__ = [
    "PLANNERS",
    "Bounds",
    "Budgets",
    "FunctionError",
    "PartitioningError",
    "Plan",
    "PlanRequest",
    "PlanRequestError",
    "make_plan",
]
