"""
Gedik's figures: resource functions, relative balance and migration, the two penalties and the five utilities.

Source: B. Gedik, "Partitioning functions for stateful data parallelism in stream processing", VLDB Journal 2014;
sections and equations are cited beside each function. Loads are always given with buckets on the last axis, so that
many candidate placements can be judged in one call.
"""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from partitioning.errors import PlanRequestError

Floats = NDArray[np.float64]
ResourceFunction = Callable[[Floats], Floats]  # β: frequency of each key → load it causes (Sec. 3.1)
Utility = Callable[[Floats, Floats], Floats]  # U(rho, gamma), lower is better (Sec. 4.3)


def constant(frequency: Floats) -> Floats:
    """β(x) = 1: a count-based window keeps the same state for every key."""
    return np.ones_like(frequency)


def linear(frequency: Floats) -> Floats:
    """β(x) = x: a time-based window, or traffic."""
    return np.asarray(frequency, dtype=np.float64)


def quadratic(frequency: Floats) -> Floats:
    """β(x) = x²: a join compares each tuple with the window."""
    return np.square(frequency)


RESOURCE_FUNCTIONS: Mapping[str, ResourceFunction] = {
    "constant": constant,
    "linear": linear,
    "quadratic": quadratic,
}


def resource_function(resource: str | ResourceFunction) -> ResourceFunction:
    """β by name, or the caller's own function on arrays, unchanged."""
    if callable(resource):
        return resource
    if resource not in RESOURCE_FUNCTIONS:
        raise PlanRequestError(
            f"resource must be one of {', '.join(RESOURCE_FUNCTIONS)}, or a function. Got {resource!r}."
            " Name one of these, or give your own function from an array of frequencies to an array of loads."
        )
    return RESOURCE_FUNCTIONS[resource]


def tolerated_deviation(alpha: float, n_buckets: int) -> float:
    """θ_k: how far a load may be from the mean, as a fraction of it, if max/min may be alpha (Eq. 15)."""
    # One bucket always holds the mean; the printed form would divide by N - 1 = 0.
    return 0.0 if n_buckets == 1 else (alpha - 1.0) / (1.0 + alpha / (n_buckets - 1))


def max_over_min(load: ArrayLike) -> Floats:
    """r_k (Eq. 2, 4, 6): infinite where some but not all buckets are empty, 1 where all are."""
    loads = np.asarray(load, dtype=np.float64)
    highest, lowest = loads.max(axis=-1), loads.min(axis=-1)
    ratio = np.where(highest > 0, np.inf, 1.0)
    return np.asarray(np.divide(highest, lowest, out=ratio, where=lowest > 0))


def relative_imbalance(loads: Sequence[ArrayLike], alphas: Sequence[float]) -> float:
    """b: the geometric mean over resources of r_k / alpha_k; 1 is exactly what is tolerated (Eq. 11)."""
    per_resource = [max_over_min(load) / alpha for load, alpha in zip(loads, alphas, strict=True)]
    return float(geometric_mean(per_resource))


def relative_migration(state: Floats, moved: NDArray[np.bool_], n_buckets: int) -> float:
    """m: migrated state as a multiple of all state / N, with N after the change (Eq. 10, 12). 0 without state."""
    ideal = float(state.sum()) / n_buckets
    return float(state[moved].sum()) / ideal if ideal > 0 else 0.0


def balance_penalty(load: ArrayLike, theta: float) -> Floats:
    """rho_k = (max - min) / (θ_k · mean) (Eq. 19). 0 for even loads, infinite for uneven ones where θ_k = 0."""
    loads = np.asarray(load, dtype=np.float64)
    spread = loads.max(axis=-1) - loads.min(axis=-1)
    allowed = theta * loads.mean(axis=-1)
    penalty = np.where(spread > 0, np.inf, 0.0)
    return np.asarray(np.divide(spread, allowed, out=penalty, where=(allowed > 0) & (spread > 0)))


def geometric_mean(per_resource: Sequence[ArrayLike]) -> Floats:
    """
    Combines one figure a resource, with the exponent 1 / (number given) (Eq. 11, 20).

    rho leaves out resources with a constant function (Sec. 4.4): give only those left in. 0 if none is.
    """
    if len(per_resource) == 0:
        return np.zeros(())
    figures = np.asarray(per_resource, dtype=np.float64)
    with np.errstate(invalid="ignore"):  # 0 · ∞: one resource even, another without any tolerance
        product = np.where((figures == 0).any(axis=0), 0.0, figures.prod(axis=0))
    return np.asarray(product ** (1.0 / len(per_resource)))


def _balance_alone(rho: Floats, gamma: Floats) -> Floats:
    return rho + 0.0 * gamma  # keeps the shape of both


def _plus(rho: Floats, gamma: Floats) -> Floats:
    return rho + gamma


def _plus_log(rho: Floats, gamma: Floats) -> Floats:
    return rho + np.log1p(gamma)


def _times(rho: Floats, gamma: Floats) -> Floats:
    return rho * (1.0 + gamma)


def _times_log(rho: Floats, gamma: Floats) -> Floats:
    return rho * (1.0 + np.log1p(gamma))


# Sec. 4.3. A: balance, P: plus, T: times, L: log, M: migration.
UTILITIES: Mapping[str, Utility] = {
    "U_A": _balance_alone,
    "U_APM": _plus,
    "U_APLM": _plus_log,
    "U_ATM": _times,
    "U_ATLM": _times_log,
}


def utility(name: str, *, balance_penalty: ArrayLike, migration_penalty: ArrayLike) -> Floats:
    """U(rho, gamma) by name, elementwise; lower is better (Sec. 4.3)."""
    if name not in UTILITIES:
        raise PlanRequestError(
            f"utility.name must be one of {', '.join(UTILITIES)}. Got {name!r}. U_APM is the paper's default."
        )
    rho = np.asarray(balance_penalty, dtype=np.float64)
    gamma = np.asarray(migration_penalty, dtype=np.float64)
    return UTILITIES[name](rho, gamma)
