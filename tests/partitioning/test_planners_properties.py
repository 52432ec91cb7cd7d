"""What must hold for every planner in PLANNERS, whatever the request, and for make_plan around each of them."""

import dataclasses
import hashlib
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from partitioning import PLANNERS, Budgets, PlanRequest, make_plan
from partitioning.verdict import VERDICTS
from tests.partitioning.strategies import no_limits, requests

every_planner = pytest.mark.parametrize("planner", list(PLANNERS))
ROOT = Path(__file__).parents[2]
few = settings(max_examples=8, deadline=None, derandomize=True)


def planned_on(plan):
    """The request of someone who plans on the result: the same items where the plan put them."""
    request = plan.request
    return dataclasses.replace(
        request, owner=plan.owner, n_buckets_before=request.n_buckets, home_before=request.home
    )


def scaled(request, *, cost=1.0, state=1.0):
    return dataclasses.replace(request, cost=request.cost * cost, state=request.state * state)


def without_amounts(request):
    """The same request with no migration limit in the unit of state: a share means the same in every unit."""
    if (request.budgets.max_migration or 0) <= 1:
        return request
    return dataclasses.replace(request, budgets=dataclasses.replace(request.budgets, max_migration=None))


@every_planner
@given(request_=requests())
@few
def test_every_item_is_placed_once(planner, request_):
    """Conservation: one bucket an item, all of them exist, all cost is somewhere, and the request is untouched."""
    before = [request_.cost.copy(), request_.state.copy(), request_.owner.copy(), request_.home.copy()]
    for plan in (PLANNERS[planner](request_), make_plan(request_, planner)):
        assert plan.owner.shape == (request_.n_items,)
        assert plan.owner.dtype == np.int64
        assert np.all((plan.owner >= 0) & (plan.owner < request_.n_buckets))
        assert plan.load.sum() == pytest.approx(request_.cost.sum())
        assert plan.planner == planner
        assert plan.verdict in VERDICTS
        causes = np.concatenate([plan.churn.change_of_n, plan.churn.balance, plan.churn.cleaning])
        assert sorted(causes.tolist()) == plan.moved.tolist()
    for array, copy in zip(
        (request_.cost, request_.state, request_.owner, request_.home), before, strict=True
    ):
        assert np.array_equal(array, copy)


@every_planner
@given(request_=requests())
@few
def test_bounds_are_never_above_what_a_planner_reached(planner, request_):
    """A bound that a plan beats is no bound."""
    for plan in (PLANNERS[planner](request_), make_plan(request_, planner)):
        assert plan.bounds.imbalance <= plan.imbalance
        assert plan.bounds.migration <= plan.migration
        assert plan.bounds.routes <= plan.n_routes


@every_planner
@given(request_=requests())
@few
def test_hard_limits_are_kept_and_standing_still_is_never_beaten(planner, request_):
    """The two promises users rely on; only what standing still breaks by itself may stay broken, by no more."""
    still, plan = PLANNERS["stay"](request_), make_plan(request_, planner)
    limit = request_.budgets.migration_limit(request_.total_state)

    assert plan.migration <= max(limit, still.migration)
    assert plan.n_routes <= max(request_.budgets.route_limit(), still.n_routes)
    if still.within_budgets:
        assert plan.within_budgets
        assert plan.imbalance <= still.imbalance
    if still.within_budgets and still.verdict == "balanced already":
        assert np.array_equal(plan.owner, still.owner)
    assert np.array_equal(plan.owner[plan.given_up], request_.owner[plan.given_up])
    assert plan.reasons


@every_planner
@given(request_=requests(change_of_n=False))
@few
def test_nothing_moves_for_nothing(planner, request_):
    """While N stays, every plan that moves state lowers θ, or mends a table that is over its limit."""
    still, plan = PLANNERS["stay"](request_), make_plan(request_, planner)

    if plan.moved.size:
        assert plan.imbalance < still.imbalance or plan.n_routes < still.n_routes
        assert plan.imbalance < still.imbalance or not still.within_budgets


@every_planner
@given(request_=requests(change_of_n=False), max_routes=st.integers(0, 5))
@few
def test_table_always_fits_without_a_migration_limit(planner, request_, max_routes):
    """Every key can go home: only ``max_migration`` can be a reason to keep too many routes."""
    request_ = dataclasses.replace(request_, budgets=Budgets(max_imbalance=0.08, max_routes=max_routes))

    assert make_plan(request_, planner).n_routes <= max_routes


@every_planner
@given(request_=requests())
@few
def test_planning_on_a_result_moves_nothing(planner, request_):
    """Idempotence, as promised: a reached target, or no limit on migration."""
    plan = make_plan(request_, planner)
    again = make_plan(planned_on(plan), planner)

    if request_.budgets.max_migration is None or plan.verdict in {"balanced already", "reaches the target"}:
        assert again.moved.tolist() == []


@every_planner
@given(request_=requests(budgets=no_limits, max_items=10), power=st.integers(-20, 20))
@few
def test_scale_of_cost_and_state_changes_no_decision(planner, request_, power):
    """Rows or thousands of rows, bytes or megabytes: the unit is the user's, the plan is the same."""
    factor = 2.0**power
    answer, plan = PLANNERS[planner](request_), make_plan(request_, planner)
    for other in (scaled(request_, cost=factor), scaled(request_, state=factor)):
        assert np.array_equal(answer.owner, PLANNERS[planner](other).owner)
        assert np.array_equal(plan.owner, make_plan(other, planner).owner)


@every_planner
@given(request_=requests(max_items=10), factor=st.sampled_from([3.0, 10.0, 0.1]))
@few
def test_units_that_round_change_no_decision(planner, request_, factor):
    """A factor that is no power of two rounds every amount anew: no planner may decide by the last bit of a sum."""
    request_ = without_amounts(request_)
    answer = PLANNERS[planner](request_).owner.tolist()

    assert PLANNERS[planner](scaled(request_, cost=factor)).owner.tolist() == answer
    assert PLANNERS[planner](scaled(request_, state=factor)).owner.tolist() == answer


@every_planner
@given(request_=requests())
@few
def test_same_request_gives_the_same_plan(planner, request_):
    """Retries and reruns must come to the same plan, or they would undo each other."""
    copy = dataclasses.replace(request_)

    assert np.array_equal(PLANNERS[planner](request_).owner, PLANNERS[planner](copy).owner)
    first, second = make_plan(request_, planner), make_plan(copy, planner)
    assert np.array_equal(first.owner, second.owner)
    assert np.array_equal(first.given_up, second.given_up)
    assert first.reasons == second.reasons


def digest_of_plans():
    """One digest over the plans of all planners on a skewed request with ties."""
    rng = np.random.default_rng(7)
    home = rng.integers(0, 6, 40)
    request = PlanRequest.of_keys(
        cost=rng.zipf(1.4, 40).clip(max=500),
        state=rng.integers(0, 50, 40),
        owner=np.where(rng.random(40) < 0.1, rng.integers(0, 6, 40), home),
        home=home,
        n_buckets=6,
        budgets=Budgets(max_routes=10, max_migration=0.2),
    )
    digest = hashlib.sha256()
    for planner in PLANNERS:
        digest.update(PLANNERS[planner](request).owner.tobytes())
        digest.update(make_plan(request, planner).owner.tobytes())
    return digest.hexdigest()


@pytest.mark.long
def test_another_process_comes_to_the_same_plans():
    """Hash seeds and memory addresses differ between processes; plans must not."""
    program = "from tests.partitioning import test_planners_properties as t; print(t.digest_of_plans())"
    other = subprocess.run(
        [sys.executable, "-c", program],
        cwd=ROOT,
        env={"PYTHONHASHSEED": "12345"},
        capture_output=True,
        check=True,
        text=True,
    )

    assert other.stdout.strip() == digest_of_plans()
