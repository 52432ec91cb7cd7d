"""Explanations, the frontier, certificates and payback: everything a plan can say about itself."""

import dataclasses

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
from partitioning.payback import weigh
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
    """12 of 16 in one item: 2.25 mean loads of three buckets. Parts, capacity and N that would do are stated."""
    (hot,) = explain_hot_buckets(make_plan(keys([12, 2, 2], [0, 1, 2])))

    assert hot.bucket == 0
    assert hot.heaviest_item == 0
    assert hot.binds == ("item",)
    assert hot.helps[0] == "splitting item 0 into 3 or more"
    assert hot.helps[-1] == "N = 1"


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


# --- certificates -------------------------------------------------------------------------------------------


def test_certificate_of_a_plan_that_meets_its_bounds():
    """One key must move, and one does."""
    certificate = certify(make_plan(keys([1] * 10, [0] * 6 + [1] * 4)))

    assert certificate.is_optimal
    assert certificate.migration_ratio == 1.0
    assert "both bounds are met" in certificate.proof


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
        ({"n_windows": 0}, r"PaybackRule\.n_windows must be 1 or more\. Got 0"),
        ({"price": -1.0}, r"PaybackRule\.price must be a finite number, 0 or more\. Got -1\.0"),
    ],
)
def test_terms_of_payback_are_checked(terms, message):
    """A horizon of nothing never pays."""
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
