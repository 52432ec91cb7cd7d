"""Redist (Gedik, Alg. 3). What it shares with scan and readj is tested with scan."""

import numpy as np
import pytest
from hypothesis import given, settings

from partitioning.planners.redist import RedistOptions, plan_redist
from partitioning.planners.scan import plan_scan
from tests.partitioning.gedik_cases import every_utility, keys, random_keys
from tests.partitioning.gedik_reference import Reference
from tests.partitioning.strategies import requests


@settings(max_examples=30, deadline=None, derandomize=True)
@given(requests(max_items=8))
def test_redist_equals_the_printed_algorithm(request_):
    """The search looks at a few buckets only: it must still choose every item and bucket that Alg. 3 chooses."""
    assert plan_redist(request_).owner.tolist() == Reference(request_).redist()


@every_utility
@pytest.mark.parametrize("seed", range(6))
def test_redist_equals_the_printed_algorithm_for_every_utility(utility, seed):
    """Choosing per cost depends on the size of the utility, not only on its order."""
    request = random_keys(seed)

    plan = plan_redist(request, RedistOptions(utility=utility))

    assert plan.owner.tolist() == Reference(request, utility=utility).redist()


@pytest.mark.parametrize("seed", range(8))
def test_redist_equals_the_printed_algorithm_for_several_resources(seed):
    """With several resources a whole front of buckets may be best, not only the least loaded one."""
    request = random_keys(seed, n_buckets=4)
    functions = (lambda x: x, lambda x: x * x, np.sqrt)
    rows = np.random.default_rng(seed).random((3, 4)).tolist()

    plan = plan_redist(
        request, RedistOptions(resources=("linear", "quadratic", np.sqrt), background_load=rows)
    )

    assert plan.owner.tolist() == Reference(request, functions=functions, background=rows).redist()


def test_redist_may_place_a_lighter_item_first():
    """What sets it apart from scan: on most random requests the two differ."""
    differ = [
        plan_redist(random_keys(seed, n_items=12)).owner.tolist()
        != plan_scan(random_keys(seed, n_items=12)).owner.tolist()
        for seed in range(20)
    ]

    assert any(differ)


def test_redist_takes_items_without_cost_last():
    """Their utility per cost has no value; they must still be placed, at home, and must not disturb the others."""
    with_zeros = keys([0, 3, 0, 4, 5, 6], [1, 0, 0, 0, 0, 0], 2, state=[2, 0, 2, 0, 0, 0])
    without = keys([3, 4, 5, 6], [0, 0, 0, 0], 2, state=[0, 0, 0, 0])

    plan = plan_redist(with_zeros)

    assert plan.owner[[0, 2]].tolist() == [1, 0]
    assert plan.load.tolist() == plan_redist(without).load.tolist()
