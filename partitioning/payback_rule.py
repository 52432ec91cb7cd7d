"""The terms of the payback rule; ``payback`` applies them."""

import math
from dataclasses import dataclass

from partitioning.errors import PlanRequestError


@dataclass(frozen=True, kw_only=True)
class PaybackRule:
    """Over how many windows a plan must pay, and what moving costs."""

    n_windows: int = 5  # the horizon
    price: float | None = (
        None  # cost of moving one unit of state; None: all state is as dear as one window's work
    )

    def __post_init__(self) -> None:
        if self.n_windows < 1:
            raise PlanRequestError(
                f"PaybackRule.n_windows must be 1 or more. Got {self.n_windows}. Give the windows a plan should last."
            )
        if self.price is not None and not 0 <= self.price < math.inf:
            raise PlanRequestError(
                f"PaybackRule.price must be a finite number, 0 or more. Got {self.price}."
                " Give the cost of moving one unit of state, or leave it out."
            )
