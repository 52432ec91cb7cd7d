"""Scan (Gedik, Alg. 2), and what it shares with redist and readj: options, penalties, change of N."""

import numpy as np
import pytest
from hypothesis import given, settings

from partitioning.errors import PlanRequestError
from partitioning.planners import PLANNERS
from partitioning.planners.readj import ReadjOptions, plan_readj
from partitioning.planners.redist import RedistOptions, plan_redist
from partitioning.planners.scan import ScanOptions, plan_scan
from partitioning.tracking.delta import tolerated_ratio
from tests.partitioning.gedik_cases import NOTHING_TO_DO, UTILITY_NAMES, every_utility, keys, random_keys
from tests.partitioning.gedik_reference import Reference
from tests.partitioning.strategies import requests

ALL_THREE = pytest.mark.parametrize(
    ("plan", "options"),
    [(plan_scan, ScanOptions), (plan_redist, RedistOptions), (plan_readj, ReadjOptions)],
    ids=["scan", "redist", "readj"],
)


@settings(max_examples=30, deadline=None, derandomize=True)
@given(requests(max_items=9))
def test_scan_equals_the_printed_algorithm(request_):
    """The vectorised form must make every decision of Alg. 2, with slots, ties, zeros and a change of N."""
    assert plan_scan(request_).owner.tolist() == Reference(request_).scan()


@every_utility
@pytest.mark.parametrize("seed", range(6))
def test_scan_equals_the_printed_algorithm_for_every_utility(utility, seed):
    """The utility is the only place where balance and migration meet: each of the five must be read right."""
    request = random_keys(seed)

    plan = plan_scan(request, ScanOptions(utility=utility))

    assert plan.owner.tolist() == Reference(request, utility=utility).scan()


def test_utilities_lead_to_different_plans():
    """If two utilities never differed, the tests above would not see one mistaken for the other."""
    plans = {
        name: [plan_scan(random_keys(seed), ScanOptions(utility=name)).owner.tolist() for seed in range(30)]
        for name in UTILITY_NAMES
    }

    assert all(plans[a] != plans[b] for a in plans for b in plans if a < b)


@ALL_THREE
@pytest.mark.parametrize("items", NOTHING_TO_DO)
@every_utility
def test_nothing_moves_where_nothing_can_be_gained(plan, options, items, utility):
    """No items, one bucket, no cost, even loads: whatever the utility, items stay where they are."""
    request = keys(*items, state=np.ones(len(items[0])))

    assert plan(request, options(utility=utility)).moved.size == 0


@ALL_THREE
def test_items_without_cost_and_state_stay(plan, options):
    """Placing them elsewhere changes no figure, but may cost a route each."""
    request = keys([9, 5, 0, 0], [2, 2, 1, 2], 3, state=[1, 1, 0, 0])

    assert plan(request, options()).owner[2:].tolist() == [1, 2]


@ALL_THREE
@pytest.mark.parametrize("seed", [14, 17, 18])
def test_units_do_not_matter(plan, options, seed):
    """Rows or megarows, bytes or gigabytes: no decision may depend on the unit, nor on how it rounds (these seeds do)."""
    rng = np.random.default_rng(seed)
    cost, owner = rng.integers(1, 6, 12), rng.integers(0, 4, 12)
    answers = [
        plan(keys(cost * scale, owner, 4, state=cost * scale * 7), options())
        for scale in (1.0, 3.0, 0.1, 1 / 3, 1e9)
    ]

    assert answers[0].moved.size > 0
    assert all(answer.owner.tolist() == answers[0].owner.tolist() for answer in answers)


@ALL_THREE
def test_alpha_and_the_budget_say_the_same_thing(plan, options):
    """Without alpha, the budget's θ is Eq. 15's θ: a request with one equals a request with the other."""
    n_differing = 0
    for seed in range(5):
        request = random_keys(seed, n_items=12, n_buckets=4)
        by_budget = plan(request, options()).owner.tolist()
        by_alpha = plan(request, options(alpha=tolerated_ratio(0.2, 4))).owner.tolist()
        assert by_alpha == by_budget
        n_differing += plan(request, options(alpha=4.0)).owner.tolist() != by_budget

    assert n_differing > 0


@ALL_THREE
@pytest.mark.parametrize("max_imbalance", [0.0, 1e6])
def test_extreme_goals_are_planned_on(plan, options, max_imbalance):
    """No tolerance: balance alone decides. Endless tolerance: no state moves for nothing."""
    request = keys([5, 4, 3, 2, 1], [0, 0, 0, 0, 0], 2, theta=max_imbalance)

    load = plan(request, options()).load

    assert np.isfinite(load).all()
    assert max_imbalance > 0 or load.max() - load.min() <= 1
    assert max_imbalance == 0 or plan is plan_readj or load.tolist() == [15, 0]


@ALL_THREE
def test_constant_resources_do_not_count(plan, options):
    """Sec. 4.4: the hash evens them out; they must neither steer nor weaken the exponent of Eq. 20."""
    for seed in range(8):
        request = random_keys(seed)
        alone = plan(request, options(resources=("quadratic",)))
        beside = plan(request, options(resources=("constant", "quadratic"), alpha=None))
        assert alone.owner.tolist() == beside.owner.tolist()
    assert plan(random_keys(1), options(resources=("constant",))).moved.size == 0


@ALL_THREE
def test_resources_may_be_functions_with_their_own_alpha(plan, options):
    """Any function on arrays will do, and means the same as the name where there is one."""
    request = random_keys(2, n_items=12, n_buckets=3)
    named = plan(request, options(resources=("linear", "quadratic"), alpha=(1.1, 2.0)))
    own = plan(request, options(resources=(lambda cost: cost, np.square), alpha=(1.1, 2.0)))

    assert named.moved.size > 0
    assert own.owner.tolist() == named.owner.tolist()


def test_scan_evens_out_several_resources():
    """Eq. 20: two resources share the penalty by their geometric mean."""
    for seed in range(6):
        request = random_keys(seed)
        plan = plan_scan(request, ScanOptions(resources=("linear", "quadratic")))
        assert plan.owner.tolist() == Reference(request, functions=(lambda x: x, lambda x: x * x)).scan()


@ALL_THREE
def test_background_load_counts_but_does_not_move(plan, options):
    """Keys left to the hash fill buckets too: tracked items must make way for them."""
    request = keys([4, 4, 4], [0, 0, 0], 3)
    background = (0.0, 4.0, 8.0)

    assert plan(request, options()).load.tolist() == [4, 4, 4]
    assert (plan(request, options(background_load=background)).load + background).max() == 8


def test_scan_with_background_equals_the_printed_algorithm():
    """The hash load enters Eq. 19 in max, min and mean alike, in each resource's own row."""
    functions = (lambda x: x, lambda x: x * x)
    for seed in range(6):
        request = random_keys(seed)
        rows = np.random.default_rng(seed).random((2, request.n_buckets)).tolist()
        options = ScanOptions(resources=("linear", "quadratic"), background_load=rows)
        expected = Reference(request, functions=functions, background=rows).scan()
        assert plan_scan(request, options).owner.tolist() == expected


@ALL_THREE
def test_growing_fills_the_new_bucket(plan, options):
    """N = 2 to 3: the new bucket gets its share, at less than twice the ideal migration (Eq. 18)."""
    rng = np.random.default_rng(1)
    cost = rng.random(30) + 0.5
    owner = np.argsort(np.argsort(cost)) % 2
    request = keys(cost, owner, 3, n_buckets_before=2)

    answer = plan(request, options())

    assert answer.load.min() > 0
    assert answer.imbalance < 0.1
    assert answer.migration < 2 * request.total_state / 3


@ALL_THREE
def test_shrinking_empties_the_buckets_that_are_gone(plan, options):
    """N = 4 to 2: every item of the removed buckets is placed, and the answer knows no others."""
    rng = np.random.default_rng(2)
    cost, owner = rng.random(40), np.arange(40) % 4
    request = keys(cost, owner, 2, home=np.arange(40) % 2, n_buckets_before=4, home_before=owner)

    answer = plan(request, options())

    assert set(answer.owner.tolist()) == {0, 1}
    assert np.isin(np.flatnonzero(owner >= 2), answer.moved).all()
    assert answer.imbalance < 0.1


@ALL_THREE
def test_huge_and_tiny_amounts(plan, options):
    """Up to 2^53 and down to 1e-300: no overflow, no warning, and the same answer."""
    cost = np.array([3.0, 2.0, 1.0, 2.0])
    for unit in (2.0**48, 1e-150, 1e-300):
        answer = plan(keys(cost * unit, [0, 0, 0, 0], 2), options())
        assert answer.owner.tolist() == plan(keys(cost, [0, 0, 0, 0], 2), options()).owner.tolist()
        assert answer.moved.size > 0


@ALL_THREE
def test_planners_are_registered(plan, options):
    """The front door finds them by the paper's names; no options are the default options."""
    request = random_keys(3)
    name = plan(request).planner

    assert PLANNERS[name] is plan
    assert plan(request).owner.tolist() == plan(request, options()).owner.tolist()


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("utility", ["U_APM", "U_APLM", "U_ATM"])
def test_scan_on_its_own_result_moves_nothing(seed, utility):
    """What was best at the price of a migration is best without it: a second run must be free."""
    request, options = random_keys(seed, n_items=30, n_buckets=4), ScanOptions(utility=utility)
    first = plan_scan(request, options)
    again = keys(request.cost, first.owner, 4, state=request.state, theta=0.2)

    assert first.moved.size > 0
    assert plan_scan(again, options).moved.size == 0


def test_scan_takes_the_costliest_first():
    """6, 5, 4, 3 onto two buckets without any state: 6 + 3 and 5 + 4; by position it would be 3 + 5 and 4 + 6."""
    request = keys([3, 4, 5, 6], [0, 0, 0, 0], 2, state=[0, 0, 0, 0])

    assert plan_scan(request).load.tolist() == [9, 9]


@ALL_THREE
@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"utility": "U_B"}, "Options.utility must be one of U_A, U_APM, U_APLM, U_ATM, U_ATLM. Got 'U_B'"),
        ({"alpha": 0.5}, "Options.alpha must be a finite number, 1 or more. Got 0.5"),
        ({"alpha": float("nan")}, "Options.alpha must be a finite number, 1 or more. Got nan"),
        ({"alpha": (1.2, 1.2)}, "Options.alpha must be one number, or one a resource. Got 2 for 1"),
        (
            {"resources": ("cubic",)},
            "resource must be one of constant, linear, quadratic, or a function. Got 'cubic'",
        ),
    ],
)
def test_bad_options_are_refused_when_made(plan, options, change, message):
    """Options are checked once, before any request is seen."""
    with pytest.raises(PlanRequestError, match=message):
        options(**change)


@ALL_THREE
@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"background_load": (1.0, 2.0)},
            r"background_load must hold one finite load, .* 1 resources and 3 buckets",
        ),
        ({"background_load": (1.0, -2.0, 0.0)}, "background_load must hold one finite load, 0 or more"),
        (
            {"background_load": (1.0, float("nan"), 0.0)},
            "background_load must hold one finite load, 0 or more",
        ),
        (
            {"resources": (np.negative,)},
            "resources must map an array of costs to as many finite loads, 0 or more",
        ),
        ({"resources": (np.sum,)}, r"resources must map an array of costs .* Got shape \(\) for \(2,\)"),
    ],
)
def test_options_that_do_not_fit_the_request_are_refused(plan, options, change, message):
    """One load a bucket, and functions that map arrays to arrays."""
    with pytest.raises(PlanRequestError, match=message):
        plan(keys([1, 2], [0, 1], 3), options(**change))
