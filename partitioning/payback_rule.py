"""The terms of the payback rule; ``payback`` applies them."""

import math
from dataclasses import dataclass

from partitioning.errors import PlanRequestError
from partitioning.hashing import is_whole


@dataclass(frozen=True, kw_only=True)
class PaybackRule:
    """Over how many windows a plan must pay, and what moving costs."""

    n_windows: int = 5  # the horizon
    price: float | None = (
        None  # cost of moving one unit of state; None: all state is as dear as one window's work
    )

    def __post_init__(self) -> None:
        if not is_whole(self.n_windows) or self.n_windows < 1:
            raise PlanRequestError(
                f"PaybackRule.n_windows must be a whole number from 1. Got {self.n_windows!r}. Give the windows a plan should last."
            )
        is_number = isinstance(self.price, int | float) and not isinstance(self.price, bool)
        if self.price is not None and not (is_number and 0 <= self.price < math.inf):
            raise PlanRequestError(
                f"PaybackRule.price must be a finite number, 0 or more. Got {self.price!r}."
                " Give the cost of moving one unit of state, or leave it out."
            )
