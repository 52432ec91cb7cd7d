"""
Whether a plan is worth its migration: what it saves over a few windows against what moving takes, both in cost.

All buckets wait for the hottest, so a window holds every worker for (1 + θ) times its fair share. Over a horizon of h windows,
if the load stays as it is,

    saved = h · (θ before - θ after) · all cost          spent = migration · price of a unit of state

Without a price, moving all state is taken to be as dear as the work of one window: price = all cost / all state.

Worked: all cost is 1,000, θ falls from 0.5 to 0.1, 10 % of the state moves, h = 5: saved 5 · 0.4 · 1,000 = 2,000, spent 100.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from partitioning import measures
from partitioning.request import PlanRequest


@dataclass(frozen=True, kw_only=True)
class Payback:
    """Both sides of the rule, in the unit of cost."""

    saved: float  # over the horizon; less than 0 if the plan makes things less even, as drains may
    spent: float
    n_windows: int

    @property
    def is_worth_it(self) -> bool:
        return self.saved >= self.spent

    def __str__(self) -> str:
        judgement = "worth it" if self.is_worth_it else "not worth it"
        return (
            f"{judgement}: saves {self.saved:.6g} of cost over {self.n_windows} windows, if the load stays as it is,"
            f" and takes {self.spent:.6g} of cost to move"
        )


def weigh(request: PlanRequest, owner: NDArray[np.int64]) -> Payback:
    """The payback of a placement; before is ``request.start``, what a change of N leaves."""
    rule = request.payback
    total = float(request.cost.sum())
    price = rule.price
    if price is None:
        price = total / request.total_state if request.total_state > 0 else 0.0
    gain = measures.imbalance(request, request.start) - measures.imbalance(request, owner)
    return Payback(
        saved=rule.n_windows * gain * total,
        spent=measures.migration(request, owner) * price,
        n_windows=rule.n_windows,
    )
