"""
A plan whose items may be parts of keys, with what splitting costs on the scale of θ.

All buckets wait for the hottest, for θ mean loads; then the partial results of split keys are merged, one more for each further bucket of
a key, each taken to cost as much as one unit of cost (one row):

    θ' = θ + g          g = partial results beyond one a key · PARTIAL_COST / mean load

Worked: 8 buckets have a mean load of 1,000 rows and a key of 4,800. In 5 parts of 960 it adds 4 partial results, g = 0.004, where
whole it makes θ = 3.8. With a mean load of 10 rows the same cut would add 0.4.
"""

from dataclasses import dataclass
from functools import cached_property

from partitioning import measures
from partitioning.parting import PartedRequest, n_partials
from partitioning.payback import Payback
from partitioning.plan import Plan
from partitioning.splits import Parts

PARTIAL_COST = 1.0  # of merging one partial result, in the unit of cost


@dataclass(frozen=True, kw_only=True, eq=False)
class SplitPlan:
    """A plan whose items may be parts of keys, and what splitting costs."""

    parted: PartedRequest
    plan: Plan

    @cached_property
    def parts(self) -> dict[int, Parts]:
        """Of each key that is split before or afterwards, by its position in the whole request."""
        return self.parted.parts_after(self.plan.owner)

    @property
    def n_partials_before(self) -> int:
        return n_partials(self.parted.today)

    @property
    def n_partials(self) -> int:
        """Partial results to merge in a window beyond one a key."""
        return n_partials(self.parts)

    def merge_cost(self, n_partials: int) -> float:
        """What merging so many partial results costs, in the unit of θ: the g above."""
        mean = measures.mean_load(self.parted.whole)
        return n_partials * PARTIAL_COST / mean if mean > 0 else 0.0

    @cached_property
    def migration(self) -> float:
        return self.parted.migration(self.plan.owner)

    @cached_property
    def payback(self) -> Payback:
        """As ``payback.weigh``, with θ' in the place of θ."""
        whole, today = self.parted.whole, self.parted.as_today.request
        total = float(whole.cost.sum())
        before = measures.imbalance(today, today.start) + self.merge_cost(self.n_partials_before)
        after = self.plan.imbalance + self.merge_cost(self.n_partials)
        price = whole.payback.price
        if price is None:
            price = total / whole.total_state if whole.total_state > 0 else 0.0
        n_windows = whole.payback.n_windows
        return Payback(
            saved=n_windows * (before - after) * total, spent=self.migration * price, n_windows=n_windows
        )

    @property
    def is_even(self) -> bool:
        return measures.is_within(self.plan.imbalance, self.parted.whole.budgets.target)

    @property
    def stands_still(self) -> bool:
        """Whether nothing moves and nothing has to: θ is within its limit as it is."""
        return self.migration == 0 and measures.is_within(
            self.plan.imbalance, self.parted.whole.budgets.max_imbalance
        )

    @property
    def rank(self) -> tuple[bool, float, int]:
        """Lower is better: what pays first, then θ' where all θ within the target count the same, then fewer parts."""
        theta = max(self.plan.imbalance, self.parted.whole.budgets.target)
        score = round(theta + self.merge_cost(self.n_partials), 12)
        return not self.payback.is_worth_it, score, self.parted.origin.size
