"""Explanations, the frontier, certificates and payback: everything a plan can say about itself."""

import dataclasses
import re

import numpy as np
import pytest

from benchmarks.chaos import chaos_request
from benchmarks.exact import least_migration
from benchmarks.small_cases import small_cases
from partitioning import Budgets, PaybackRule, PlanRequest, PlanRequestError, explain_plan, make_plan
from partitioning.certificate import certify
from partitioning.explain_hot import explain_hot_buckets
from partitioning.explain_moves import explain_moves
from partitioning.frontier import trace_frontier
from partitioning.parting import PartedRequest
from partitioning.payback import weigh
from partitioning.splits import even_weights
from tests.partitioning.checker import facts


def keys(cost, owner, **given):
    names = ("max_imbalance", "max_routes", "max_migration")
    budgets = Budgets(**{name: given.pop(name) for name in names if name in given})
    n_buckets = given.pop("n_buckets", max(owner) + 1)
    state = given.pop("state", np.ones(len(cost)))
    return PlanRequest.of_keys(
        cost=cost, state=state, owner=owner, home=given.pop("home", owner), n_buckets=n_buckets, budgets=budgets,
        **given,
    )  # fmt: skip


# --- moves --------------------------------------------------------------------------------------------------


def test_every_move_is_explained_by_what_happens_without_it():
    """θ without a move, for random plans of every kind, equals that of the placement with the move undone."""
    for seed in range(12):
        plan = make_plan(chaos_request(seed), "mixed")
        reasons = explain_moves(plan)
        assert sorted(reason.item for reason in reasons) == plan.moved.tolist()
        for reason in reasons:
            owner = plan.owner.copy()
            if reason.source < plan.request.n_buckets:
                owner[reason.item] = reason.source
            assert reason.imbalance_without == pytest.approx(facts(plan.request, owner).imbalance, abs=1e-9)


def test_moves_name_their_cause():
    """The swap of two hot keys: one relieves the hot bucket, the other makes room in the cool one."""
    reasons = explain_moves(make_plan(keys([6, 6, 4, 4], [0, 0, 1, 1])))

    assert sorted(reason.cause for reason in reasons) == ["relief", "room"]
    assert "bucket 0 was above the goal" in str(
        next(reason for reason in reasons if reason.cause == "relief")
    )


def test_drain_and_cleaning_are_causes_too():
    """A drained bucket's items leave for that reason, whatever else they do."""
    drained = explain_moves(make_plan(keys([1, 1, 1], [0, 1, 2], drained=[2], max_imbalance=1.0)))
    cleaned = explain_moves(make_plan(keys([1, 1], [0, 1], home=[1, 1], max_routes=0, max_imbalance=2.0)))

    assert [reason.cause for reason in drained] == ["drain"]
    assert [reason.cause for reason in cleaned] == ["cleaning"]


# --- buckets that stay hot -------------------------------------------------------------------------------------


def test_oversized_item_is_named_with_all_that_would_help():
    """12 of 16 in one item. In 3 parts of 4 two share a bucket with a 2; capacity 4.546 makes loads 2.64, 2 and 2 of a mean of 2.44."""
    (hot,) = explain_hot_buckets(make_plan(keys([12, 2, 2], [0, 1, 2])))

    assert hot.bucket == 0
    assert hot.heaviest_item == 0
    assert hot.binds == ("item",)
    assert hot.helps == (
        "splitting item 0 into 3 reaches 0.1248",
        "capacity 4.546 for bucket 0 reaches 0.07996",
        "N = 1 reaches 0, budgets aside",
    )


def test_two_oversized_items_are_split_together():
    """Two keys of 40 % each: with one of them split the other would still make θ."""
    hot = explain_hot_buckets(make_plan(keys([40, 40] + [2] * 10, [0, 1] + [2, 3, 4, 5, 0] * 2)))

    assert [bucket.bucket for bucket in hot] == [0, 1]
    assert all(
        bucket.helps[0].startswith("splitting item 0 into 3 and item 1 into 3 reaches 0") for bucket in hot
    )


def test_both_budgets_are_raised_together_where_neither_helps_alone():
    """One of four keys at home must leave: 25 % of the state, and a route."""
    plan = make_plan(keys([1] * 4, [0] * 3 + [1], max_routes=0, max_migration=0.1))
    (hot,) = explain_hot_buckets(plan)

    assert hot.binds == ("max_migration", "max_routes")
    assert hot.helps[0] == "+15.0% of all state in max_migration and +1 routes in max_routes reach 0"


def test_amounts_are_rounded_up_to_what_is_said():
    """One of seven must move: 14.29 % of the state. With +14.2 % of it nothing could."""
    plan = make_plan(keys([1] * 7 + [1], [0] * 5 + [1] * 3, state=[1] * 7 + [0], max_migration=0.0))
    (hot,) = explain_hot_buckets(plan)

    assert hot.helps[0] == "+14.3% of all state in max_migration reaches 0"


def test_other_number_of_buckets_is_named_where_items_do_not_fit():
    """Three like items in two buckets: 2 and 1. In three buckets all is even."""
    (hot,) = explain_hot_buckets(make_plan(keys([1, 1, 1], [0, 0, 1])))

    assert hot.binds == ("items",)
    assert hot.helps == ("N = 1 reaches 0, budgets aside",)


BUDGET = re.compile(r"\+([\d.]+)% of all state in max_migration")
TABLE = re.compile(r"\+(\d+) routes in max_routes")
PARTS = re.compile(r"item (\d+) into (\d+)")
CAPACITY = re.compile(r"capacity ([\d.]+) for bucket (\d+)")


def as_advised(request, sentence):
    """The request with what the sentence asks for, parsed from its words alone; None where N or pins change."""
    budgets = request.budgets
    if "without max_migration" in sentence:
        budgets = Budgets(max_imbalance=budgets.max_imbalance)
    if more := BUDGET.search(sentence):
        share = budgets.migration_limit(request.total_state) / request.total_state + float(more[1]) / 100
        budgets = dataclasses.replace(budgets, max_migration=min(1.0, share))
    if more := TABLE.search(sentence):
        budgets = dataclasses.replace(budgets, max_routes=budgets.max_routes + int(more[1]))
    request = dataclasses.replace(request, budgets=budgets)
    if parts := PARTS.findall(sentence):
        cut = {int(item): tuple(even_weights(int(n))) for item, n in parts}
        return PartedRequest(whole=request, today={}, cut=cut).request
    if wider := CAPACITY.search(sentence):
        capacity = request.capacity.copy()
        capacity[int(wider[2])] = float(wider[1])
        return dataclasses.replace(request, capacity=capacity)
    return None if sentence.startswith(("N =", "unpin", "finer")) else request


@pytest.mark.parametrize("seed", range(8))
def test_advice_is_true(seed):
    """Planning with exactly what a sentence says comes to the θ it says, or below: the numbers are parsed and planned with."""
    rng = np.random.default_rng(seed)
    cost, owner = rng.zipf(1.6, 16).clip(max=60), rng.integers(0, 2, 16)
    plan = make_plan(
        keys(cost, owner, n_buckets=4, state=rng.exponential(9, 16), max_routes=3, max_migration=0.1)
    )
    hot = explain_hot_buckets(plan)
    assert hot

    for sentence in hot[0].helps:
        request = as_advised(plan.request, sentence)
        if request is not None:
            said = float(re.search(r"reach(?:es)? ([\d.e+-]+)", sentence)[1])
            assert said < plan.imbalance
            assert make_plan(request).imbalance <= said * (1 + 1e-3) + 1e-4


def test_budget_that_binds_is_named_with_how_much_more_is_needed():
    """Two of ten must move and one may: ten percent more would do."""
    plan = make_plan(keys([1] * 10, [0] * 7 + [1] * 3, max_migration=0.1))
    (hot,) = explain_hot_buckets(plan)

    assert hot.binds == ("max_migration",)
    assert hot.helps == ("+10.0% of all state in max_migration reaches 0",)


def test_table_that_binds_is_named_with_how_many_routes_are_needed():
    """No routes: nothing moves. Two would do."""
    (hot,) = explain_hot_buckets(make_plan(keys([1] * 10, [0] * 7 + [1] * 3, max_routes=0)))

    assert hot.binds == ("max_routes",)
    assert hot.helps == ("+2 routes in max_routes reach 0",)


def test_pins_that_bind_are_counted():
    """Everything in the hot bucket is pinned."""
    request = keys([1] * 10, [0] * 7 + [1] * 3, is_pinned=[True] * 7 + [False] * 3)
    (hot,) = explain_hot_buckets(make_plan(request))

    assert "pins" in hot.binds
    assert "7 are pinned" in hot.helps[-1]


def test_nothing_is_hot_once_the_goal_is_reached():
    """An explanation of what is not there would only confuse."""
    assert explain_hot_buckets(make_plan(keys([1, 1], [0, 1]))) == ()


# --- frontier -----------------------------------------------------------------------------------------------


def test_frontier_says_what_each_budget_buys():
    """Ten equal keys, seven against three: each tenth of the state evens out 0.2."""
    frontier = trace_frontier(keys([1] * 10, [0] * 7 + [1] * 3, max_imbalance=0.3))

    assert [point.budget for point in frontier.by_migration] == [0, 0.01, 0.02, 0.05, 0.1, 0.2, None]
    assert [point.imbalance for point in frontier.by_migration] == pytest.approx(
        [0.4, 0.4, 0.4, 0.4, 0.2, 0, 0]
    )
    assert [point.budget for point in frontier.by_routes] == [0, 2, 8, None]
    assert [point.imbalance for point in frontier.by_routes] == pytest.approx([0.4, 0, 0, 0])


def test_frontier_never_rises_and_keeps_its_budgets():
    """More budget cannot make it worse, and no point costs more than its budget."""
    request = next(small_cases(1)).request
    frontier = trace_frontier(request)

    for points in (frontier.by_migration, frontier.by_routes):
        imbalances = [point.imbalance for point in points]
        assert imbalances == sorted(imbalances, reverse=True)
    for point in frontier.by_migration[:-1]:
        assert point.migration <= point.budget * request.total_state * (1 + 1e-9)
    for point in frontier.by_routes[1:-1]:
        assert point.n_routes <= point.budget


def test_frontier_counts_every_plan_that_keeps_a_budget():
    """The plan itself was made with care: no point that it keeps may be less even."""
    plan = make_plan(keys([5, 4, 3, 3, 2, 2, 1], [0, 0, 0, 0, 1, 1, 2], max_migration=0.4, max_imbalance=0.0))
    light = trace_frontier(plan.request)
    frontier = trace_frontier(plan.request, known=[dataclasses.replace(plan, owner=plan.owner)])

    for point, alone in zip(frontier.by_migration, light.by_migration, strict=True):
        assert point.imbalance <= alone.imbalance
        if point.budget is None or plan.migration <= point.budget * plan.request.total_state:
            assert point.imbalance <= plan.imbalance


# --- certificates -------------------------------------------------------------------------------------------


def test_certificate_of_a_plan_that_meets_its_bounds():
    """One key must move, and one does."""
    certificate = certify(make_plan(keys([1] * 10, [0] * 6 + [1] * 4)))

    assert certificate.is_optimal
    assert certificate.migration_ratio == 1.0
    assert certificate.proof == "the goal is reached; none as even moves less: the bound is met"


def test_certificate_says_no_more_than_it_knows():
    """Within the goal plans may well be more even; where the goal is out of reach, none is."""
    reached = certify(make_plan(keys([3, 3, 2, 2], [0, 0, 0, 1], max_imbalance=0.2)))
    out_of_reach = certify(make_plan(keys([3, 2], [0, 0], n_buckets=2, max_imbalance=0.0)))

    assert reached.proof.startswith("the goal is reached")
    assert out_of_reach.proof.startswith("no plan is more even: the bound is met")


def test_certificate_never_proves_what_is_not_so():
    """A proof for each plan whose migration is not the least would be a lie: checked against the exact optimum."""
    n_proven = 0
    for case in list(small_cases(1))[::5]:
        request = dataclasses.replace(
            case.request, budgets=dataclasses.replace(case.request.budgets, max_migration=None)
        )
        optimum = least_migration(request)
        for planner in ("evenkeel", "mixed"):
            plan = make_plan(request, planner)
            if certify(plan).is_optimal:
                n_proven += 1
                assert plan.migration == pytest.approx(optimum)

    assert n_proven >= 1


def test_plan_that_moves_too_much_has_no_proof():
    """The same imbalance with one key more moved."""
    request = keys([1, 1, 1, 1, 1, 1], [0, 0, 0, 0, 1, 1], max_imbalance=0.0)
    best = make_plan(request)
    worse = dataclasses.replace(best, owner=np.array([1, 1, 0, 0, 0, 1]))

    assert certify(best).is_optimal
    assert not certify(worse).is_optimal
    assert certify(worse).migration_ratio == pytest.approx(3.0)


# --- payback ------------------------------------------------------------------------------------------------


def test_payback_weighs_both_sides_in_cost():
    """The worked example: 2,000 saved against 100 spent."""
    request = keys([750, 250], [0, 0], n_buckets=2, state=[90, 10])
    request = dataclasses.replace(request, cost=[750, 250], payback=PaybackRule(n_windows=5))
    payback = weigh(request, np.array([0, 1]))

    assert payback.saved == pytest.approx(5 * (1.0 - 0.5) * 1_000)
    assert payback.spent == pytest.approx(0.1 * 1_000)
    assert payback.is_worth_it


def test_plan_that_does_not_pay_says_so_in_one_unit():
    """All state is in the one key that moves, and moving is dear."""
    request = keys(
        [6, 6, 4, 4], [0, 0, 1, 1], state=[100, 100, 100, 100], payback=PaybackRule(n_windows=1, price=1.0)
    )
    plan = make_plan(request)

    assert plan.reasons[-1].startswith("the plan is not worth it: saves 4 of cost over 1 windows")
    assert plan.reasons[-1].endswith("takes 200 of cost to move")


@pytest.mark.parametrize(
    ("terms", "message"),
    [
        ({"n_windows": 0}, r"PaybackRule\.n_windows must be a whole number from 1\. Got 0"),
        ({"n_windows": float("nan")}, r"PaybackRule\.n_windows must be a whole number from 1\. Got nan"),
        ({"n_windows": "5"}, r"PaybackRule\.n_windows must be a whole number from 1\. Got '5'"),
        ({"price": "1"}, r"PaybackRule\.price must be a finite number, 0 or more\. Got '1'"),
        ({"price": -1.0}, r"PaybackRule\.price must be a finite number, 0 or more\. Got -1\.0"),
    ],
)
def test_terms_of_payback_are_checked(terms, message):
    """A horizon of nothing never pays, and one of NaN windows would make every plan look not worth it."""
    with pytest.raises(PlanRequestError, match=message):
        PaybackRule(**terms)


def test_one_function_explains_it_all():
    """The report, the command line and the validation say the same because they ask the same."""
    plan = make_plan(keys([1] * 10, [0] * 7 + [1] * 3, max_migration=0.1))
    explanation = explain_plan(plan)

    assert explanation.verdict == plan.verdict
    assert len(explanation.moves) == plan.moved.size
    assert len(explanation.hot_buckets) == 1
    assert explanation.certificate.migration == plan.migration
    assert explanation == explain_plan(plan)
