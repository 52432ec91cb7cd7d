"""Requests and options that the tests of scan, redist and readj share."""

import numpy as np
import pytest

from partitioning.budgets import Budgets
from partitioning.request import PlanRequest

UTILITY_NAMES = ["U_A", "U_APM", "U_APLM", "U_ATM", "U_ATLM"]
every_utility = pytest.mark.parametrize("utility", UTILITY_NAMES)


def keys(cost, owner, n_buckets, *, state=None, theta=0.1, **change_of_n):
    """A request of keys at home, with state equal to cost unless given."""
    owner = np.asarray(owner, dtype=np.int64)
    home = change_of_n.pop("home", owner)
    return PlanRequest.of_keys(
        cost=cost,
        state=cost if state is None else state,
        owner=owner,
        home=home,
        n_buckets=n_buckets,
        budgets=Budgets(max_imbalance=theta),
        **change_of_n,
    )


def random_keys(seed, *, n_items=None, n_buckets=None):
    """Lognormal costs, states that do not follow them, owners at random: no ties, so that every decision counts."""
    rng = np.random.default_rng(seed)
    n_items = int(rng.integers(2, 14)) if n_items is None else n_items
    n_buckets = int(rng.integers(2, 5)) if n_buckets is None else n_buckets
    cost = rng.lognormal(0, 1, n_items)
    state = rng.lognormal(0, 1, n_items)
    return keys(cost, rng.integers(0, n_buckets, n_items), n_buckets, state=state, theta=0.2)


# (cost, owner, n_buckets) that every algorithm must answer without moving anything.
NOTHING_TO_DO = [
    pytest.param(([], [], 3), id="no-items"),
    pytest.param(([5], [2], 3), id="one-item"),
    pytest.param(([5, 3], [0, 0], 1), id="one-bucket"),
    pytest.param(([0, 0, 0], [1, 1, 2], 3), id="no-cost"),
    pytest.param(([4, 4, 4], [2, 0, 1], 3), id="even-already"),
    pytest.param(([7, 7], [4, 1], 9), id="more-buckets-than-items"),
]
