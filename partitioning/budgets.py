"""The limits a plan has to keep."""

import math
from dataclasses import dataclass

import numpy as np

from partitioning.errors import PlanRequestError

SHARE_ROUNDING = 1e-12


@dataclass(frozen=True, kw_only=True)
class Budgets:
    """
    What a plan may cost. ``max_imbalance`` is a goal, the other two are hard limits.

    0 is a budget of nothing, ``None`` is no limit. ``max_migration`` up to 1 is a share of all state, above 1
    an amount in the unit of ``PlanRequest.state`` (bytes): ``0.05`` is five percent, ``5e9`` is 5 GB.
    """

    max_imbalance: float = 0.08  # θ_max, as a fraction of the mean load
    max_routes: int | None = None  # A_max, explicit key → bucket exceptions
    max_migration: float | None = None  # a share of all state (≤ 1), or bytes (> 1)
    # What a plan aims at once θ exceeds max_imbalance: at most that, and lower so that the next window's drift does not
    # start another plan at once. None: max_imbalance itself.
    target_imbalance: float | None = None

    def __post_init__(self) -> None:
        _check_number("max_imbalance", self.max_imbalance, what="0.08 for eight percent above the mean")
        if self.max_routes is not None:
            _check_number("max_routes", self.max_routes, what="a count, or None for no limit")
            if int(self.max_routes) != self.max_routes:
                raise PlanRequestError(
                    f"Budgets.max_routes must be a whole number. Got {self.max_routes}. Give a count of routes."
                )
        if self.max_migration is not None:
            _check_number(
                "max_migration", self.max_migration, what="a share up to 1, bytes, or None for no limit"
            )

        if self.target_imbalance is not None:
            _check_number("target_imbalance", self.target_imbalance, what="0.06, or None for max_imbalance")
            if self.target_imbalance > self.max_imbalance:
                raise PlanRequestError(
                    f"Budgets.target_imbalance must be at most max_imbalance. Got {self.target_imbalance} and"
                    f" {self.max_imbalance}. Lower the target, or leave it out."
                )

    @property
    def target(self) -> float:
        """The imbalance a plan aims at."""
        return self.max_imbalance if self.target_imbalance is None else self.target_imbalance

    def migration_limit(self, total_state: float) -> float:
        """
        The most state that may move, in the unit of state; infinite where there is no limit.

        A share is rounded up by one part in 10^12, since 0.29 * 100 is 28.999... in floats, and 29 of 100 may move.
        """
        if self.max_migration is None:
            return math.inf
        if self.max_migration > 1:
            return float(self.max_migration)
        return self.max_migration * total_state * (1 + SHARE_ROUNDING)

    def route_limit(self) -> float:
        """The most routes the new function may have; infinite where there is no limit."""
        return math.inf if self.max_routes is None else float(self.max_routes)


def _check_number(field: str, value: float, *, what: str) -> None:
    is_number = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
    if not is_number or not math.isfinite(value) or value < 0:
        raise PlanRequestError(
            f"Budgets.{field} must be a finite number, 0 or more. Got {value!r}. Give {what}."
        )
