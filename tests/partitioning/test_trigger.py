"""When a rebalance is due."""

import pytest

from partitioning.budgets import Budgets
from partitioning.request import PlanRequest
from partitioning.trigger import check_trigger
from tests.partitioning.fang_cases import make_request


@pytest.mark.parametrize(
    ("theta", "is_due"),
    [
        pytest.param(0.24, True, id="above"),
        pytest.param(0.25, False, id="exactly-at-the-limit"),
        pytest.param(0.3, False, id="below"),
    ],
)
def test_a_bucket_above_the_limit_makes_a_rebalance_due(theta, is_due):
    """Planning costs; moving data costs more. Only a load above (1 + θ_max)·mean asks for it."""
    trigger = check_trigger(make_request([3, 2, 3], [0, 0, 1], n_buckets=2, theta=theta))

    assert trigger.is_due is is_due
    assert trigger.imbalance == pytest.approx(0.25)


def test_a_tenth_that_floats_cannot_hold_is_still_the_limit():
    """0.1 + 0.2 is a hair above 0.3: no rebalance of a balanced table for that."""
    assert not check_trigger(make_request([0.1, 0.2, 0.3], [0, 0, 1], n_buckets=2, theta=0.0)).is_due


def test_the_reason_names_the_bucket_and_the_numbers():
    """A person reads why data will move."""
    trigger = check_trigger(make_request([3, 2, 3], [1, 1, 0], n_buckets=2, theta=0.08))

    assert trigger.reasons == ("Bucket 1 is 25.0% above the mean load; max_imbalance is 8.0%.",)


def test_a_change_of_n_is_due_even_when_balanced():
    """Items of a bucket that goes away must leave it, whatever the loads."""
    request = PlanRequest.of_keys(
        cost=[1, 1],
        state=[1, 1],
        owner=[0, 2],
        home=[0, 1],
        home_before=[0, 2],
        n_buckets=2,
        n_buckets_before=3,
    )

    assert check_trigger(request).reasons == (
        "The number of buckets goes from 3 to 2; items that must change bucket: 1.",
    )


def test_more_routes_than_the_budget_is_due():
    """A lowered max_routes is not met by waiting: Eq. 3 bounds the table of the present function, too."""
    request = make_request([1, 1], [0, 1], home=[1, 0], n_buckets=2, theta=0.0, max_routes=1)

    assert check_trigger(request).reasons == ("The table holds 2 routes; max_routes is 1.",)
    assert not check_trigger(make_request([1, 1], [0, 1], home=[1, 0], n_buckets=2, max_routes=2)).is_due


@pytest.mark.parametrize("cost", [[], [0, 0]])
def test_nothing_to_carry_is_balanced(cost):
    """No items or no cost: no mean to exceed."""
    request = PlanRequest.of_keys(
        cost=cost, state=cost, owner=[0] * len(cost), home=[0] * len(cost), n_buckets=2, budgets=Budgets()
    )

    assert not check_trigger(request).is_due
