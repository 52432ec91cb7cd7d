"""MinTable: Alg. 2."""

import numpy as np
import pytest
from hypothesis import given, settings

from partitioning.planners.llfd import plan_llfd
from partitioning.planners.min_table import plan_min_table
from tests.partitioning.fang_cases import make_request, moved_on, reference_of, requests, scaled


@settings(max_examples=60, deadline=None, derandomize=True)
@given(requests())
def test_min_table_equals_the_printed_algorithm(request_):
    """Alg. 2 word for word: what we call MinTable must be the paper's."""
    assert plan_min_table(request_).owner.tolist() == reference_of(request_).min_table()


@settings(max_examples=60, deadline=None, derandomize=True)
@given(requests())
def test_min_table_depends_on_the_homes_alone(request_):
    """It forgets every route first, so planning on its result moves nothing, balanced or not."""
    plan = plan_min_table(request_)

    assert plan_min_table(moved_on(request_, plan.owner)).moved.size == 0


@settings(max_examples=60, deadline=None, derandomize=True)
@given(requests(max_keys=14))
def test_min_table_ignores_the_units(request_):
    """Neither the unit of cost nor that of state may decide anything."""
    expected = plan_min_table(request_).owner.tolist()

    assert plan_min_table(scaled(request_, cost=0.7, state=1e4)).owner.tolist() == expected


@pytest.mark.parametrize("seed", range(5))
def test_min_table_keeps_a_shorter_table_than_llfd(seed):
    """The reason it exists: after drift, LLFD's table has grown by old routes that MinTable drops."""
    rng = np.random.default_rng(seed)
    home = rng.integers(0, 5, 400)
    first = plan_llfd(make_request(rng.zipf(1.5, 400).clip(max=500), home, n_buckets=5, theta=0.05))
    drifted = make_request(rng.zipf(1.5, 400).clip(max=500), first.owner, home=home, n_buckets=5, theta=0.05)

    assert plan_min_table(drifted).n_routes <= plan_llfd(drifted).n_routes
