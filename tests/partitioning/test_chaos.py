"""Random requests with everything a request can hold, judged by the independent checker."""

import dataclasses

import numpy as np
import pytest

from benchmarks.chaos import chaos_request
from partitioning import PLANNERS, Plan, make_plan
from partitioning.bounds_budget import bound_imbalance_within
from tests.partitioning.checker import check_plan, facts

SLOW = {"readj", "redist", "mixed_bf"}


@pytest.mark.parametrize("seed", range(12))
def test_our_planner_keeps_every_promise(seed):
    """Budgets, pins, drains, never worse than standing still, figures and bounds; the benchmark runs 1,000 of these."""
    plan = make_plan(chaos_request(seed))

    check_plan(plan)
    assert bound_imbalance_within(plan.request, plan.figures) <= plan.imbalance + 1e-9


@pytest.mark.parametrize("planner", [name for name in PLANNERS if name != "evenkeel"])
def test_published_planners_keep_every_promise_around_make_plan(planner):
    """They ignore capacities, pins and drains, as their papers do; make_plan does not."""
    for seed in range(0, 24, 8) if planner in SLOW else range(12):
        request = chaos_request(seed)
        if planner in SLOW and request.n_items > 60:
            continue
        check_plan(make_plan(request, planner))


def test_checker_finds_what_is_wrong():
    """A judge that never objects is none: every promise is broken once, on purpose."""
    request = dataclasses.replace(chaos_request(0), budgets=chaos_request(0).budgets)
    rng = np.random.default_rng(0)
    n_caught = 0
    for seed in range(40):
        request = chaos_request(seed)
        owner = rng.integers(0, request.n_buckets, request.n_items)
        try:
            check_plan(Plan(request=request, owner=owner, planner="random"))
        except AssertionError:
            n_caught += 1

    assert n_caught > 20


def test_facts_of_a_small_placement():
    """The checker itself, against figures worked out by hand."""
    request = dataclasses.replace(chaos_request(0))
    request = type(request).of_keys(
        cost=[3, 1, 4], state=[5, 7, 9], owner=[0, 0, 1], home=[0, 1, 1], n_buckets=3, capacity=[1, 1, 2]
    )
    found = facts(request, [0, 1, 2])

    assert found.load == (3, 1, 2)
    assert found.imbalance == 0.5
    assert found.migration == 16
    assert found.n_routes == 1
    assert found.moved == (1, 2)
