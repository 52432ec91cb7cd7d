"""
Why a plan is what it is: each move, each bucket that stays hot, what would help, how far from perfect, what it pays.

One function, ``explain_plan``, for the report, the command line and the validation alike. Items are named by position.
"""

from dataclasses import dataclass

from partitioning.certificate import Certificate, certify
from partitioning.explain_hot import HotBucket, explain_hot_buckets
from partitioning.explain_moves import MoveReason, explain_moves
from partitioning.frontier import Frontier, trace_frontier
from partitioning.payback import Payback, weigh
from partitioning.plan import Plan

__all__ = ["Explanation", "HotBucket", "MoveReason", "explain_plan"]


@dataclass(frozen=True, kw_only=True)
class Explanation:
    """Everything there is to say about a plan, as plain values."""

    verdict: str
    reasons: tuple[str, ...]  # of ``Plan.reasons``
    moves: tuple[MoveReason, ...]  # most relief first
    hot_buckets: tuple[HotBucket, ...]  # hottest first; empty if the goal is reached
    frontier: Frontier
    certificate: Certificate
    payback: Payback


def explain_plan(plan: Plan) -> Explanation:
    """
    Explains any planner's plan. Plans again a dozen times for the frontier and for what would help.

    Every figure follows from the plan's request and owners; the same plan is explained the same way everywhere.
    """
    return Explanation(
        verdict=plan.verdict,
        reasons=plan.reasons,
        moves=explain_moves(plan),
        hot_buckets=explain_hot_buckets(plan),
        frontier=trace_frontier(plan.request, known=[plan]),
        certificate=certify(plan),
        payback=weigh(plan.request, plan.owner),
    )
