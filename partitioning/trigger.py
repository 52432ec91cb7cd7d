"""When a rebalance is due: the first thing the controller decides (Fang et al., Sec. IV, step 2 of Fig. 5)."""

from dataclasses import dataclass

import numpy as np

from partitioning.measures import count_routes, count_undrained, imbalance, is_within, loads
from partitioning.request import PlanRequest


@dataclass(frozen=True, kw_only=True)
class Trigger:
    """Whether to plan, and every reason for it as a sentence; no reasons means no rebalance is due."""

    reasons: tuple[str, ...]
    imbalance: float  # θ of the placement as it is, after a change of N has had its way

    @property
    def is_due(self) -> bool:
        return bool(self.reasons)


def check_trigger(request: PlanRequest) -> Trigger:
    """
    Due when a bucket is above (1 + θ_max)·mean, when N changed, when the routes exceed their budget, or when a bucket that
    is to be emptied is not. A plan aims at ``Budgets.target``, which may lie below θ_max: that is the hysteresis.

    The paper's trigger is the first: exactly at the limit is still balanced. The others are constraints of
    Eq. 3, of a change of N and of drains, which no later window repairs by itself.
    """
    load = np.where(request.is_live, loads(request, request.start), 0.0)
    theta = imbalance(request, request.start)
    reasons = [
        *_overload_reasons(request, theta, load.argmax()),
        *_change_reasons(request),
        *_route_reasons(request),
        *_drain_reasons(request),
    ]
    return Trigger(reasons=tuple(reasons), imbalance=theta)


def _overload_reasons(request: PlanRequest, theta: float, hottest: np.intp) -> list[str]:
    limit = request.budgets.max_imbalance
    if is_within(theta, limit):
        return []
    return [f"Bucket {hottest} is {theta:.1%} above the mean load; max_imbalance is {limit:.1%}."]


def _change_reasons(request: PlanRequest) -> list[str]:
    n_displaced = int(np.count_nonzero(request.start != request.owner))
    if request.n_buckets == request.n_buckets_before and n_displaced == 0:
        return []
    change = f"from {request.n_buckets_before} to {request.n_buckets}"
    return [f"The number of buckets goes {change}; items that must change bucket: {n_displaced}."]


def _route_reasons(request: PlanRequest) -> list[str]:
    n_routes, limit = count_routes(request, request.start), request.budgets.max_routes
    if limit is None or n_routes <= limit:
        return []
    return [f"The table holds {n_routes} routes; max_routes is {limit}."]


def _drain_reasons(request: PlanRequest) -> list[str]:
    n_left = count_undrained(request, request.start)
    if n_left == 0:
        return []
    return [f"Buckets to be emptied still hold {n_left} items that may leave: {request.drained.tolist()}."]
