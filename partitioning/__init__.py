"""The heart of Evenkeel: which bucket each key goes to, and how to change that for little. NumPy only, pure."""

from partitioning.bounds import Bounds
from partitioning.budgets import Budgets
from partitioning.errors import FunctionError, PartitioningError, PlanRequestError
from partitioning.explain import Explanation, explain_plan
from partitioning.frontier import Frontier, trace_frontier
from partitioning.history import History
from partitioning.payback_rule import PaybackRule
from partitioning.plan import Plan
from partitioning.planners import PLANNERS
from partitioning.planning import make_plan
from partitioning.request import PlanRequest

__all__ = [
    "PLANNERS",
    "Bounds",
    "Budgets",
    "Explanation",
    "Frontier",
    "FunctionError",
    "History",
    "PartitioningError",
    "PaybackRule",
    "Plan",
    "PlanRequest",
    "PlanRequestError",
    "explain_plan",
    "make_plan",
    "trace_frontier",
]
