"""What a request refuses, before any work, and what it makes of what it accepts."""

import dataclasses

import numpy as np
import pytest

from partitioning import Budgets, PartitioningError, PlanRequest, PlanRequestError
from partitioning.item_checks import MAX_BUCKETS
from partitioning.request import NO_SLOT

GOOD = {
    "cost": [1.0, 2.0, 3.0],
    "state": [1.0, 1.0, 1.0],
    "owner": [0, 1, 1],
    "home": [0, 0, 1],
    "n_buckets": 2,
    "is_slot": [True, False, False],
    "slot": [NO_SLOT, 0, NO_SLOT],
}


def make(**changes):
    return PlanRequest.of_items(**{**GOOD, **changes})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"cost": [1, np.nan, np.nan]},
            r"PlanRequest\.cost must be finite\. Got nan at position 1 \(2 of 3 items\)\. Drop",
        ),
        ({"cost": [1, np.inf, 1]}, r"PlanRequest\.cost must be finite\. Got inf at position 1"),
        (
            {"cost": [1, -2, 1]},
            r"PlanRequest\.cost must be 0 or more\. Got -2\.0 at position 1 \(1 of 3 items\)",
        ),
        ({"cost": [1, None, 1]}, r"PlanRequest\.cost must be finite\. Got nan at position 1"),
        ({"cost": ["1", "2", "3"]}, r"PlanRequest\.cost must hold numbers\. Got dtype <U1"),
        ({"cost": [1, object(), 1]}, r"PlanRequest\.cost must hold numbers\. Got objects"),
        ({"cost": [1, 2j, 1]}, r"PlanRequest\.cost must hold numbers\. Got dtype complex128"),
        (
            {"cost": [1, 2**53, 1]},
            r"PlanRequest\.cost must be below 2\^53\. Got 9007199254740992\.0 at position 1",
        ),
        ({"cost": [1, 2**70, 1]}, r"PlanRequest\.cost must be below 2\^53"),
        (
            {"cost": [2**52, 2**52, 0]},
            r"PlanRequest\.cost must total less than 2\^53\. Got a total of 9\.0072e\+15",
        ),
        ({"cost": [[1, 2, 3]]}, r"PlanRequest\.cost must be one-dimensional\. Got shape \(1, 3\)"),
        ({"cost": 1.0}, r"PlanRequest\.cost must be one-dimensional\. Got shape \(\)"),
        ({"cost": [[1], [1, 2]]}, r"PlanRequest\.cost must be one-dimensional\. Got nested values"),
        ({"state": [1, np.nan, 1]}, r"PlanRequest\.state must be finite"),
        ({"state": [1, -1, 1]}, r"PlanRequest\.state must be 0 or more"),
        ({"state": [1, 2**53, 1]}, r"PlanRequest\.state must be below 2\^53"),
        (
            {"state": [1, 1]},
            r"PlanRequest\.state must have 3 values, as cost has\. Got 2\. Give one value an item",
        ),
        ({"owner": [0, 1]}, r"PlanRequest\.owner must have 3 values, as cost has\. Got 2"),
        (
            {"owner": [0, 2, 1]},
            r"PlanRequest\.owner must lie in \[0, 2\)\. Got 2 at position 1 \(1 of 3 items\)",
        ),
        ({"owner": [0, -1, 1]}, r"PlanRequest\.owner must lie in \[0, 2\)\. Got -1 at position 1"),
        ({"owner": [0.0, 1.0, 1.0]}, r"PlanRequest\.owner must hold integers\. Got dtype float64\. Convert"),
        ({"owner": [True, False, True]}, r"PlanRequest\.owner must hold integers\. Got dtype bool"),
        (
            {"owner": np.array([0, 2**63, 1], dtype=np.uint64)},
            r"PlanRequest\.owner must lie in \[0, 2\)\. Got 9223372036854775808 at position 1",
        ),
        ({"owner": [0, 2**70, 1]}, r"PlanRequest\.owner must hold integers\. Got dtype object"),
        ({"home": [0, 0, 5]}, r"PlanRequest\.home must lie in \[0, 2\)\. Got 5 at position 2"),
        ({"home_before": [0, 0, 2]}, r"PlanRequest\.home_before must lie in \[0, 2\)"),
        ({"home_before": [0, 0]}, r"PlanRequest\.home_before must have 3 values"),
        (
            {"n_buckets_before": 1},
            r"PlanRequest\.owner must lie in \[0, 1\)\. Got 1 at position 1 \(2 of 3 items\)",
        ),
        (
            {"n_buckets": 0},
            r"PlanRequest\.n_buckets must be between 1 and \d+\. Got 0\. Give at least one bucket",
        ),
        ({"n_buckets": -1}, r"PlanRequest\.n_buckets must be between 1 and"),
        ({"n_buckets": MAX_BUCKETS + 1}, r"PlanRequest\.n_buckets must be between 1 and"),
        ({"n_buckets": 2.0}, r"PlanRequest\.n_buckets must be a whole number\. Got 2\.0"),
        ({"n_buckets": True}, r"PlanRequest\.n_buckets must be a whole number\. Got True"),
        ({"n_buckets_before": 0}, r"PlanRequest\.n_buckets_before must be between 1 and"),
        ({"n_buckets_before": "2"}, r"PlanRequest\.n_buckets_before must be a whole number\. Got '2'"),
        ({"is_slot": [1, 0, 0]}, r"PlanRequest\.is_slot must hold booleans\. Got dtype int64"),
        ({"is_slot": [True, False]}, r"PlanRequest\.is_slot must have 3 values"),
        ({"slot": [NO_SLOT, 0]}, r"PlanRequest\.slot must have 3 values"),
        (
            {"slot": [NO_SLOT, 3, 0]},
            r"PlanRequest\.slot must be -1 or a position below 3\. Got 3 at position 1",
        ),
        (
            {"slot": [NO_SLOT, -2, 0]},
            r"PlanRequest\.slot must be -1 or a position below 3\. Got -2 at position 1",
        ),
        ({"slot": [0, 0, 0]}, r"PlanRequest\.slot must be -1 for a slot item\. Got 0 at position 0"),
        ({"slot": [NO_SLOT, 0, 1]}, r"PlanRequest\.slot must point at a slot item\. Got 1 at position 2"),
        ({"budgets": 0.08}, r"PlanRequest\.budgets must be Budgets\. Got 0\.08"),
    ],
)
def test_bad_request_is_refused_with_field_value_and_place(changes, message):
    """A planner that trips over bad input halfway says nothing useful; the request names what is wrong and where."""
    with pytest.raises(PlanRequestError, match=message):
        make(**changes)


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("max_imbalance", -0.1, r"Budgets\.max_imbalance must be a finite number, 0 or more\. Got -0\.1"),
        ("max_imbalance", float("nan"), r"Budgets\.max_imbalance must be a finite number"),
        ("max_imbalance", None, r"Budgets\.max_imbalance must be a finite number, 0 or more\. Got None"),
        ("max_routes", -1, r"Budgets\.max_routes must be a finite number, 0 or more\. Got -1"),
        ("max_routes", 1.5, r"Budgets\.max_routes must be a whole number\. Got 1\.5"),
        ("max_routes", True, r"Budgets\.max_routes must be a finite number, 0 or more\. Got True"),
        ("max_migration", -1.0, r"Budgets\.max_migration must be a finite number, 0 or more\. Got -1\.0"),
        ("max_migration", float("inf"), r"Budgets\.max_migration must be a finite number"),
        ("max_migration", "5%", r"Budgets\.max_migration must be a finite number, 0 or more\. Got '5%'"),
    ],
)
def test_bad_budget_is_refused(field, value, message):
    """A limit that is no number would be kept by every plan, or by none."""
    with pytest.raises(PlanRequestError, match=message):
        Budgets(**{field: value})


def test_budget_of_migration_is_a_share_up_to_one_and_an_amount_above():
    """0.29 of 100 must allow 29, though the product is 28.999... in floats; 0 is nothing, None is no limit."""
    assert Budgets(max_migration=0.29).migration_limit(100) >= 29
    assert Budgets(max_migration=0.29).migration_limit(100) == pytest.approx(29)
    assert Budgets(max_migration=1).migration_limit(100) == pytest.approx(100)
    assert Budgets(max_migration=5).migration_limit(100) == 5
    assert Budgets(max_migration=0).migration_limit(100) == 0
    assert Budgets().migration_limit(100) == float("inf")


def test_direct_construction_and_replace_are_checked_too():
    """A request can be made in three ways; none of them is a way round the checks."""
    request = make()
    with pytest.raises(PlanRequestError, match=r"PlanRequest\.cost must be 0 or more"):
        dataclasses.replace(request, cost=np.array([-1.0, 0, 0]))
    fields = {field.name: getattr(request, field.name) for field in dataclasses.fields(request)}
    with pytest.raises(PlanRequestError, match=r"PlanRequest\.owner must lie in"):
        PlanRequest(**{**fields, "owner": np.array([0, 9, 0])})


def test_every_error_is_a_value_error_of_this_package():
    """Callers catch one class, and those who know nothing of us catch ValueError."""
    assert issubclass(PlanRequestError, PartitioningError)
    assert issubclass(PartitioningError, ValueError)


def test_arrays_are_read_only_copies_of_fixed_types():
    """A planner can neither change a request nor be surprised by what the caller does to the arrays later."""
    cost = np.array([1, 2, 3], dtype=np.int32)
    request = make(cost=cost, n_buckets=np.int64(2))
    cost[0] = 99

    assert request.cost.tolist() == [1, 2, 3]
    assert type(request.n_buckets) is int
    for name, dtype in {
        "cost": float,
        "state": float,
        "owner": np.int64,
        "home": np.int64,
        "slot": np.int64,
    }.items():
        array = getattr(request, name)
        assert array.dtype == dtype
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


@pytest.mark.parametrize("n_buckets", [1, 7])
def test_no_items_is_a_request(n_buckets):
    """An empty window is not an error: there is nothing to move."""
    request = PlanRequest.of_keys(cost=[], state=[], owner=[], home=[], n_buckets=n_buckets)

    assert request.n_items == 0
    assert request.start.tolist() == []
    assert request.total_state == 0


def test_largest_exact_numbers_are_accepted():
    """2^53 - 1 is the last whole number a float64 can count to; it is in, 2^53 is out."""
    request = PlanRequest.of_keys(cost=[2**53 - 1], state=[2**53 - 1], owner=[0], home=[0], n_buckets=1)

    assert request.cost[0] == 2**53 - 1


def test_start_is_owner_while_n_stays():
    """Without a change of N nothing moves by itself, at home or not."""
    request = make(owner=[1, 0, 1])

    assert request.start.tolist() == [1, 0, 1]


def test_start_follows_homes_when_n_changes():
    """Items at home follow their home, routed ones stay, and a bucket that goes away sends everything home."""
    request = PlanRequest.of_keys(
        cost=[1] * 4,
        state=[1] * 4,
        owner=[0, 1, 2, 2],
        home_before=[0, 0, 2, 1],
        home=[1, 1, 0, 0],
        n_buckets=2,
        n_buckets_before=3,
    )

    assert request.start.tolist() == [1, 1, 0, 0]


def test_start_of_a_key_follows_its_slot():
    """A key without a route is wherever its slot is: its own home plays no part."""
    request = PlanRequest.of_items(
        cost=[1] * 4,
        state=[1] * 4,
        owner=[0, 0, 1, 2],
        home_before=[0, 1, 1, 1],
        home=[1, 0, 0, 0],
        n_buckets=2,
        n_buckets_before=3,
        is_slot=[True, False, False, False],
        slot=[NO_SLOT, 0, 0, 0],
    )

    assert request.start.tolist() == [1, 1, 1, 1]


def test_missing_home_before_is_home_unless_that_bucket_is_new():
    """A grown ring moves keys only into the new bucket; those sat at home until now, so they follow."""
    request = PlanRequest.of_keys(
        cost=[1] * 3, state=[1] * 3, owner=[1, 1, 0], home=[2, 0, 0], n_buckets=3, n_buckets_before=2
    )

    assert request.home_before.tolist() == [1, 0, 0]
    assert request.start.tolist() == [2, 1, 0]
