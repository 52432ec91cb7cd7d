"""
Drifting workloads whose next window can be foreseen, or cannot: a trend, a daily cycle, and a random walk.

A run plans before every window, on what its planner believes the window will cost, and is judged by what it did cost.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from partitioning.budgets import Budgets
from partitioning.forecast import ForecastOptions, forecast
from partitioning.forecast_choice import choose_forecast
from partitioning.measures import load_per_bucket, overload
from partitioning.planning import make_plan
from partitioning.request import PlanRequest

Floats = NDArray[np.float64]

N_KEYS = 400
N_BUCKETS = 8
DAY = 24  # windows
N_STATE = 5  # windows that the state holds
BUDGETS = Budgets(max_imbalance=0.08)
LOOSER = Budgets(
    max_imbalance=0.085
)  # what a plan that keeps its goal in the next window can be asked for instead


def make_trend(n_windows: int, rng: np.random.Generator) -> Floats:
    """Every key grows along a line for 10 to 20 windows, then shrinks along one, between 0.3 and 1.7 times its mean."""
    length = rng.integers(10, 21, N_KEYS)
    way = (np.arange(n_windows)[:, np.newaxis] + rng.integers(0, 40, N_KEYS)) / length % 2
    return _measured(_skewed(rng) * (0.3 + 1.4 * np.abs(1 - way)), rng)


def make_cycle(n_windows: int, rng: np.random.Generator) -> Floats:
    """Every key has its own hour of the day at which it is hottest, up to 9 times as hot as at night."""
    phase = rng.random(N_KEYS)
    hour = np.arange(n_windows)[:, np.newaxis] / DAY
    return _measured(_skewed(rng) * (1 + 0.8 * np.sin(2 * np.pi * (hour + phase))), rng)


def make_walk(n_windows: int, rng: np.random.Generator) -> Floats:
    """Every key's cost is multiplied by a lognormal of 10 % in every window: nothing to foresee."""
    steps = np.cumsum(rng.normal(0, 0.1, (n_windows, N_KEYS)), axis=0)
    return _measured(_skewed(rng) * np.exp(steps), rng)


WORKLOADS: dict[str, tuple[Callable[[int, np.random.Generator], Floats], int | None]] = {
    "trend": (make_trend, None),
    "daily cycle": (make_cycle, DAY),
    "random walk": (make_walk, None),
}


def _skewed(rng: np.random.Generator) -> Floats:
    """Zipf 0.6: no key is heavier than a bucket's share, which no plan could help."""
    return rng.permutation(20_000 * np.arange(1, N_KEYS + 1) ** -0.6)


def _measured(cost: Floats, rng: np.random.Generator) -> Floats:
    return rng.poisson(cost).astype(np.float64)


@dataclass
class Judged:
    """One way of planning: θ of every window as it turned out, and the share of the state that moved before it."""

    theta: list[float] = field(default_factory=list)
    migration: list[float] = field(default_factory=list)
    methods: list[str] = field(default_factory=list)


Belief = Callable[
    [Floats, Floats], tuple[Floats, str]
]  # (windows so far, the next one) → what to plan on, and why


def believe_last(past: Floats, _: Floats) -> tuple[Floats, str]:
    return past[-1], "last window"


def believe_truth(_: Floats, following: Floats) -> tuple[Floats, str]:
    """Clairvoyance: what nobody can do better than."""
    return following, "truth"


def believe_forecast(period: int | None) -> Belief:
    """The forecast that a backtest on the windows so far chooses, anew before every plan."""

    def believe(past: Floats, _: Floats) -> tuple[Floats, str]:
        chosen = choose_forecast(past, ForecastOptions(period=period)).options
        return forecast(past, chosen).expected[0], chosen.method

    return believe


def judge(cost: Floats, n_planned: int, believe: Belief, budgets: Budgets = BUDGETS) -> Judged:
    """Plans before each of the last ``n_planned`` windows; the plan before these, which starts from the hash, is not counted."""
    home: NDArray[np.int64] = np.random.default_rng(0).integers(0, N_BUCKETS, size=N_KEYS)
    owner: NDArray[np.int64] = home
    judged = Judged()
    first = len(cost) - n_planned
    for window in range(first - 1, len(cost)):
        believed, why = believe(cost[:window], cost[window])
        state = cost[window - N_STATE : window].sum(axis=0)
        request = PlanRequest.of_keys(
            cost=believed, state=state, owner=owner, home=home, n_buckets=N_BUCKETS, budgets=budgets
        )
        plan = make_plan(request)
        owner = plan.owner
        if window >= first:
            judged.theta.append(overload(load_per_bucket(cost[window], owner, N_BUCKETS)))
            judged.migration.append(plan.migration / request.total_state)
            judged.methods.append(why)
    return judged
