"""MixedBF: every n of Mixed."""

import pytest
from hypothesis import given, settings

from partitioning.errors import PlanRequestError
from partitioning.planners.mixed import plan_mixed
from partitioning.planners.mixed_bf import MixedBFOptions, plan_mixed_bf
from tests.partitioning.fang_cases import make_request, reference_of, requests


def badness(reference, state, owner, start, a_max):
    """Eq. 3 in order: load above Lmax, routes above A_max, migration; from exact fractions."""
    hottest = max(reference.load(owner, d) for d in range(reference.n))
    moved = sum(s for s, now, before in zip(state, owner, start, strict=True) if now != before)
    return max(hottest - reference.l_max, 0), max(reference.routes(owner) - a_max, 0), moved


@settings(max_examples=60, deadline=None, derandomize=True)
@given(requests(max_keys=8))
def test_mixed_bf_is_the_best_of_every_n(request_):
    """All n = 0 … N_A are rounds of Mixed; the first best by balance, table, migration is returned."""
    reference, start = reference_of(request_), request_.owner.tolist()
    rounds = [reference.mixed_round(start, n) for n in range(len(reference.routed_by_state(start)) + 1)]
    state, a_max = request_.state.tolist(), request_.budgets.route_limit()
    best = min(rounds, key=lambda owner: badness(reference, state, owner, start, a_max))

    assert plan_mixed_bf(request_).owner.tolist() == best


@settings(max_examples=60, deadline=None, derandomize=True)
@given(requests(max_keys=12))
def test_mixed_bf_is_never_worse_than_mixed(request_):
    """The brute force is the yardstick of the heuristic: it must not lose to it."""
    reference, start = reference_of(request_), request_.owner.tolist()
    state, a_max = request_.state.tolist(), request_.budgets.route_limit()
    heuristic, brute_force = (
        badness(reference, state, plan(request_).owner.tolist(), start, a_max)
        for plan in (plan_mixed, plan_mixed_bf)
    )

    assert brute_force <= heuristic


def test_balance_comes_before_the_table():
    """n = 1 ends 1 above Lmax with 2 routes too many, n = 3 ends 2 above with 1 too many: load is looked at first."""
    request = make_request(
        [1, 3, 5, 6, 6],
        [2, 1, 2, 1, 1],
        state=[2, 1, 6, 5, 5],
        home=[1, 1, 1, 2, 1],
        n_buckets=3,
        theta=0.0,
        max_routes=1,
    )

    assert plan_mixed_bf(request).owner.tolist() == [1, 2, 2, 0, 1]


@pytest.mark.parametrize("unit", [1, 0.1])
def test_last_bits_of_a_load_do_not_decide(unit):
    """Every n leaves 8, 4 and 7 alone in a bucket each, so n = 0 wins; in tenths, one sum is a bit above the other."""
    cost = [8 * unit, 4 * unit, 7 * unit]
    request = make_request(cost, [2, 2, 1], state=[4, 2, 3], home=[2, 1, 2], n_buckets=3, theta=0.08)

    assert plan_mixed_bf(request).owner.tolist() == [0, 2, 1]


def test_stride_tries_fewer_n_and_always_the_last():
    """With every route in the way only n = N_A fits: a stride must not step over it."""
    request = make_request(
        [1] * 6, [1, 1, 1, 0, 0, 0], home=[0, 0, 0, 1, 1, 1], n_buckets=2, theta=0.0, max_routes=0
    )
    plan = plan_mixed_bf(request, MixedBFOptions(stride=4))

    assert plan.owner.tolist() == [0, 0, 0, 1, 1, 1]


@pytest.mark.parametrize("stride", [0, -1, 1.5, True])
def test_stride_is_checked(stride):
    """A stride of 0 would never end."""
    with pytest.raises(
        PlanRequestError, match=r"MixedBFOptions.stride must be a whole number, 1 or more\. Got"
    ):
        MixedBFOptions(stride=stride)


def test_mixed_bf_beta_is_checked():
    """Each planner names its own option."""
    with pytest.raises(PlanRequestError, match=r"MixedBFOptions.beta must be a finite number"):
        MixedBFOptions(beta=float("nan"))
