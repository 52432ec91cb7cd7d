"""Capacities, drains, pins and history in a request: what is refused, what is filled in, and where items start."""

import numpy as np
import pytest

from partitioning import Budgets, History, PlanRequest, PlanRequestError
from partitioning.bounds import bound_imbalance_of
from partitioning.bounds_budget import bound_imbalance_within
from partitioning.measures import count_undrained, imbalance, loads, mean_load
from partitioning.ranking import measure
from partitioning.trigger import check_trigger


def keys(cost, owner, **given):
    n_buckets = given.pop("n_buckets", max(owner) + 1)
    state, home = given.pop("state", np.ones(len(cost))), given.pop("home", owner)
    return PlanRequest.of_keys(cost=cost, state=state, owner=owner, home=home, n_buckets=n_buckets, **given)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"capacity": [1]}, r"PlanRequest\.capacity must have 2 values, one a bucket\. Got 1\. Leave it out"),
        (
            {"capacity": [1, 0]},
            r"PlanRequest\.capacity must be above 0\. Got 0 at bucket 1\. To take a bucket out",
        ),
        ({"capacity": [1, np.inf]}, r"PlanRequest\.capacity must be finite\. Got inf at position 1"),
        ({"drained": [2]}, r"PlanRequest\.drained must lie in \[0, 2\)\. Got 2 at position 0"),
        ({"drained": [1, 0]}, r"PlanRequest\.drained must leave at least one bucket in use\. Got all 2"),
        ({"is_pinned": [True]}, r"PlanRequest\.is_pinned must have 2 values, as cost has\. Got 1"),
        ({"is_pinned": [1, 0]}, r"PlanRequest\.is_pinned must hold booleans\. Got dtype int64"),
        (
            {"history": History(item=[5], source=[0], age=[1])},
            r"History\.item must be a position below 2\. Got 5 at entry 0 \(1 of 1 entries\)",
        ),
    ],
)
def test_what_cannot_be_planned_on_is_refused(given, message):
    """A request that is half understood would be planned wrongly."""
    with pytest.raises(PlanRequestError, match=message):
        keys([1, 1], [0, 1], **given)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"item": [0], "source": [0, 1], "age": [1]}, r"must have one value a move\. Got 1, 2 and 1"),
        ({"n_windows": -1}, r"History\.n_windows must be a whole number, 0 or more\. Got -1"),
        ({"n_windows": float("nan")}, r"History\.n_windows must be a whole number, 0 or more\. Got nan"),
        ({"min_gain": 0.5}, r"History\.min_gain must be 1 or more\. Got 0\.5"),
        ({"item": [-1], "source": [0], "age": [1]}, r"History\.item must lie in \[0, "),
    ],
)
def test_history_is_checked(given, message):
    """A factor below 1 would make going back the easier way."""
    with pytest.raises(PlanRequestError, match=message):
        History(**given)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            {"target_imbalance": 0.2},
            r"Budgets\.target_imbalance must be at most max_imbalance\. Got 0\.2 and 0\.08",
        ),
        (
            {"target_imbalance": -0.1},
            r"Budgets\.target_imbalance must be a finite number, 0 or more\. Got -0\.1",
        ),
    ],
)
def test_target_lies_inside_the_trigger(given, message):
    """A plan that aims above its own trigger would be due again at once."""
    with pytest.raises(PlanRequestError, match=message):
        Budgets(**given)


def test_nothing_said_means_nothing_out_of_the_ordinary():
    """Requests made before there were capacities mean what they meant."""
    request = keys([1, 2], [0, 1])

    assert request.capacity.tolist() == [1, 1]
    assert request.drained.tolist() == []
    assert request.is_pinned.tolist() == [False, False]
    assert request.is_plain
    assert request.is_live.all()


def test_load_is_cost_over_capacity():
    """The worked example of ``measures.imbalance``."""
    request = keys([3, 1, 4], [0, 1, 2], capacity=[1, 1, 2])

    assert loads(request, request.owner).tolist() == [3, 1, 2]
    assert mean_load(request) == 2
    assert imbalance(request, request.owner) == 0.5


def test_drained_bucket_counts_for_no_imbalance():
    """Its load has to go somewhere: the mean is that of the buckets in use."""
    request = keys([3, 3, 9], [0, 1, 2], drained=[2])

    assert mean_load(request) == 7.5
    assert imbalance(request, request.owner) == 0
    assert count_undrained(request, request.owner) == 1
    assert check_trigger(request).reasons == (
        "Buckets to be emptied still hold 1 items that may leave: [2].",
    )


def test_nothing_follows_its_home_into_a_drained_bucket():
    """Items 0 and 1 would follow their home into bucket 2; 0 stays, 1 has lost its bucket and is dealt out."""
    request = keys(
        [1, 1, 1],
        [0, 3, 1],
        home=[2, 2, 1],
        home_before=[0, 3, 1],
        n_buckets=3,
        n_buckets_before=4,
        drained=[2],
    )

    assert request.start.tolist() == [0, 0, 1]


def test_pinned_item_does_not_follow_its_home():
    """The change of N would move both; one is pinned."""
    request = keys(
        [1, 1],
        [0, 0],
        home=[1, 1],
        home_before=[0, 0],
        n_buckets=2,
        n_buckets_before=1,
        is_pinned=[True, False],
    )

    assert request.start.tolist() == [0, 1]


def test_ways_back_are_those_of_recent_moves_to_other_buckets():
    """Too old, gone, or where the item is: no way back."""
    history = History(item=[0, 1, 2, 0], source=[1, 1, 5, 0], age=[1, 9, 1, 1], n_windows=3)
    items, buckets = keys([1, 1, 1], [0, 0, 1], history=history).ways_back

    assert list(zip(items.tolist(), buckets.tolist(), strict=True)) == [(0, 1)]


def test_bound_on_theta_knows_capacities():
    """The worked example of ``bounds_crowding``: three items of 4 in buckets of capacity 1 and 3."""
    request = keys([4, 4, 4], [0, 1, 1], capacity=[1, 3])

    assert bound_imbalance_of(request) == pytest.approx(1 / 3)


def test_bound_on_theta_knows_pins():
    """Two pinned items of 3 in one bucket of two: that bucket holds at least 6 of 8."""
    request = keys([3, 3, 1, 1], [0, 0, 0, 0], n_buckets=2, is_pinned=[True, True, False, False])

    assert bound_imbalance_of(request) == pytest.approx(0.5)


def test_bound_on_theta_knows_the_budgets():
    """The worked example of ``bounds_budget``: 12 items in one bucket of three, of which 3 may move."""
    request = keys([1] * 12, [0] * 12, n_buckets=3, budgets=Budgets(max_migration=3))
    figures = measure(request, request.owner)

    assert bound_imbalance_within(request, figures) == pytest.approx(1.25, abs=1e-5)


@pytest.mark.parametrize("seed", range(40))
def test_bound_on_theta_is_never_above_the_best_of_all_placements(seed):
    """Brute force over every placement of few items: capacities, pins and drains at random."""
    rng = np.random.default_rng(seed)
    n_items, n_buckets = int(rng.integers(1, 6)), int(rng.integers(2, 4))
    owner = rng.integers(0, n_buckets, n_items)
    is_pinned = rng.random(n_items) < 0.3
    request = keys(
        rng.integers(0, 6, n_items), owner, n_buckets=n_buckets, is_pinned=is_pinned,
        capacity=rng.integers(1, 4, n_buckets), drained=[0] if seed % 3 == 0 else None,
    )  # fmt: skip
    placements = np.stack(np.meshgrid(*[np.arange(n_buckets)] * n_items), axis=-1).reshape(-1, n_items)
    allowed = [
        placed
        for placed in placements
        if (placed == owner)[is_pinned].all() and count_undrained(request, placed) == 0
    ]

    assert bound_imbalance_of(request) <= min(imbalance(request, placed) for placed in allowed) + 1e-9
