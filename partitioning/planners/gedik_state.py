"""
What scan, redist and readj share: their options, and the two penalties that rank their choices.

Source: B. Gedik, "Partitioning functions for stateful data parallelism in stream processing", Sec. 4.2.1, Eq. 18-20.

Objective, lower is better: U(rho, gamma), by default rho + gamma.
    rho   = (max load - min load) / (θ · mean load), the geometric mean of it over the resources that count
    gamma = state migrated so far / (all state / N)
Worked number: loads 30 and 10, θ = 0.1, 4 of 40 bytes migrated: rho = 20 / (0.1 · 20) = 10, gamma = 4 / 20 = 0.2, U = 10.2.

How the paper's terms map to a request: every item is tracked; f(d) is its cost; p(t)(d) is ``owner``; and its state,
β_s(f(d)) in the paper, is ``state``: measured, not modelled. The unit of cost does not matter to the paper's resource
functions, since penalties are ratios; a function of your own is given costs as they are in the request.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from partitioning.errors import PlanRequestError
from partitioning.request import PlanRequest
from partitioning.utilities import (
    UTILITIES,
    ResourceFunction,
    constant,
    geometric_mean,
    resource_function,
    tolerated_deviation,
)

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# alpha = 1 tolerates nothing, and rho would be infinite everywhere. With a tiny θ balance still comes before migration, as it
# should in that limit, and migration still decides between equally even placements.
MIN_THETA = 1e-6
# Sums of the same costs in another order differ by about 1e-16 a term: figures closer than this count as equal, so that
# rounding never decides a tie, and decisions do not depend on the unit of cost or state.
SAME = 1e-9
SAME_LOAD = 1e-12


@dataclass(frozen=True, kw_only=True)
class GedikOptions:
    """
    What scan, redist and readj can be told. Defaults are the paper's (Table 1).

    There the default resources are linear state, constant computation and linear traffic. Constant resources are left
    out of the penalty (Sec. 4.4) and the other two are the same function, so that "linear" alone says it all.

    Without ``alpha``, θ of rho is ``Budgets.max_imbalance``: both say how far a load may be from the mean, and Eq. 15
    only derives that from the tolerated max/min (``tracking.delta.tolerated_ratio`` goes the other way).
    """

    utility: str = "U_APM"  # one of utilities.UTILITIES (Sec. 4.3)
    resources: tuple[str | ResourceFunction, ...] = ("linear",)  # β, one for each load to even out (Sec. 3.1)
    alpha: float | tuple[float, ...] | None = None  # tolerated max/min load, for all or for each resource
    # Load that stays whatever is planned (keys left to the hash), one number a bucket, or one row of them a resource, in
    # the unit of β(cost). None is the paper as printed, which looks at tracked items only.
    background_load: Sequence[float] | Sequence[Sequence[float]] | None = None

    def __post_init__(self) -> None:
        owner = type(self).__name__
        if self.utility not in UTILITIES:
            raise PlanRequestError(
                f"{owner}.utility must be one of {', '.join(UTILITIES)}. Got {self.utility!r}."
                " U_APM is the paper's default."
            )
        for resource in self.resources:
            resource_function(resource)
        for ratio in self.alphas:
            if ratio is not None and not 1 <= ratio < np.inf:  # refuses NaN too
                raise PlanRequestError(
                    f"{owner}.alpha must be a finite number, 1 or more. Got {ratio}."
                    " Give the tolerated max/min of bucket loads, 1.2 in the paper."
                )
        if len(self.alphas) != len(self.resources):
            raise PlanRequestError(
                f"{owner}.alpha must be one number, or one a resource. Got {len(self.alphas)} for"
                f" {len(self.resources)} resources. Give one number for all."
            )

    @property
    def alphas(self) -> tuple[float | None, ...]:
        """One a resource; None where the budget says what is tolerated."""
        return self.alpha if isinstance(self.alpha, tuple) else (self.alpha,) * len(self.resources)


@dataclass(frozen=True, kw_only=True, eq=False)
class Penalties:
    """
    rho, gamma and U for one request under one set of options. Arrays of K resources that count, n items, N buckets.

    Loads are always K x N, sizes of candidates K x (number of candidates).
    """

    request: PlanRequest
    options: GedikOptions

    @cached_property
    def counted(self) -> list[int]:
        """Positions of the resources that count: constant ones are left to the hash (Sec. 4.4)."""
        functions = [resource_function(resource) for resource in self.options.resources]
        return [position for position, function in enumerate(functions) if function is not constant]

    @cached_property
    def size(self) -> Floats:
        """β_k(f(d)): what each item adds to the load of each resource, K x n."""
        rows = [_sizes(self.options.resources[position], self.request.cost) for position in self.counted]
        return np.array(rows, dtype=np.float64).reshape(len(rows), self.request.n_items)

    @cached_property
    def background(self) -> Floats:
        """Load that no plan changes, K x N."""
        n_resources, n_buckets = len(self.options.resources), self.request.n_buckets
        if self.options.background_load is None:
            return np.zeros((len(self.counted), n_buckets))
        owner = type(self.options).__name__
        return _checked_background(self.options.background_load, (n_resources, n_buckets), owner)[
            self.counted
        ]

    @cached_property
    def theta(self) -> Floats:
        """θ_k, one a resource, as a column (Eq. 15, or the budget)."""
        goal = self.request.budgets.max_imbalance
        alphas = [self.options.alphas[position] for position in self.counted]
        tolerated = [
            goal if alpha is None else tolerated_deviation(alpha, self.request.n_buckets) for alpha in alphas
        ]
        return np.maximum(np.array(tolerated, dtype=np.float64), MIN_THETA).reshape(-1, 1)

    @cached_property
    def ideal_migration(self) -> float:
        """The new number of buckets' fair share of all state (Eq. 18's denominator)."""
        return self.request.total_state / self.request.n_buckets

    def load(self, owner: Ints) -> Floats:
        """Load of each resource per bucket when every item is placed, background included."""
        n_buckets = self.request.n_buckets
        placed = [np.bincount(owner, weights=size, minlength=n_buckets) for size in self.size]
        return self.background + np.array(placed, dtype=np.float64).reshape(self.background.shape)

    def rho(self, spread: Floats, mean: Floats) -> Floats:
        """Eq. 19, 20 from max - min and the mean of each candidate, K x candidates."""
        spread = np.where(spread <= SAME_LOAD * mean, 0.0, spread)  # a difference made by rounding is none
        per_resource = np.divide(spread, self.theta * mean, out=np.zeros_like(spread), where=spread > 0)
        return per_resource[0] if len(per_resource) == 1 else geometric_mean(list(per_resource))

    def utility(self, rho: Floats, migrated: ArrayLike) -> Floats:
        """U(rho, gamma), with gamma = migrated state / ideal migration (Eq. 18); gamma is 0 without any state."""
        state = np.maximum(np.asarray(migrated, dtype=np.float64), 0.0)  # rounding may leave -1e-17
        gamma = state / self.ideal_migration if self.ideal_migration > 0 else np.zeros_like(state)
        return UTILITIES[self.options.utility](rho, gamma)

    def meets_goal(self, load: Floats) -> bool:
        """Every resource within its alpha (Eq. 2, 4, 6); where none is given, no bucket above (1 + θ) · mean."""
        for row, position in zip(load, self.counted, strict=True):
            alpha = self.options.alphas[position]
            limit = (
                (1 + self.request.budgets.max_imbalance) * row.mean() if alpha is None else alpha * row.min()
            )
            if row.max() > limit * (1 + SAME_LOAD):
                return False
        return True


class Placement:
    """A mapping under construction: items are added one by one, each where its utility is lowest (Alg. 2, 3)."""

    def __init__(self, request: PlanRequest, options: GedikOptions) -> None:
        self.request = request
        self.penalties = Penalties(request=request, options=options)
        self.owner = np.zeros(request.n_items, dtype=np.int64)
        self.load = self.penalties.background.copy()
        self.migrated = 0.0  # state of the items placed away from where they were
        self._buckets = np.arange(request.n_buckets)

    def utility_if_placed(self, items: Ints, buckets: Ints) -> Floats:
        """U of the mapping with an item added to a bucket, for each pair of the two (they broadcast)."""
        penalties, n_buckets = self.penalties, self.request.n_buckets
        size = penalties.size[:, items]
        after = self.load[:, buckets] + size
        highest = np.maximum(self.load.max(axis=1, keepdims=True), after)
        lowest = np.minimum(self._least_of_others(buckets), after)
        mean = self.load.mean(axis=1, keepdims=True) + size / n_buckets
        moves = self.request.owner[items] != buckets
        return penalties.utility(
            penalties.rho(highest - lowest, mean), self.migrated + self.request.state[items] * moves
        )

    def best_bucket(self, item: int) -> int:
        """The bucket of lowest utility. Ties: where the item starts, then the lowest bucket."""
        utility = self.utility_if_placed(np.array([item]), self._buckets)
        is_best = utility <= least(utility)
        start = int(self.request.start[item])
        return start if is_best[start] else int(is_best.argmax())

    def place(self, item: int, bucket: int) -> None:
        self.owner[item] = bucket
        self.load[:, bucket] += self.penalties.size[:, item]
        if bucket != self.request.owner[item]:
            self.migrated += float(self.request.state[item])

    def _least_of_others(self, buckets: Ints) -> Floats:
        """The lowest load among all buckets but the given one; infinite where it is the only one."""
        padded = np.column_stack([self.load, np.full(len(self.load), np.inf)])
        lowest, second = np.partition(padded, 1, axis=1)[:, :2].T
        is_lowest = buckets == self.load.argmin(axis=1)[:, np.newaxis]
        return np.asarray(np.where(is_lowest, second[:, np.newaxis], lowest[:, np.newaxis]))


def least(values: Floats) -> float:
    """The smallest value, and what rounding may have added to it."""
    lowest = float(values.min())
    return lowest + SAME_LOAD * abs(lowest)


def _sizes(resource: str | ResourceFunction, cost: Floats) -> Floats:
    size = np.asarray(resource_function(resource)(cost), dtype=np.float64)
    if size.shape != cost.shape or not np.isfinite(size).all() or (size < 0).any():
        raise PlanRequestError(
            "GedikOptions.resources must map an array of costs to as many finite loads, 0 or more. Got shape"
            f" {size.shape} for {cost.shape} costs, {np.count_nonzero(~(size >= 0))} below 0 or not a number."
            " Give a function on arrays, such as numpy.sqrt."
        )
    return size


def _checked_background(load: ArrayLike, shape: tuple[int, int], owner: str) -> Floats:
    rows = np.atleast_2d(np.asarray(load, dtype=np.float64))
    if rows.shape != shape or not np.isfinite(rows).all() or (rows < 0).any():
        raise PlanRequestError(
            f"{owner}.background_load must hold one finite load, 0 or more, for each of {shape[0]} resources and"
            f" {shape[1]} buckets. Got shape {rows.shape}. Sum the untracked keys' load per bucket after the change of N."
        )
    return rows
