"""MixedBF: Mixed with every n tried (Fang et al., Sec. III-C)."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from partitioning.errors import PlanRequestError
from partitioning.measures import load_per_bucket, migration
from partitioning.plan import Plan
from partitioning.planners.fang_phases import check_beta, grain_of
from partitioning.planners.mixed import KeyRounds
from partitioning.request import PlanRequest


@dataclass(frozen=True, kw_only=True)
class MixedBFOptions:
    """
    ``beta`` as for Mixed; ``stride`` is how far apart the tried n are, 1 for all of them.

    Every n costs one round of Mixed, so all of them cost N_A + 1 rounds: at 10^6 keys and thousands of routes that
    is minutes. A larger stride tries n = 0, stride, 2·stride … and always N_A.
    """

    beta: float = 1.5
    stride: int = 1

    def __post_init__(self) -> None:
        check_beta("MixedBFOptions.beta", self.beta)
        if isinstance(self.stride, bool) or not isinstance(self.stride, int) or self.stride < 1:
            raise PlanRequestError(
                f"MixedBFOptions.stride must be a whole number, 1 or more. Got {self.stride!r}. Give 1 to try every"
                " n, or more to try fewer."
            )


DEFAULTS = MixedBFOptions()


def plan_mixed_bf(request: PlanRequest, options: MixedBFOptions = DEFAULTS) -> Plan:
    """
    The best of Mixed's answers for n = 0 … N_A, by Eq. 3: constraints first, in order, then the objective.

    Best is the least load above Lmax, then the fewest routes above A_max, then the least migration, then the
    smallest n. So with stride 1 it is never worse than Mixed or MinMig in that order.
    """
    rounds = KeyRounds(request, beta=options.beta)
    n_routed = rounds.n_routed
    tried = sorted({*range(0, n_routed, options.stride), n_routed})
    best = min((rounds.run(n) for n in tried), key=lambda owner: _badness(request, rounds, owner))
    return Plan(request=request, owner=best, planner="mixed_bf")


def _badness(request: PlanRequest, rounds: KeyRounds, owner: NDArray[np.int64]) -> tuple[int, float, int]:
    """
    What Eq. 3 compares, in its order; loads and migration in whole grains.

    Two placements of the same loads in another order of buckets, or of the same moves in another unit, differ in
    the last bits of their sums. That must not decide before the next constraint is asked.
    """
    load = load_per_bucket(request.cost, owner, request.n_buckets)
    l_max = (1.0 + request.budgets.max_imbalance) * float(load.mean())
    too_much = max(0, round((float(load.max()) - l_max) / grain_of(l_max)))
    too_many = max(0.0, rounds.n_routes(owner) - request.budgets.route_limit())
    return too_much, too_many, round(migration(request, owner) / grain_of(request.total_state))
