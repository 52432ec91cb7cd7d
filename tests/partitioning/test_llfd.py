"""LLFD: the subroutine of Alg. 1 and the planner."""

import numpy as np
import pytest
from hypothesis import given, settings

from partitioning.planners.llfd import plan_llfd
from tests.partitioning.fang_cases import make_request, moved_on, reference_of, requests, scaled


@settings(max_examples=100, deadline=None, derandomize=True)
@given(requests())
def test_llfd_equals_the_printed_algorithm(request_):
    """The fast form must make every decision of Alg. 1, on ties and refusals too: papers are compared by it."""
    reference = reference_of(request_)

    plan = plan_llfd(request_)

    assert plan.owner.tolist() == reference.balance(request_.owner.tolist(), reference.cost_first)


@pytest.mark.parametrize("seed", range(6))
def test_llfd_equals_the_printed_algorithm_when_exchanges_cascade(seed):
    """Many keys and θ = 0 make one bucket push out keys again and again while the allowed cost falls."""
    rng = np.random.default_rng(seed)
    n_buckets = int(rng.integers(2, 5))
    request = make_request(rng.integers(1, 40, 60), rng.integers(0, n_buckets, 60) // 2, n_buckets=n_buckets)
    reference = reference_of(request)

    plan = plan_llfd(request)

    assert plan.owner.tolist() == reference.balance(request.owner.tolist(), reference.cost_first)


@pytest.mark.parametrize(
    ("cost", "owner", "n_buckets", "theta", "expected"),
    [
        pytest.param([], [], 3, 0.0, [], id="no-keys"),
        pytest.param([5], [1], 3, 0.0, [0], id="one-key-fits-nowhere-and-goes-to-the-least-loaded"),
        pytest.param([5], [0], 1, 0.0, [0], id="one-bucket"),
        pytest.param([0, 0, 0], [1, 1, 1], 2, 0.0, [1, 1, 1], id="no-cost-nothing-moves"),
        pytest.param([4, 4, 0], [0, 0, 0], 2, 0.0, [1, 0, 0], id="a-key-without-cost-stays"),
        pytest.param([2, 2, 2, 2], [0, 0, 0, 0], 2, 0.0, [1, 1, 0, 0], id="ties-leave-by-position"),
        pytest.param([2, 2, 2, 2], [2, 2, 2, 2], 4, 0.0, [0, 1, 3, 2], id="ties-arrive-by-bucket"),
        pytest.param([3, 1], [0, 0], 2, 0.5, [1, 0], id="at-exactly-the-limit-is-accepted"),
        pytest.param([5, 4, 1], [0, 0, 1], 2, 1.0, [0, 0, 1], id="within-the-limit-nothing-moves"),
        pytest.param(
            [9, 1, 1, 1], [0, 0, 1, 2], 3, 0.0, [0, 0, 1, 2], id="heavier-than-the-limit-is-placed-anyway"
        ),
    ],
)
def test_llfd_answers_these(cost, owner, n_buckets, theta, expected):
    """The edges, one by one: each case was worked by hand from Alg. 1, ties to the lower position and bucket."""
    request = make_request(cost, owner, n_buckets=n_buckets, theta=theta)

    assert plan_llfd(request).owner.tolist() == expected


@settings(max_examples=60, deadline=None, derandomize=True)
@given(requests(max_keys=14))
def test_llfd_ignores_the_unit_of_cost(request_):
    """Rows, thousands of rows or seconds: a unit that binary floats cannot hold must flip no comparison."""
    expected = plan_llfd(request_).owner.tolist()

    assert [plan_llfd(scaled(request_, cost=unit)).owner.tolist() for unit in (0.1, 3.7, 1e9)] == [
        expected
    ] * 3


@settings(max_examples=60, deadline=None, derandomize=True)
@given(requests(max_keys=14))
def test_llfd_leaves_its_own_balanced_answer_alone(request_):
    """Planning twice must not move data twice."""
    plan = plan_llfd(request_)
    again = plan_llfd(moved_on(request_, plan.owner))

    if plan.imbalance <= request_.budgets.max_imbalance:
        assert again.moved.size == 0


def test_llfd_never_writes_to_the_request():
    """A request is shared by several planners."""
    request = make_request([7, 4, 2, 1, 5, 1], [0, 0, 1, 1, 0, 1], n_buckets=2)
    plan = plan_llfd(request)

    assert plan.owner is not request.owner
    assert request.owner.tolist() == [0, 0, 1, 1, 0, 1]


@pytest.mark.parametrize("cost", [1e-320, 1e-9, 2.0**40])
def test_llfd_takes_costs_of_any_size(cost):
    """The tolerance is relative: tiny and huge units are planned alike."""
    request = make_request([cost] * 4, [0] * 4, n_buckets=4)

    assert sorted(plan_llfd(request).owner.tolist()) == [0, 1, 2, 3]


def test_llfd_spreads_a_single_bucket_of_many_keys():
    """Phase II sorts only as far as it must: with tens of thousands of candidates it still takes a prefix."""
    rng = np.random.default_rng(3)
    request = make_request(rng.integers(1, 1000, 20_000), np.zeros(20_000), n_buckets=5, theta=0.01)
    plan = plan_llfd(request)

    kept = plan.owner == 0
    assert plan.imbalance <= 0.01
    assert request.cost[kept].max() <= request.cost[~kept].min()


@pytest.mark.parametrize("seed", range(20))
def test_theorem_1_bounds_the_imbalance_where_perfection_exists(seed):
    """Theorem 1: if a perfect assignment exists and no key outweighs a bucket, θ ends at most at (1 - 1/N) / 3."""
    rng = np.random.default_rng(seed)
    n_buckets, level = int(rng.integers(2, 6)), 60
    cuts = [np.sort(rng.choice(np.arange(1, level), 3, replace=False)) for _ in range(n_buckets)]
    cost = np.concatenate([np.diff(np.array([0, *inner, level])) for inner in cuts])
    request = make_request(cost, rng.integers(0, n_buckets, cost.size), n_buckets=n_buckets)

    assert plan_llfd(request).imbalance <= (1 - 1 / n_buckets) / 3


@pytest.mark.parametrize("unit", [1, 0.1])
def test_loads_that_tie_are_told_apart_in_no_unit(unit):
    """Buckets 0 and 2 hold 1 each, one of them as 2001 - 2000: the lower takes the second 1000, in tenths as well."""
    cost = [unit, 1000 * unit, unit, 1000 * unit]
    request = make_request(cost, [0, 2, 2, 2], n_buckets=3, theta=0.08)

    assert plan_llfd(request).owner.tolist() == [0, 1, 2, 0]
