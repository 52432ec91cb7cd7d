"""MinTable: the fewest routes (Fang et al., Sec. III-B, Alg. 2)."""

import numpy as np

from partitioning.plan import Plan
from partitioning.planners.fang_phases import Board, highest_cost_first, send_home
from partitioning.planners.llfd import balance
from partitioning.request import PlanRequest


def plan_min_table(request: PlanRequest) -> Plan:
    """
    Forget every route, then balance the hash's placement with the costliest items.

    Few, large items take the overload away, so few routes are needed; the migration is not looked at. The answer
    depends on the homes and costs alone, not on where items are: planning on the result moves nothing.
    """
    board = Board.of(request)
    everything = np.arange(request.n_items)  # Phase I: move back all keys in A
    hashed = send_home(request.start, board.home, everything)
    owner = balance(board, hashed, highest_cost_first(request.cost))
    return Plan(request=request, owner=owner, planner="min_table")
