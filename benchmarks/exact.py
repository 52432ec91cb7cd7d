"""
The exact optimum of small requests of keys, by integer programming (HiGHS): what no planner can beat.

One binary a key and bucket; keys only, all buckets in use, without pins or a change of N. Answers are ``None`` if the
solver came to no proof in ``MAX_SECONDS``.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_array, eye_array, hstack, kron

from partitioning.measures import TOLERANCE, mean_load
from partitioning.request import PlanRequest

MAX_SECONDS = 20.0
OPTIMAL, INFEASIBLE = 0, 2  # statuses of scipy.optimize.milp

Floats = NDArray[np.float64]


def least_migration(request: PlanRequest) -> float | None:
    """The least state to move with θ ≤ θ_max and at most A_max routes; infinite if no plan does it."""
    level = 1.0 + request.budgets.max_imbalance + TOLERANCE / 2
    moves, is_route, loads = _rows(request)
    constraints = [_in_one_bucket(request), LinearConstraint(loads, 0, level), *_routes(request, is_route)]
    outcome = _solve(moves, constraints)
    if outcome.status == INFEASIBLE:
        return float("inf")
    if outcome.status != OPTIMAL:
        return None
    owner = outcome.x.reshape(request.n_items, request.n_buckets).argmax(axis=1)
    return float(request.state[owner != request.owner].sum())


def least_imbalance(request: PlanRequest) -> float | None:
    """The least θ inside both budgets."""
    moves, is_route, loads = _rows(request)
    level = csr_array(-np.ones((request.n_buckets, 1)))
    constraints = [
        _with_level(_in_one_bucket(request)),
        LinearConstraint(hstack([loads, level]), -np.inf, 0),
        *(_with_level(limit) for limit in _routes(request, is_route)),
    ]
    limit = request.budgets.migration_limit(request.total_state)
    if np.isfinite(limit):
        constraints.append(
            _with_level(LinearConstraint(csr_array(moves[None, :]), 0, limit / _scale(request)))
        )
    outcome = _solve(np.append(np.zeros(moves.size), 1.0), constraints, n_levels=1)
    return max(0.0, float(outcome.fun) - 1.0) if outcome.status == OPTIMAL else None


def _solve(objective: Floats, constraints: list[LinearConstraint], *, n_levels: int = 0) -> Any:
    """Binaries first, then ``n_levels`` numbers of any size."""
    n_binaries = objective.size - n_levels
    return milp(
        objective,
        integrality=np.repeat([1, 0], [n_binaries, n_levels]),
        bounds=Bounds(0, np.repeat([1.0, np.inf], [n_binaries, n_levels])),
        constraints=constraints,
        options={"time_limit": MAX_SECONDS, "mip_rel_gap": 0.0},
    )


def _in_one_bucket(request: PlanRequest) -> LinearConstraint:
    rows = kron(eye_array(request.n_items), np.ones((1, request.n_buckets)))
    return LinearConstraint(csr_array(rows), 1, 1)


def _routes(request: PlanRequest, is_route: Floats) -> list[LinearConstraint]:
    if request.budgets.max_routes is None:
        return []
    return [LinearConstraint(csr_array(is_route[None, :]), 0, request.budgets.max_routes)]


def _with_level(constraint: LinearConstraint) -> LinearConstraint:
    """The same constraint where one more number, the level, comes last."""
    rows = hstack([constraint.A, csr_array((constraint.A.shape[0], 1))])
    return LinearConstraint(csr_array(rows), constraint.lb, constraint.ub)


def _scale(request: PlanRequest) -> float:
    return float(request.state.max(initial=0.0)) or 1.0


def _rows(request: PlanRequest) -> tuple[Floats, Floats, Any]:
    """State moved and routes added by each binary, and the loads in mean loads, one row a bucket."""
    bucket = np.tile(np.arange(request.n_buckets), request.n_items)
    moves = request.state.repeat(request.n_buckets) * (bucket != request.owner.repeat(request.n_buckets))
    is_route = (bucket != request.home.repeat(request.n_buckets)).astype(np.float64)
    per_capacity = np.diag(1.0 / (mean_load(request) * request.capacity))
    return moves / _scale(request), is_route, csr_array(kron(request.cost[None, :], per_capacity))
