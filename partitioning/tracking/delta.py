"""
δ: how frequent a key must be to be tracked one by one; all others are left to the hash.

Source: B. Gedik, "Partitioning functions for stateful data parallelism in stream processing", Sec. 4.1.3.
Frequencies are shares of the whole stream, as there: they sum up to 1 over all |D| keys.

Worked number: max/min tolerated alpha = 1.2, N = 10 buckets, sigma = 0.1, linear load. θ = 0.2 / (1 + 1.2/9) = 0.176, so
δ = 0.1 · 0.176 / 10 = 0.00176: a key is tracked from 0.176 % of the stream on, of which there are at most 566.
"""

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from partitioning.errors import PlanRequestError
from partitioning.utilities import (
    ResourceFunction,
    constant,
    linear,
    quadratic,
    resource_function,
    tolerated_deviation,
)

Floats = NDArray[np.float64]

HALVINGS = 1100  # from 1 down to the smallest float64: bisection ends earlier, when nothing lies between


def tolerated_ratio(theta: float, n_buckets: int) -> float:
    """
    Eq. 15 solved for alpha: the max/min that one bucket at (1 + theta) · mean and all others even stand for.

    Infinite where theta is N - 1 or more: one bucket may then hold everything. 1 for one bucket.
    """
    if n_buckets == 1:
        return 1.0
    if theta >= n_buckets - 1:
        return math.inf
    return (1.0 + theta) * (n_buckets - 1) / (n_buckets - 1 - theta)


def frequency_threshold(
    *,
    n_buckets: int,
    n_keys: int,
    resources: Sequence[str | ResourceFunction] = ("linear",),
    alpha: float | Sequence[float] = 1.2,
    sigma: float = 0.1,
) -> float:
    """
    δ: the least of the δ_k of all resources (Eq. 16, 17). Keys with frequency ≥ δ are to be tracked.

    ``sigma`` is the share of the tolerated imbalance that one untracked key may cause. A resource function of your own must
    not fall with frequency; its mean load is predicted as Eq. 17 does, as if all ``n_keys`` keys were equal.
    Infinite (nothing to track) for one bucket, where Eq. 15 has no value.
    """
    _check_counts(n_buckets=n_buckets, n_keys=n_keys)

    def total_if_even(function: ResourceFunction) -> float:
        return n_keys * _value(function, 1.0 / n_keys)

    return _least_threshold(total_if_even, n_buckets, resources, alpha=alpha, sigma=sigma)


def refined_threshold(  # noqa: PLR0913  (the arguments of frequency_threshold, and what was counted)
    frequency: ArrayLike,
    *,
    n_buckets: int,
    n_keys: int,
    resources: Sequence[str | ResourceFunction] = ("linear",),
    alpha: float | Sequence[float] = 1.2,
    sigma: float = 0.1,
) -> float:
    """
    δ': δ again, once the frequencies of the keys counted so far are known (Sec. 4.1.3, last paragraph).

    The load is predicted from these keys, the rest of the stream spread evenly over the other keys, and divided by
    N, since Eq. 16 asks for the mean. Linear and constant resources keep their δ_k; a quadratic one gets a higher
    one. Never below δ: keys less frequent than that were not counted.
    """
    counted = _checked_frequencies(frequency, n_keys=n_keys)
    first = frequency_threshold(
        n_buckets=n_buckets, n_keys=n_keys, resources=resources, alpha=alpha, sigma=sigma
    )

    def predicted_total(function: ResourceFunction) -> float:
        n_rest = n_keys - counted.size
        rest = max(0.0, 1.0 - float(counted.sum()))
        of_rest = n_rest * _value(function, rest / n_rest) if n_rest else 0.0
        return float(np.sum(function(counted))) + of_rest

    return max(first, _least_threshold(predicted_total, n_buckets, resources, alpha=alpha, sigma=sigma))


def _least_threshold(
    total_load: Callable[[ResourceFunction], float],
    n_buckets: int,
    resources: Sequence[str | ResourceFunction],
    *,
    alpha: float | Sequence[float],
    sigma: float,
) -> float:
    functions = [resource_function(resource) for resource in resources]
    alphas = _alpha_per_resource(alpha, len(functions))
    _check_sigma(sigma)
    if n_buckets == 1:
        return math.inf
    thresholds = []
    for function, ratio in zip(functions, alphas, strict=True):
        theta = n_buckets - 1.0 if math.isinf(ratio) else tolerated_deviation(ratio, n_buckets)
        mean = 1.0 / n_buckets if function is linear else total_load(function) / n_buckets
        thresholds.append(_most_frequent_untracked(function, sigma * theta * mean))
    return min(thresholds, default=math.inf)


def _most_frequent_untracked(function: ResourceFunction, allowed: float) -> float:
    """The largest δ_k ≤ 1 with β_k(δ_k) ≤ allowed (Eq. 16); 1 for a constant β, which the hash evens out."""
    if function is constant:
        return 1.0
    if function is linear:
        return min(1.0, allowed)
    if function is quadratic:
        return min(1.0, math.sqrt(allowed))
    return _bisect(function, allowed)


def _bisect(function: ResourceFunction, allowed: float) -> float:
    if _value(function, 1.0) <= allowed:
        return 1.0
    below, above = 0.0, 1.0
    for _ in range(HALVINGS):
        middle = (below + above) / 2
        if middle in (below, above):
            break
        if _value(function, middle) <= allowed:
            below = middle
        else:
            above = middle
    return below


def _value(function: ResourceFunction, frequency: float) -> float:
    value = float(function(np.array([frequency]))[0])
    if not math.isfinite(value) or value < 0:
        raise PlanRequestError(
            f"resources must be functions to finite loads, 0 or more. Got {value} for a frequency of {frequency:g}."
            " Give a function that is 0 or more on [0, 1] and does not fall."
        )
    return value


def _alpha_per_resource(alpha: float | Sequence[float], n_resources: int) -> list[float]:
    alphas = [float(one) for one in alpha] if isinstance(alpha, Sequence) else [float(alpha)] * n_resources
    if len(alphas) != n_resources:
        raise PlanRequestError(
            f"alpha must be one number, or one a resource. Got {len(alphas)} for {n_resources} resources."
            " Give one number for all."
        )
    for ratio in alphas:
        if not ratio >= 1:  # NaN too
            raise PlanRequestError(
                f"alpha must be 1 or more. Got {ratio}. Give the tolerated max/min of bucket loads, 1.2 by default."
            )
    return alphas


def _check_sigma(sigma: float) -> None:
    if not 0 < sigma <= 1:
        raise PlanRequestError(
            f"sigma must lie in (0, 1]. Got {sigma}. Give the share of the tolerated imbalance that one untracked"
            " key may cause, 0.1 by default."
        )


def _check_counts(*, n_buckets: int, n_keys: int) -> None:
    for name, count in (("n_buckets", n_buckets), ("n_keys", n_keys)):
        if count < 1:
            raise PlanRequestError(
                f"{name} must be 1 or more. Got {count}. Give the number there are, or will be."
            )


def _checked_frequencies(frequency: ArrayLike, *, n_keys: int) -> Floats:
    counted = np.asarray(frequency, dtype=np.float64)
    outside = np.flatnonzero(~((counted >= 0) & (counted <= 1)))
    if outside.size:
        raise PlanRequestError(
            f"frequency must lie in [0, 1]. Got {counted[outside[0]]} at position {outside[0]}; keys outside:"
            f" {outside.size}. Divide counts by the number of tuples they were counted over."
        )
    if counted.size > n_keys:
        raise PlanRequestError(
            f"frequency must have at most n_keys = {n_keys} entries. Got {counted.size}. Give the number of distinct"
            " keys, or a higher estimate of it."
        )
    return counted
