"""Compact statistics, and Mixed planned on them (Sec. IV)."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from partitioning.budgets import Budgets
from partitioning.errors import PlanRequestError
from partitioning.planners.fang_phases import highest_cost_first
from partitioning.planners.llfd_records import Pieces, balance_records, level_out
from partitioning.planners.mixed import plan_mixed
from partitioning.planners.mixed_compact import (
    MixedCompactOptions,
    plan_mixed_compact,
    plan_on_statistics,
    summarise_request,
)
from partitioning.request import NO_SLOT, PlanRequest
from partitioning.tracking.compact import summarise
from partitioning.tracking.hlhe import discretise
from tests.partitioning.fang_cases import make_request, requests, scaled
from tests.partitioning.fang_reference import Reference


def test_like_keys_share_a_record():
    """The paper's vector (d, d_h, v_c, v_S, #): two keys of cost 4 and state 4, routed from d1 to d2."""
    statistics = summarise(
        cost=np.array([4.0, 1, 4, 1]),
        state=np.array([4.0, 1, 4, 1]),
        bucket=np.array([1, 0, 1, 1]),
        home=np.array([0, 0, 0, 1]),
        degree=1,
    )
    fields = (statistics.bucket, statistics.home, statistics.cost, statistics.state, statistics.count)

    assert list(zip(*(field.tolist() for field in fields), strict=True)) == [
        (0, 0, 1, 1, 1),
        (1, 0, 4, 4, 2),
        (1, 1, 1, 1, 1),
    ]
    assert statistics.record_of.tolist() == [1, 0, 1, 2]


@settings(max_examples=30, deadline=None, derandomize=True)
@given(requests(max_keys=30, max_cost=30, max_state=30), st.sampled_from([1, 4, 8]))
def test_records_describe_every_key(request_, degree):
    """Nothing is lost by compacting but the digits HLHE drops: each key's record has its own five facts."""
    statistics = summarise_request(request_, degree=degree)
    record = statistics.record_of

    assert statistics.bucket[record].tolist() == request_.owner.tolist()
    assert statistics.home[record].tolist() == request_.home.tolist()
    assert statistics.cost[record].tolist() == discretise(request_.cost, degree=degree).tolist()
    assert statistics.state[record].tolist() == discretise(request_.state, degree=degree).tolist()
    assert np.bincount(record, minlength=statistics.n_records).tolist() == statistics.count.tolist()


def assert_like_discretised_keys(request, degree):
    """Mixed, word for word, on the discretised keys in the order of records: as many of each record go to each bucket."""
    statistics = summarise_request(request, degree=degree)
    by_record = np.argsort(statistics.record_of, kind="stable")
    reference = Reference(
        cost=statistics.cost[statistics.record_of][by_record].tolist(),
        state=statistics.state[statistics.record_of][by_record].tolist(),
        home=request.home[by_record].tolist(),
        n=request.n_buckets,
        theta=f"{request.budgets.max_imbalance:g}",
    )
    expected = reference.mixed(request.owner[by_record].tolist(), request.budgets.route_limit())

    plan = plan_on_statistics(request, statistics)

    records = statistics.record_of.tolist()
    answer = Counter(zip(records, plan.owner.tolist(), strict=True))
    assert answer == Counter(zip(sorted(records), expected, strict=True))


@settings(max_examples=80, deadline=None, derandomize=True)
@given(requests(max_keys=12, max_cost=6, max_state=3), st.sampled_from([1, 4]))
def test_planning_on_records_equals_planning_on_discretised_keys(request_, degree):
    """Records may be split, so nothing is lost by planning on them but the digits HLHE drops."""
    assert_like_discretised_keys(request_, degree)


@pytest.mark.parametrize("seed", range(6))
def test_exchanges_on_records_equal_exchanges_on_keys(seed):
    """θ = 0, few distinct values and a short table: records are cleaned, split and pushed out in parts."""
    rng = np.random.default_rng(seed)
    n_buckets = int(rng.integers(2, 5))
    request = make_request(
        np.append(rng.choice([1, 2, 3, 7], 40), 1),
        rng.integers(0, n_buckets, 41) // 2,
        state=np.append(rng.integers(1, 3, 40), 1),
        home=rng.integers(0, n_buckets, 41),
        n_buckets=n_buckets,
        max_routes=8,
    )

    assert_like_discretised_keys(request, 1)


def test_parts_of_one_record_wait_together():
    """Sec. IV-A, Phase II: what two buckets give up of the same record is merged, and none of it may get lost."""
    ones = np.ones(8)
    statistics = summarise(cost=ones, state=ones, bucket=np.zeros(8, int), home=np.ones(8, int), degree=1)
    split = Pieces(np.array([0, 0]), np.array([0, 1]), np.array([4, 4]))
    psi = highest_cost_first(statistics.cost)

    answer = balance_records(statistics, split, psi, n_buckets=4, max_imbalance=0.0)

    assert dict(zip(answer.bucket.tolist(), answer.count.tolist(), strict=True)) == {0: 2, 1: 2, 2: 2, 3: 2}
    assert split.count.tolist() == [4, 4]


@pytest.mark.parametrize("seed", range(4))
def test_large_records_are_placed_as_their_keys_would_be(seed):
    """Hundreds of equal keys go in one step: the loads must be those of placing them one by one."""
    rng = np.random.default_rng(seed)
    request = make_request(rng.choice([1, 2, 16], 900), np.zeros(900), n_buckets=6, theta=0.02)

    compact, single = plan_mixed_compact(request, MixedCompactOptions(degree=1)), plan_mixed(request)

    assert sorted(compact.load.tolist()) == sorted(single.load.tolist())
    assert compact.imbalance <= 0.02


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    st.lists(st.integers(0, 30), min_size=1, max_size=6),
    st.integers(1, 60),
    st.integers(1, 4),
    st.integers(0, 60),
)
def test_level_out_takes_the_first_steps_of_placing_one_by_one(load, n_items, cost, up_to):
    """A shortcut may not give any bucket more than the least-loaded rule would, and must leave few to do singly."""
    n_each = level_out(np.array(load, dtype=float), n_items=n_items, cost=cost, up_to=up_to)

    single, loads = [0] * len(load), list(load)
    for _ in range(n_items):
        bucket = loads.index(min(loads))
        if loads[bucket] + cost > up_to:
            break
        single[bucket] += 1
        loads[bucket] += cost
    assert all(given <= one_by_one for given, one_by_one in zip(n_each.tolist(), single, strict=True))
    assert sum(single) - int(n_each.sum()) <= len(load)


def test_the_largest_gamma_of_a_record_leaves_first():
    """Which keys of a split record travel is decided on the true figures: least state per cost."""
    request = make_request([8] * 5, [0, 0, 0, 0, 1], state=[15, 8, 9, 14, 1], n_buckets=2, theta=0.0)
    assert summarise_request(request, degree=8).count.tolist() == [4, 1]  # all states above y1 = 8 become 8

    assert plan_mixed_compact(request, MixedCompactOptions(degree=8)).moved.tolist() == [1]


@settings(max_examples=30, deadline=None, derandomize=True)
@given(requests(max_keys=14))
def test_mixed_compact_ignores_the_units(request_):
    """Records are made relative to the smallest value, so a unit changes none."""
    expected = plan_mixed_compact(request_).owner.tolist()

    assert plan_mixed_compact(scaled(request_, cost=0.1, state=1e3)).owner.tolist() == expected


def test_mixed_compact_is_near_mixed_on_skewed_keys():
    """The paper's claim (Fig. 11): at R = 8 the loads are off by little, at a fraction of the items."""
    rng = np.random.default_rng(0)
    request = make_request(
        np.ceil(2e4 / np.arange(1, 20_001) ** 0.85), rng.integers(0, 8, 20_000), n_buckets=8, theta=0.05
    )
    statistics = summarise_request(request, degree=8)
    plan = plan_on_statistics(request, statistics)

    assert statistics.n_records < 20_000 / 10
    assert plan.imbalance <= 0.05 + 0.01


def test_routes_of_compact_plans_follow_the_slots():
    """With slots among the items, records alone cannot count routes: the plan's own count decides."""
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

    assert plan_mixed_compact(request, MixedCompactOptions(degree=1)).n_routes == 0


@pytest.mark.parametrize(
    ("cost", "owner", "expected"),
    [
        pytest.param([], [], [], id="no-keys"),
        pytest.param([0, 0], [1, 1], [1, 1], id="no-cost"),
        pytest.param([5], [0], [0], id="one-key"),
        pytest.param([9, 1], [1, 1], [0, 1], id="a-key-that-fits-nowhere"),
    ],
)
def test_mixed_compact_answers_these(cost, owner, expected):
    """The edges that discretisation could trip over: nothing to count, nothing to divide by."""
    assert plan_mixed_compact(make_request(cost, owner, n_buckets=4, theta=0.5)).owner.tolist() == expected


def test_a_routed_key_without_cost_or_state_can_be_cleaned():
    """0 / 0 has no gamma: such keys go home by position."""
    request = make_request(
        [0, 0, 3], [1, 1, 0], state=[0, 0, 3], home=[0, 0, 0], n_buckets=2, theta=1.0, max_routes=1
    )

    assert plan_mixed_compact(request).owner.tolist() == [0, 1, 0]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"degree": 12}, r"MixedCompactOptions.degree must be a power of two, 1 or more\. Got 12"),
        ({"beta": -1}, r"MixedCompactOptions.beta must be a finite number, 0 or more\. Got -1"),
    ],
)
def test_options_are_checked(options, sentence):
    """Options are refused where they are written, not inside a plan."""
    with pytest.raises(PlanRequestError, match=sentence):
        MixedCompactOptions(**options)
