"""Readj (Gedik, Alg. 4). What it shares with scan and redist is tested with scan."""

import numpy as np
import pytest
from hypothesis import given, settings

from partitioning.errors import PlanRequestError
from partitioning.planners import readj, readj_candidates
from partitioning.planners.gedik_state import Penalties
from partitioning.planners.readj import ReadjOptions, plan_readj
from tests.partitioning.gedik_cases import UTILITY_NAMES, every_utility, keys, random_keys
from tests.partitioning.gedik_reference import Reference
from tests.partitioning.strategies import requests


@settings(max_examples=30, deadline=None, derandomize=True)
@given(requests(max_items=9))
def test_readj_equals_the_printed_algorithm(request_):
    """The search leaves out what cannot win: it must still find every readjustment that Alg. 4 finds, ties too."""
    assert plan_readj(request_).owner.tolist() == Reference(request_).readj(request_.start)


@every_utility
@pytest.mark.parametrize("seed", range(8))
def test_readj_equals_the_printed_algorithm_for_every_utility(utility, seed):
    """The bar that swaps must pass is derived for all five utilities: a wrong bound would lose the best swap."""
    request = random_keys(seed)

    plan = plan_readj(request, ReadjOptions(utility=utility))

    assert plan.owner.tolist() == Reference(request, utility=utility).readj(request.start)


@every_utility
@pytest.mark.parametrize("seed", range(3))
def test_readj_with_items_away_from_home_equals_the_printed_algorithm(utility, seed):
    """After a change of N items have something to gain by going back, which no bar may hide (Eq. 22's minus)."""
    rng = np.random.default_rng(seed)
    before = rng.integers(0, 4, 14)
    request = keys(
        rng.lognormal(0, 1, 14),
        before,
        3,
        home=rng.integers(0, 3, 14),
        state=rng.lognormal(0, 1, 14),
        n_buckets_before=4,
        home_before=before,
    )

    plan = plan_readj(request, ReadjOptions(utility=utility))

    assert plan.owner.tolist() == Reference(request, utility=utility).readj(request.start)


@pytest.mark.parametrize("seed", range(5))
def test_readj_equals_the_printed_algorithm_for_several_resources(seed):
    """A readjustment may worsen one resource if it helps another more: pairs of all extremes must be looked at."""
    request = random_keys(seed, n_items=10)
    rows = np.random.default_rng(seed).random((2, request.n_buckets)).tolist()
    functions = (lambda x: x, lambda x: x * x)

    plan = plan_readj(request, ReadjOptions(resources=("linear", "quadratic"), background_load=rows))

    assert plan.owner.tolist() == Reference(request, functions=functions, background=rows).readj(
        request.start
    )


@pytest.mark.parametrize(
    ("resource", "function"),
    [
        pytest.param("quadratic", lambda x: x * x, id="quadratic"),
        pytest.param(np.sqrt, np.sqrt, id="concave"),
        pytest.param(lambda x: np.abs(x - 1.5) + 0.1, lambda x: abs(x - 1.5) + 0.1, id="falls-then-rises"),
    ],
)
@every_utility
def test_readj_equals_the_printed_algorithm_for_other_resources(resource, function, utility):
    """Gain is per cost, not per load: where the two differ, what cannot win must be told by cost."""
    for seed in range(3):
        request = random_keys(seed, n_items=11)
        plan = plan_readj(request, ReadjOptions(resources=(resource,), utility=utility))
        expected = Reference(request, functions=(function,), utility=utility).readj(request.start)
        assert plan.owner.tolist() == expected


@pytest.mark.parametrize(
    ("resources", "utilities"),
    [
        pytest.param(("linear",), UTILITY_NAMES, id="linear"),
        pytest.param((lambda cost: np.abs(cost - 1.5) + 0.1,), ["U_APM"], id="falls-then-rises"),
        pytest.param((lambda cost: cost * np.exp(-cost),), ["U_APM"], id="rises-then-falls"),
        pytest.param(("quadratic", np.sqrt), ["U_APM"], id="several"),
    ],
)
def test_what_is_left_out_could_not_have_won(resources, utilities, monkeypatch):
    """With more items most swaps are never judged: the answer must be that of judging them all."""
    requests = [random_keys(seed, n_items=30, n_buckets=4) for seed in range(6)]
    options = [ReadjOptions(utility=utility, resources=resources) for utility in utilities]
    answers = [plan_readj(request, option).owner.tolist() for request in requests for option in options]
    monkeypatch.setattr(readj._Search, "_bar", lambda *_: None)

    assert answers == [
        plan_readj(request, option).owner.tolist() for request in requests for option in options
    ]


def test_readj_moves_items_that_cost_nothing_but_load_something():
    """β(0) > 0: such a load is shifted at no cost, which must not be divided by."""
    request = keys([0, 0, 0, 0], [0, 0, 0, 0], 2, state=[1, 1, 1, 1])

    plan = plan_readj(request, ReadjOptions(resources=(lambda cost: cost + 1.0,)))

    assert np.bincount(plan.owner).tolist() == [2, 2]


def test_portions_do_not_change_the_answer(monkeypatch):
    """Candidates are judged in portions to bound memory; where they are cut must not show."""
    request = random_keys(7, n_items=30, n_buckets=4)
    whole = plan_readj(request).owner.tolist()
    monkeypatch.setattr(readj_candidates, "MAX_CANDIDATES", 7)

    assert plan_readj(request).owner.tolist() == whole


@settings(max_examples=30, deadline=None, derandomize=True)
@given(requests())
def test_readj_never_worsens_the_penalty_and_ends_at_a_local_optimum(request_):
    """rho must fall with every readjustment; and a second run finds nothing, so that running twice is free."""
    penalties = Penalties(request=request_, options=ReadjOptions())
    start, end = penalties.load(request_.start)[0], penalties.load(plan_readj(request_).owner)[0]
    again = keys(
        request_.cost,
        plan_readj(request_).owner,
        request_.n_buckets,
        state=request_.state,
        theta=request_.budgets.max_imbalance,
    )

    assert np.ptp(end) <= np.ptp(start) + 1e-9 * start.max()
    assert plan_readj(again).moved.size == 0


def test_readj_swaps_where_no_move_helps():
    """6 + 6 against 5 + 5: any move makes it worse, swapping a 6 with a 5 makes it even. Ties: the first of each."""
    request = keys([6, 6, 5, 5], [0, 0, 1, 1], 2)

    plan = plan_readj(request)

    assert plan.load.tolist() == [11, 11]
    assert plan.moved.tolist() == [0, 2]


def test_readj_prefers_the_move_that_costs_less_state():
    """Two keys shift the same load; the utility ranks them by the state they take along."""
    request = keys([5, 2, 2, 1], [0, 0, 0, 1], 2, state=[50, 9, 3, 1], theta=0.5)

    assert plan_readj(request, ReadjOptions(stop_at="goal")).moved.tolist() == [2]


def test_readj_goes_on_although_the_utility_worsens():
    """The code of Alg. 4, not its text: rho must fall, the utility only ranks. State here costs far more than balance."""
    request = keys([3, 3], [0, 0], 2, state=[1000, 1000], theta=100.0)

    assert plan_readj(request).load.tolist() == [3, 3]


def test_readj_stops_where_two_share_the_top_and_two_the_bottom():
    """As printed: no single readjustment lowers max - min, so nothing moves although one could be shared out."""
    request = keys([1] * 8, [0] * 4 + [1] * 4, 4)

    assert plan_readj(request).moved.size == 0


@pytest.mark.parametrize("seed", range(4))
def test_stopping_at_the_goal_moves_no_more_than_needed(seed):
    """stop_at="goal" ends on reaching θ, having moved a prefix of what the whole search does."""
    request = random_keys(seed + 4, n_items=40, n_buckets=4)
    optimum, goal = plan_readj(request), plan_readj(request, ReadjOptions(stop_at="goal"))

    assert optimum.imbalance < goal.imbalance <= 0.2
    assert goal.moved.size < optimum.moved.size


def test_stopping_at_the_goal_reads_alpha_as_max_over_min():
    """With alpha the goal is Eq. 2, which also asks that no bucket be too empty: 12 to 9 is within θ, not within 1.2."""
    request = keys([6, 6, 5, 4, 5, 5], [0, 0, 1, 1, 2, 2], 3, theta=0.2)
    by_theta = plan_readj(request, ReadjOptions(stop_at="goal"))
    by_alpha = plan_readj(request, ReadjOptions(stop_at="goal", alpha=1.2))

    assert by_theta.moved.size == 0
    assert by_alpha.load.max() / by_alpha.load.min() <= 1.2


def test_stay_put_start_leaves_new_buckets_to_the_search():
    """start_from="owner" is the printed start: when N grows, items do not follow the ring first."""
    cost, before = [5.0, 4.0, 3.0, 2.0], [0, 0, 1, 1]
    request = keys(cost, before, 3, home=[2, 0, 1, 1], n_buckets_before=2, home_before=before)
    reference = Reference(request)

    printed = plan_readj(request, ReadjOptions(start_from="owner"))

    assert plan_readj(request).owner.tolist() == reference.readj(request.start) == [2, 0, 1, 1]
    assert printed.owner.tolist() == reference.readj(before)
    assert printed.migration < plan_readj(request).migration


def test_stay_put_start_places_items_of_removed_buckets():
    """Printed for N going down: such items go where the new hash says, then the search starts."""
    request = keys([4, 4, 4], [0, 1, 2], 2, home=[0, 1, 1], n_buckets_before=3, home_before=[0, 1, 2])

    assert plan_readj(request, ReadjOptions(start_from="owner")).owner.tolist() == [0, 1, 1]


def test_limit_of_moves_per_item_bounds_the_search(monkeypatch):
    """c of Sec. 4.2.4: with c = 1 no item is readjusted twice, while the printed search does so with many."""

    def most_moves(options):
        seen = np.zeros(30, dtype=np.int64)
        apply = readj._Search.apply

        def counted(search, best):
            seen[[item for item in best.order[3:] if item >= 0]] += 1
            apply(search, best)

        with monkeypatch.context() as patch:
            patch.setattr(readj._Search, "apply", counted)
            plan_readj(random_keys(11, n_items=30, n_buckets=4), options)
        return seen.max()

    assert most_moves(ReadjOptions(max_moves_per_item=1)) == 1
    assert most_moves(ReadjOptions(max_moves_per_item=2)) == 2
    assert most_moves(ReadjOptions()) > 2


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"stop_at": "theta"}, "ReadjOptions.stop_at must be one of optimum, goal. Got 'theta'"),
        ({"start_from": "home"}, "ReadjOptions.start_from must be one of start, owner. Got 'home'"),
        ({"max_moves_per_item": 0}, "ReadjOptions.max_moves_per_item must be 1 or more. Got 0"),
    ],
)
def test_bad_readj_options_are_refused(change, message):
    """0 moves would be `stay`; a misspelt goal would silently run to the optimum."""
    with pytest.raises(PlanRequestError, match=message):
        ReadjOptions(**change)
