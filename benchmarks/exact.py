"""
The exact optimum of small requests, by integer programming (HiGHS): what no planner can beat.

One binary an item and bucket, and one number a key for its route; capacities, drains, pins, slots and a change of N
included, history aside. Answers are ``None`` if the solver came to no proof in ``max_seconds``.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import coo_array, csr_array, eye_array, hstack, kron

from partitioning.measures import TOLERANCE, mean_load
from partitioning.request import NO_SLOT, PlanRequest

MAX_SECONDS = 20.0
OPTIMAL, INFEASIBLE = 0, 2  # statuses of scipy.optimize.milp

Floats = NDArray[np.float64]


def least_migration(request: PlanRequest, *, max_seconds: float = MAX_SECONDS) -> float | None:
    """The least state to move with θ ≤ θ_max, drains done and at most A_max routes; infinite if no plan does it."""
    program = _Program(request)
    level = 1.0 + request.budgets.max_imbalance + TOLERANCE / 2
    no_level = LinearConstraint(program.columns(level=np.ones((1, 1))), level, level)
    outcome = program.solve(
        program.columns(binaries=program.moves[None, :]),
        [*program.always(), *program.table(request.budgets.route_limit()), no_level],
        max_seconds,
    )
    if outcome.status == INFEASIBLE:
        return float("inf")
    return None if outcome.status != OPTIMAL else program.migration(outcome.x)


def least_imbalance(
    request: PlanRequest, *, max_migration: float, max_routes: float, max_seconds: float = MAX_SECONDS
) -> float | None:
    """The least θ with drains done inside these limits; infinite if no plan keeps them."""
    bound, is_exact = bound_imbalance(
        request, max_migration=max_migration, max_routes=max_routes, max_seconds=max_seconds
    )
    return bound if is_exact else None


def bound_imbalance(
    request: PlanRequest, *, max_migration: float, max_routes: float, max_seconds: float = MAX_SECONDS
) -> tuple[float, bool]:
    """
    What θ cannot be below with drains done inside these limits, and whether some plan has just that.

    A solver that runs out of time has a bound all the same: that of its relaxed program, as far as it has come.
    """
    program = _Program(request)
    constraints = [*program.always(), *program.table(max_routes)]
    if np.isfinite(max_migration):
        moves = program.columns(binaries=program.moves[None, :])
        constraints.append(LinearConstraint(moves, 0, max_migration / program.unit))
    outcome = program.solve(program.columns(level=np.ones((1, 1))), constraints, max_seconds)
    if outcome.status == INFEASIBLE:
        return float("inf"), True
    if outcome.status == OPTIMAL:
        return max(0.0, float(outcome.fun) - 1.0), True
    proved = outcome.get("mip_dual_bound")
    return max(0.0, float(proved) - 1.0) if proved is not None else 0.0, False


@dataclass(frozen=True, eq=False)
class _Program:
    """Columns: a binary for each item and bucket, a route for each item, and the level in mean loads."""

    request: PlanRequest

    @property
    def n_binaries(self) -> int:
        return self.request.n_items * self.request.n_buckets

    @cached_property
    def unit(self) -> float:
        return float(self.request.state.max(initial=0.0)) or 1.0

    @cached_property
    def bucket(self) -> NDArray[np.int64]:
        return np.tile(np.arange(self.request.n_buckets), self.request.n_items)

    @cached_property
    def moves(self) -> Floats:
        """The state that each binary moves, in units of the largest."""
        away = self.bucket != self.request.owner.repeat(self.request.n_buckets)
        return np.asarray(self.request.state.repeat(self.request.n_buckets) * away / self.unit)

    def columns(self, *, binaries: Any = None, routes: Any = None, level: Any = None) -> csr_array:
        """Rows over all columns; what is not given is 0."""
        given = [part for part in (binaries, routes, level) if part is not None]
        n_rows = given[0].shape[0]
        widths = (self.n_binaries, self.request.n_items, 1)
        parts = [
            csr_array((n_rows, width)) if part is None else csr_array(part)
            for part, width in zip((binaries, routes, level), widths, strict=True)
        ]
        return csr_array(hstack(parts))

    def always(self) -> list[LinearConstraint]:
        """Every item in one bucket, no bucket in use above the level, routes where keys are away from home."""
        request = self.request
        in_one = kron(eye_array(request.n_items), np.ones((1, request.n_buckets)))
        per_capacity = np.diag(1.0 / (mean_load(request) * request.capacity))[request.is_live]
        loads = csr_array(kron(request.cost[None, :], per_capacity))
        level = csr_array(-np.ones((loads.shape[0], 1)))
        return [
            LinearConstraint(self.columns(binaries=in_one), 1, 1),
            LinearConstraint(self.columns(binaries=loads, level=level), -np.inf, 0),
            *self._routes(),
        ]

    def _routes(self) -> list[LinearConstraint]:
        """In every bucket, for a key whose slot is an item: the key there ≤ its slot there + its route."""
        n_buckets = self.request.n_buckets
        keys = np.flatnonzero(self.request.slot != NO_SLOT)
        if keys.size == 0:
            return []
        row = np.arange(keys.size * n_buckets)
        item, bucket = keys.repeat(n_buckets), np.tile(np.arange(n_buckets), keys.size)
        slot = self.request.slot[item]
        ones, shape = np.ones(row.size), (row.size, self.n_binaries)
        there = coo_array((ones, (row, item * n_buckets + bucket)), shape=shape)
        slot_there = coo_array((ones, (row, slot * n_buckets + bucket)), shape=shape)
        route = coo_array((-ones, (row, item)), shape=(row.size, self.request.n_items))
        rows = self.columns(binaries=csr_array(there) - csr_array(slot_there), routes=route)
        return [LinearConstraint(rows, -np.inf, 0)]

    def table(self, max_routes: float) -> list[LinearConstraint]:
        """No more routes than allowed: of keys with a fixed home, and of those whose slot is an item."""
        if np.isinf(max_routes):
            return []
        request = self.request
        has_home = (~request.is_slot & (request.slot == NO_SLOT)).repeat(request.n_buckets)
        away = has_home & (self.bucket != request.home.repeat(request.n_buckets))
        rows = self.columns(binaries=away[None, :].astype(np.float64), routes=np.ones((1, request.n_items)))
        return [LinearConstraint(rows, 0, max_routes)]

    def solve(self, objective: csr_array, constraints: list[LinearConstraint], max_seconds: float) -> Any:
        request = self.request
        kinds = [self.n_binaries, request.n_items, 1]
        is_open = request.is_live[self.bucket] | (self.bucket == request.owner.repeat(request.n_buckets))
        is_open &= request.is_live[self.bucket] | request.is_pinned.repeat(request.n_buckets)
        stays = request.is_pinned & (request.owner < request.n_buckets)
        is_open &= ~stays.repeat(request.n_buckets) | (self.bucket == request.owner.repeat(request.n_buckets))
        highest = np.concatenate([is_open, np.ones(request.n_items), [np.inf]])
        return milp(
            objective.toarray()[0],
            integrality=np.repeat([1, 0, 0], kinds),
            bounds=Bounds(0, highest),
            constraints=constraints,
            options={"time_limit": max_seconds, "mip_rel_gap": 0.0},
        )

    def migration(self, solution: Floats) -> float:
        chosen = solution[: self.n_binaries].reshape(self.request.n_items, self.request.n_buckets)
        return float(self.request.state[chosen.argmax(axis=1) != self.request.owner].sum())
