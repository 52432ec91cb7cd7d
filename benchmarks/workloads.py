"""
Seeded windows of drifting Zipf keys: the synthetic generator of Fang et al. (Sec. V), in the two readings we use.

*literal*: frequencies are swapped between uniform random pairs of keys until some bucket's load has changed by f
mean loads; since random swaps hardly change a load, practically everything is reshuffled (4 K swaps at most).
*hot*: one bucket attracts keys in proportion to their frequency, a burst.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from partitioning.budgets import Budgets
from partitioning.measures import load_per_bucket
from partitioning.planners import PLANNERS
from partitioning.request import PlanRequest

Drift = Literal["hot", "literal"]


@dataclass(frozen=True, kw_only=True)
class Workload:
    """What to generate. The defaults are the mid values of Table II."""

    n_keys: int
    n_buckets: int
    zipf: float = 0.85  # z
    fluctuation: float = 1.0  # f, in mean loads
    n_windows: int = 5  # w: state is what the last w windows brought
    rows_per_key: int = 10  # mean cost of a key in a window
    drift: Drift = "hot"
    seed: int = 0


def zipf_rows(workload: Workload) -> NDArray[np.float64]:
    """Rows of the key of each rank, descending: whole numbers, at least 1."""
    weight = np.arange(1, workload.n_keys + 1, dtype=np.float64) ** -workload.zipf
    share: NDArray[np.float64] = weight / weight.sum()
    return np.maximum(1.0, np.rint(workload.rows_per_key * workload.n_keys * share))


def drifted_request(workload: Workload, budgets: Budgets) -> PlanRequest:
    """
    The request after ``n_windows`` of drift; every window but the last was answered by Mixed.

    So the table holds the routes of earlier answers, and the last window's drift is what is to be planned for.
    """
    rng = np.random.default_rng(workload.seed)
    home = rng.integers(0, workload.n_buckets, workload.n_keys)
    cost = rng.permutation(zipf_rows(workload))
    state = cost.copy()
    owner = home

    def request() -> PlanRequest:
        return PlanRequest.of_keys(
            cost=cost, state=state, owner=owner, home=home, n_buckets=workload.n_buckets, budgets=budgets
        )

    for _ in range(workload.n_windows - 1):
        owner = PLANNERS["mixed"](request()).owner
        cost = next_window(cost, owner, workload, rng)
        state = state + cost
    return request()


def next_window(
    cost: NDArray[np.float64], owner: NDArray[np.int64], workload: Workload, rng: np.random.Generator
) -> NDArray[np.float64]:
    """The same frequencies on other keys, until a bucket's load has changed by f mean loads; no swap where f is 0."""
    if workload.fluctuation == 0:
        return cost.copy()
    drift = _burst if workload.drift == "hot" else _reshuffle
    return drift(cost, owner, workload, rng)


def _burst(
    cost: NDArray[np.float64], owner: NDArray[np.int64], workload: Workload, rng: np.random.Generator
) -> NDArray[np.float64]:
    """One bucket's keys, in random order, take the frequencies of outside keys drawn in proportion to frequency."""
    hot = int(rng.integers(workload.n_buckets))
    outside, inside = np.flatnonzero(owner != hot), rng.permutation(np.flatnonzero(owner == hot))
    drawn = outside[np.argsort(rng.exponential(size=outside.size) / cost[outside])][: inside.size]
    inside = inside[: drawn.size]
    gained = np.cumsum(cost[drawn] - cost[inside])
    enough = np.flatnonzero(gained >= workload.fluctuation * cost.sum() / workload.n_buckets)
    return _swap(cost, drawn, inside, n_swaps=int(enough[0]) + 1 if enough.size else drawn.size)


def _reshuffle(
    cost: NDArray[np.float64], owner: NDArray[np.int64], workload: Workload, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Uniform random pairs from different buckets swap; in rounds of disjoint pairs, eight of which are 4 K swaps."""
    before = load_per_bucket(cost, owner, workload.n_buckets)
    for _ in range(8):
        shuffled = rng.permutation(cost.size)
        left, right = shuffled[: cost.size // 2], shuffled[cost.size // 2 : 2 * (cost.size // 2)]
        differ = owner[left] != owner[right]
        cost = _swap(cost, left[differ], right[differ], n_swaps=int(differ.sum()))
        change = np.abs(load_per_bucket(cost, owner, workload.n_buckets) - before)
        if change.max() >= workload.fluctuation * before.mean():
            break
    return cost


def _swap(
    cost: NDArray[np.float64], left: NDArray[np.int64], right: NDArray[np.int64], *, n_swaps: int
) -> NDArray[np.float64]:
    swapped = cost.copy()
    swapped[left[:n_swaps]], swapped[right[:n_swaps]] = cost[right[:n_swaps]], cost[left[:n_swaps]]
    return swapped
