"""Mixed: Alg. 4."""

import numpy as np
import pytest
from hypothesis import given, settings

from partitioning.budgets import Budgets
from partitioning.errors import PlanRequestError
from partitioning.planners.min_mig import plan_min_mig
from partitioning.planners.mixed import MixedOptions, plan_mixed
from partitioning.request import NO_SLOT, PlanRequest
from tests.partitioning.fang_cases import make_request, moved_on, reference_of, requests, scaled


@settings(max_examples=100, deadline=None, derandomize=True)
@given(requests())
def test_mixed_equals_the_printed_algorithm(request_):
    """Alg. 4 word for word, n cumulative: the loop, the cleaning order and the fallback."""
    expected = reference_of(request_).mixed(request_.owner.tolist(), request_.budgets.route_limit())

    assert plan_mixed(request_).owner.tolist() == expected


@settings(max_examples=60, deadline=None, derandomize=True)
@given(requests())
def test_mixed_without_a_table_limit_is_min_mig(request_):
    """The paper's n = 0: cleaning moves data, so without need there must be none."""
    unlimited = make_request(
        request_.cost,
        request_.owner,
        state=request_.state,
        home=request_.home,
        n_buckets=request_.n_buckets,
        theta=request_.budgets.max_imbalance,
    )

    assert plan_mixed(unlimited).owner.tolist() == plan_min_mig(unlimited).owner.tolist()


@settings(max_examples=60, deadline=None, derandomize=True)
@given(requests(max_keys=14))
def test_mixed_ignores_the_units(request_):
    """The same table in other units gets the same plan."""
    expected = plan_mixed(request_).owner.tolist()

    assert plan_mixed(scaled(request_, cost=0.3, state=1e5)).owner.tolist() == expected


@settings(max_examples=60, deadline=None, derandomize=True)
@given(requests(max_keys=14))
def test_mixed_leaves_its_own_good_answer_alone(request_):
    """Within θ_max and A_max there is nothing to do, so nothing may move."""
    plan = plan_mixed(request_)
    if plan.imbalance <= request_.budgets.max_imbalance and plan.n_routes <= request_.budgets.route_limit():
        assert plan_mixed(moved_on(request_, plan.owner)).moved.size == 0


def test_cleaning_takes_the_smallest_state_first():
    """η of Alg. 4: of three routes one must go; the one with the least state costs the least to send home."""
    request = make_request(
        [1] * 6,
        [0, 0, 0, 1, 1, 1],
        state=[5, 2, 9, 1, 1, 1],
        home=[1, 1, 1, 1, 1, 1],
        n_buckets=2,
        theta=0.5,
        max_routes=2,
    )

    assert plan_mixed(request).moved.tolist() == [1]


def test_cleaning_grows_until_the_table_fits():
    """One round of cleaning need not be enough: n accumulates, or Alg. 4 would repeat the same n for ever."""
    rng = np.random.default_rng(5)
    home = rng.integers(0, 4, 300)
    request = make_request(
        rng.integers(1, 50, 300), rng.integers(0, 4, 300), home=home, n_buckets=4, theta=0.05, max_routes=40
    )
    plan = plan_mixed(request)

    assert plan.n_routes <= 40
    assert plan.imbalance <= 0.05


def test_the_next_n_is_the_overuse():
    """Tables of n = 0 … 4 hold 5, 3, 3, 1, 0 routes and one may stay: 4 too many, so n = 4 follows 0 (line 10)."""
    request = make_request(
        [6, 5, 3, 4, 4, 1, 1],
        [0, 2, 2, 0, 2, 2, 2],
        state=[3, 4, 2, 2, 1, 6, 4],
        home=[1, 2, 0, 0, 2, 1, 1],
        n_buckets=3,
        theta=0.25,
        max_routes=1,
    )

    assert plan_mixed(request).owner.tolist() == [1, 2, 0, 0, 2, 1, 1]


def test_of_equally_short_tables_the_least_cleaned_wins():
    """No n fits a table of none; n = 0 and n = 3 both need two routes, and cleaning for nothing moves data."""
    request = make_request(
        [2, 6, 2, 5, 3, 5],
        [0, 0, 0, 0, 1, 1],
        state=[4, 6, 4, 2, 3, 4],
        home=[1, 1, 0, 1, 1, 1],
        n_buckets=2,
        theta=0.1,
        max_routes=0,
    )

    assert plan_mixed(request).owner.tolist() == [1, 0, 0, 1, 0, 1]


def test_the_shortest_table_found_is_returned_when_none_fits():
    """θ_max needs routes; a budget of none cannot hold them. The planner says so by its count, it does not fail."""
    request = make_request([4, 4, 4, 4], [0, 0, 0, 0], n_buckets=2, max_routes=0)
    plan = plan_mixed(request)

    assert plan.load.tolist() == [8.0, 8.0]
    assert plan.n_routes == 2


def test_routes_are_counted_from_where_slots_end_up():
    """A slot that moves takes its keys' homes along: moving slot 0 to bucket 1 costs no route, its key there needs none."""
    request = PlanRequest.of_items(
        cost=[4, 4, 1, 1],
        state=[1, 1, 1, 1],
        owner=[0, 0, 1, 0],
        home=[0, 0, 0, 0],
        n_buckets=2,
        is_slot=[True, True, False, False],
        slot=[NO_SLOT, NO_SLOT, 0, 1],
        budgets=Budgets(max_imbalance=0.2, max_routes=0),
    )
    plan = plan_mixed(request)

    assert plan.owner.tolist() == [1, 0, 1, 0]
    assert plan.n_routes == 0


def test_items_of_a_bucket_that_goes_away_are_placed_in_the_others():
    """A change of N: the answer lies in the new buckets, starting from where the change leaves the items."""
    request = PlanRequest.of_keys(
        cost=[3, 3, 3, 3],
        state=[1, 1, 1, 1],
        owner=[0, 1, 2, 2],
        home=[0, 1, 0, 0],
        home_before=[0, 1, 2, 2],
        n_buckets=2,
        n_buckets_before=3,
        budgets=Budgets(max_imbalance=0.0),
    )
    plan = plan_mixed(request)

    assert sorted(plan.load.tolist()) == [6.0, 6.0]
    assert plan.owner.max() < 2


def test_mixed_beta_is_checked():
    """Each planner names its own option."""
    with pytest.raises(
        PlanRequestError, match=r"MixedOptions.beta must be a finite number, 0 or more\. Got -2"
    ):
        MixedOptions(beta=-2)
