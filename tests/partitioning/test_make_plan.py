"""The product's answer: hard limits, never worse than standing still, and a verdict with its reasons."""

import numpy as np
import pytest

from partitioning import PLANNERS, Budgets, Plan, PlanRequest, PlanRequestError, make_plan
from partitioning.fitting import fit_to_limits
from partitioning.move_units import units_between
from partitioning.ranking import Figures, Limits, is_better, measure
from partitioning.request import NO_SLOT
from partitioning.standing_still import clean_table, stand_still


def keys(cost, owner, **given):
    """Keys that all sit at home unless told otherwise, with one unit of state each."""
    budgets = Budgets(
        **{
            name: given.pop(name)
            for name in ("max_imbalance", "max_routes", "max_migration")
            if name in given
        }
    )
    defaults = {
        "state": np.ones(len(cost)),
        "home": owner,
        "n_buckets": max(owner, default=0) + 1,
        "budgets": budgets,
    }
    return PlanRequest.of_keys(cost=cost, owner=owner, **{**defaults, **given})


@pytest.fixture
def answer_with(monkeypatch):
    """Registers a planner that always answers with one placement: what make_plan does to it is the subject."""

    def register(owner):
        def plan_fixed(request):
            return Plan(request=request, owner=owner, planner="fixed")

        monkeypatch.setitem(PLANNERS, "fixed", plan_fixed)

    return register


# --- the four verdicts -------------------------------------------------------------------------------------


def test_even_placement_moves_nothing():
    """Within θ_max there is nothing to gain, however many moves a planner would like to make."""
    plan = make_plan(keys([4, 4, 4.2], [0, 1, 2]))

    assert plan.verdict == "balanced already"
    assert plan.moved.tolist() == []
    assert plan.given_up.tolist() == []
    assert plan.reasons == ("bucket 2 is the hottest with 1.033 mean loads; the goal is 1.08",)


def test_reachable_goal_is_reached(answer_with):
    """The planner's answer stands as it is when it keeps every limit."""
    answer_with([0, 1, 1, 0])
    plan = make_plan(keys([3, 3, 1, 1], [0, 0, 1, 1]), "fixed")

    assert plan.verdict == "reaches the target"
    assert plan.owner.tolist() == [0, 1, 1, 0]
    assert plan.planner == "fixed"
    assert plan.within_budgets
    assert plan.given_up.tolist() == []


def test_goal_out_of_reach_is_no_error():
    """One key of 10 in a mean of 4: the rest is spread as well as it goes, and the key is named."""
    plan = make_plan(keys([10, 1, 1], [0, 0, 0], n_buckets=3))

    assert plan.verdict == "improves"
    assert plan.imbalance == pytest.approx(1.5)
    assert plan.bounds.imbalance == pytest.approx(1.5)
    assert "item 0 alone is 2.5 mean buckets (83.3% of all cost); split it or raise capacity" in plan.reasons


def test_nothing_to_improve_within_the_budgets():
    """A budget of nothing forbids every move; the verdict says so, and the reason names bucket, item and number."""
    plan = make_plan(keys([3, 3, 1], [0, 0, 1], max_migration=0), "mixed")

    assert plan.verdict == "cannot improve within the budgets"
    assert plan.moved.tolist() == []
    assert any(
        "takes at least 1 of state" in reason and "max_migration allows 0" in reason
        for reason in plan.reasons
    )
    assert any(
        "bucket 0 stays hot" in reason and "item 0 with 0.8571 mean" in reason for reason in plan.reasons
    )
    assert any("given up to keep max_migration=0: " in reason for reason in plan.reasons)


def test_single_hot_key_alone_is_not_asked_about_again():
    """A placement at the bound cannot be improved by anyone: nothing moves, even from a planner that would."""
    plan = make_plan(keys([10, 1, 1], [0, 1, 2]), "llfd")

    assert plan.verdict == "cannot improve within the budgets"
    assert plan.moved.tolist() == []


def test_coarse_items_are_named_as_the_obstacle():
    """Three equal items in two buckets: no item is too big, yet no placement is even."""
    plan = make_plan(keys([2, 2, 2], [0, 0, 1]))

    assert plan.verdict == "cannot improve within the budgets"
    assert any(
        "no placement of these 3 items in 2 buckets has an imbalance below 0.3333" in r for r in plan.reasons
    )


# --- hard limits ----------------------------------------------------------------------------------------------


def test_moves_are_given_up_by_relief_per_state(answer_with):
    """Limit 5: item 1 relieves 3 for 1 of state and stays in the plan, items 0 (6) and 2 (9) are too dear."""
    answer_with([1, 1, 2, 0, 0])
    request = keys([6, 3, 3, 2, 2], [0] * 5, state=[6, 1, 9, 5, 5], n_buckets=3, max_migration=5)
    plan = make_plan(request, "fixed")

    assert plan.owner.tolist() == [0, 1, 0, 0, 0]
    assert plan.given_up.tolist() == [0, 2]
    assert plan.migration <= 5
    assert plan.verdict == "improves"


def test_moves_are_given_up_by_relief_per_route(answer_with):
    """One route: the key that carries most load away keeps its move."""
    answer_with([0, 1, 1, 1])
    plan = make_plan(keys([5, 1, 3, 1], [0] * 4, n_buckets=2, max_routes=1), "fixed")

    assert plan.owner.tolist() == [0, 0, 1, 0]
    assert plan.n_routes == 1
    assert plan.given_up.tolist() == [1, 3]
    assert "moves given up to keep max_routes=1: 2; the largest is item 1 of bucket 0" in plan.reasons[-1]


def test_exchange_is_kept_or_given_up_whole(answer_with):
    """Item 1 makes room for item 0: the level counts what a bucket receives, so both moves stay."""
    answer_with([1, 0, 0, 1])
    request = keys([6, 3, 4, 1], [0, 1, 0, 1], max_imbalance=0.0, max_migration=2, max_routes=2)
    plan = make_plan(request, "fixed")

    assert plan.load.tolist() == [7, 7]
    assert plan.owner.tolist() == [1, 0, 0, 1]


def test_worse_answer_is_refused(answer_with):
    """A planner may answer with anything; a plan is never worse than standing still."""
    answer_with([0, 0, 0, 0])
    plan = make_plan(keys([3, 2, 2, 1], [0, 0, 0, 1]), "fixed")

    assert plan.moved.tolist() == []
    assert plan.verdict == "cannot improve within the budgets"


def test_answer_as_even_as_standing_still_is_refused(answer_with):
    """Moving state for the same imbalance is waste."""
    answer_with([1, 1, 1, 0])
    plan = make_plan(keys([3, 2, 2, 1], [0, 0, 0, 1]), "fixed")

    assert plan.moved.tolist() == []


def test_full_table_is_cleaned_when_migration_allows():
    """Three routes where one is allowed: keys go home, the ones that move least state first."""
    request = keys(
        [2, 2, 2, 2], [0, 0, 1, 1], home=[1, 1, 0, 1], state=[1, 2, 4, 1], max_routes=1, max_imbalance=1.0
    )
    plan = make_plan(request, "stay")

    assert plan.owner.tolist() == [1, 1, 1, 1]
    assert plan.migration == 3
    assert plan.within_budgets
    assert plan.verdict == "reaches the target"


def test_table_that_cannot_be_cleaned_is_reported():
    """Without any migration a table over its limit stays: the plan stands still and says what would help."""
    plan = make_plan(keys([1, 1], [0, 1], home=[1, 0], max_routes=1, max_migration=0))

    assert plan.moved.tolist() == []
    assert not plan.within_budgets
    assert plan.verdict == "cannot improve within the budgets"
    sentence = "the table has 2 routes, 2 if nothing moves; max_routes allows 1"
    assert any(reason.startswith(sentence) for reason in plan.reasons)


def test_migration_limit_is_never_traded_for_routes():
    """The table is over its limit, and mending it would take more state than may move: neither limit gives way."""
    request = keys([1] * 4, [0, 0, 1, 1], home=[1, 1, 0, 0], state=[10] * 4, max_routes=0, max_migration=25)
    plan = make_plan(request, "stay")

    assert plan.migration <= 25
    assert plan.n_routes <= 4


@pytest.mark.parametrize("planner", ["stay", "mixed"])
def test_bucket_that_goes_away_empties_whatever_the_budget(planner):
    """Forced moves are no choice: they are made, the broken limit is named, and nothing else moves."""
    request = keys(
        [1, 1, 1, 1],
        [0, 1, 2, 2],
        home=[0, 1, 0, 1],
        home_before=[0, 1, 2, 2],
        n_buckets=2,
        n_buckets_before=3,
        max_migration=0,
    )
    plan = make_plan(request, planner)

    assert plan.owner.tolist() == [0, 1, 0, 1]
    assert not plan.within_budgets
    assert plan.verdict == "balanced already"
    assert (
        "buckets 2 to 2 go away and hold 2 of state; all of it must move, though max_migration allows 0"
        in plan.reasons
    )


def test_growth_is_held_back_by_the_migration_limit():
    """Two keys would follow their home into the new bucket; one unit may move, so the larger stays, with a route."""
    request = keys(
        [1, 1, 1, 1],
        [0, 0, 1, 1],
        home=[2, 0, 2, 1],
        home_before=[0, 0, 1, 1],
        state=[3, 1, 1, 1],
        n_buckets=3,
        n_buckets_before=2,
        max_migration=2,
        max_imbalance=0.5,
    )
    plan = make_plan(request, "stay")

    assert plan.owner.tolist() == [0, 0, 2, 1]
    assert plan.n_routes == 1
    assert plan.given_up.tolist() == [0]
    assert plan.within_budgets


def test_growth_holds_slots_back_without_routes():
    """A slot that stays needs no route, and takes the keys that sit in it along."""
    request = PlanRequest.of_items(
        cost=[1, 1, 1],
        state=[2, 2, 1],
        owner=[0, 0, 0],
        home=[1, 1, 0],
        home_before=[0, 0, 0],
        n_buckets=2,
        n_buckets_before=1,
        is_slot=[True, False, True],
        slot=[NO_SLOT, 0, NO_SLOT],
        budgets=Budgets(max_migration=3, max_imbalance=1),
    )
    plan = make_plan(request, "stay")

    assert plan.owner.tolist() == [0, 0, 0]
    assert plan.n_routes == 0
    assert plan.within_budgets


def test_slot_travels_with_its_keys(answer_with):
    """No route is allowed: the slot and the key in it move together or not at all."""
    answer_with([1, 1, 1, 0])
    request = PlanRequest.of_items(
        cost=[2, 2, 1, 4],
        state=[1] * 4,
        owner=[0, 0, 0, 0],
        home=[0] * 4,
        n_buckets=2,
        is_slot=[True, False, False, True],
        slot=[NO_SLOT, 0, NO_SLOT, NO_SLOT],
        budgets=Budgets(max_routes=0),
    )
    plan = make_plan(request, "fixed")

    assert plan.owner.tolist() == [1, 1, 0, 0]
    assert plan.given_up.tolist() == [2]
    assert plan.n_routes == 0


def test_planner_is_asked_again_while_that_helps(monkeypatch):
    """A planner that makes one move at a time still ends where planning again would change nothing."""

    def plan_one_move(request):
        owner = request.start.copy()
        load = np.bincount(owner, weights=request.cost, minlength=request.n_buckets)
        owner[np.flatnonzero(owner == load.argmax())[0]] = load.argmin()
        return Plan(request=request, owner=owner, planner="one_move")

    monkeypatch.setitem(PLANNERS, "one_move", plan_one_move)
    plan = make_plan(keys([1] * 8, [0] * 8, n_buckets=4), "one_move")

    assert plan.load.tolist() == [2, 2, 2, 2]
    assert plan.verdict == "reaches the target"


def test_rounds_share_one_migration_budget(monkeypatch):
    """Asking again must not spend the budget twice."""

    def plan_one_move(request):
        owner = request.start.copy()
        owner[np.flatnonzero(owner == 0)[0]] = 1
        return Plan(request=request, owner=owner, planner="one_move")

    monkeypatch.setitem(PLANNERS, "one_move", plan_one_move)
    plan = make_plan(keys([1] * 8, [0] * 8, n_buckets=2, max_migration=2), "one_move")

    assert plan.migration == 2
    assert plan.verdict == "improves"


def test_later_round_is_fitted_to_what_is_left(monkeypatch):
    """The second answer asks for two more moves where one is left: one of them is made, not none."""

    def plan_more_each_time(request):
        owner = request.start.copy()
        owner[np.flatnonzero(owner == 0)[: 1 + int(owner.sum())]] = 1
        return Plan(request=request, owner=owner, planner="more")

    monkeypatch.setitem(PLANNERS, "more", plan_more_each_time)
    plan = make_plan(keys([1] * 8, [0] * 8, n_buckets=2, max_migration=2), "more")

    assert plan.migration == 2


@pytest.mark.parametrize(
    "request_", [keys([4, 4], [0, 1]), keys([9, 1], [0, 1])], ids=["even", "at-the-bound"]
)
def test_planner_is_not_asked_where_nothing_can_be_gained(request_, monkeypatch):
    """Most windows need no plan; they must not pay for one."""

    def plan_never(request):
        raise AssertionError(request)

    monkeypatch.setitem(PLANNERS, "never", plan_never)

    assert make_plan(request_, "never").moved.tolist() == []


# --- the front door ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("best",), r"make_plan\.planner must be one of evenkeel, stay, .*Got 'best'"),
        (("stay", 3), r"make_plan\.options must be NoneType for planner 'stay'\. Got int\. Leave it out"),
        (("mixed", "fast"), r"make_plan\.options must be \w+ for planner 'mixed'\. Got str"),
    ],
)
def test_bad_call_is_refused(arguments, message):
    """A misspelt planner or another planner's options must not silently plan something else."""
    with pytest.raises(PlanRequestError, match=message):
        make_plan(keys([1], [0]), *arguments)


def test_request_of_another_kind_is_refused():
    """Arrays alone are not a request."""
    with pytest.raises(PlanRequestError, match=r"make_plan\.request must be a PlanRequest\. Got list"):
        make_plan([1, 2, 3])


def test_plan_refuses_an_owner_that_is_no_placement():
    """A planner's slip is found where it happens, not in the migration."""
    with pytest.raises(PlanRequestError, match=r"Plan\.owner must lie in \[0, 1\)\. Got 1 at position 0"):
        Plan(request=keys([1], [0]), owner=np.array([1]), planner="stay")
    with pytest.raises(PlanRequestError, match=r"Plan\.owner must have 1 values"):
        Plan(request=keys([1], [0]), owner=np.array([0, 0]), planner="stay")


def test_plan_cannot_be_changed_through_the_array_it_was_made_of():
    """A plan is checksummed and validated later: it must not change in between."""
    owner = np.array([0, 1])
    plan = Plan(request=keys([1, 1], [0, 1]), owner=owner, planner="stay")
    owner[0] = 1

    assert plan.owner.tolist() == [0, 1]
    with pytest.raises(ValueError, match="read-only"):
        plan.owner[0] = 1


@pytest.mark.parametrize("planner", list(PLANNERS))
@pytest.mark.parametrize(
    "request_",
    [
        pytest.param(keys([], [], n_buckets=3), id="no-keys"),
        pytest.param(keys([5], [0]), id="one-key"),
        pytest.param(keys([5, 1, 1], [0, 0, 0]), id="one-bucket"),
        pytest.param(keys([0, 0, 0], [0, 0, 0], n_buckets=2), id="no-cost"),
        pytest.param(keys([2] * 6, [0, 1] * 3), id="all-equal-and-even"),
        pytest.param(keys([2, 1], [0, 1], n_buckets=9), id="more-buckets-than-keys"),
    ],
)
def test_small_requests_are_answered_by_standing_still(planner, request_):
    """There is nothing to gain in any of these; every planner behind the front door says so."""
    plan = make_plan(request_, planner)

    assert plan.moved.tolist() == []
    assert plan.verdict in {"balanced already", "cannot improve within the budgets"}
    assert plan.reasons


# --- ranking and fitting on their own ----------------------------------------------------------------------------


def figures(imbalance, migration, routes):
    return Figures(imbalance=imbalance, migration=migration, routes=routes)


LIMITS = Limits(imbalance=0.1, migration=10, routes=5, still=figures(1.0, 0, 8))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param(figures(2.0, 9, 5), figures(1.0, 0, 6), id="fewer-broken-limits-before-imbalance"),
        pytest.param(figures(0.5, 9, 5), figures(0.6, 0, 0), id="lower-imbalance-before-cost"),
        pytest.param(figures(0.5, 9, 4), figures(0.5, 9, 5), id="fewer-routes-at-the-same-cost"),
        pytest.param(figures(0.1, 8, 5), figures(0.01, 9, 5), id="within-the-goal-cost-decides"),
        pytest.param(figures(0.5, 9, 6), figures(0.5, 0, 7), id="over-its-limit-the-table-is-worth-state"),
        pytest.param(figures(0.4, 9, 7), figures(0.5, 0, 7), id="lower-imbalance-with-the-table-still-over"),
    ],
)
def test_ranking_is_strict(one, other):
    """One is better than the other, never the other way round, and nothing is better than itself."""
    assert is_better(one, other, LIMITS)
    assert not is_better(other, one, LIMITS)
    assert not is_better(one, one, LIMITS)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param(figures(0.0, 11, 5), figures(1.0, 0, 8), id="breaks-what-standing-still-keeps"),
        pytest.param(figures(0.0, 0, 9), figures(1.0, 0, 8), id="breaks-more-than-standing-still"),
        pytest.param(figures(0.5, 1, 4), figures(0.5, 0, 5), id="state-for-routes-within-the-limit"),
        pytest.param(figures(0.6, 1, 6), figures(0.5, 0, 7), id="partly-mended-table-for-imbalance"),
        pytest.param(figures(0.4, 0, 8), figures(0.5, 0, 7), id="larger-table-over-its-limit-for-imbalance"),
        pytest.param(figures(0.5 - 1e-12, 1, 5), figures(0.5, 0, 5), id="rounding-is-no-gain"),
    ],
)
def test_ranking_refuses(one, other):
    """What looks like a gain and is none."""
    assert not is_better(one, other, LIMITS)


def test_ranking_never_mends_one_limit_at_the_cost_of_the_other():
    """A change of N breaks both limits: the table may be mended, but not by moving still more state."""
    limits = Limits(imbalance=0.1, migration=10, routes=5, still=figures(1.0, 12, 8))

    assert is_better(figures(1.0, 12, 5), limits.still, limits)
    assert not is_better(figures(1.0, 13, 5), limits.still, limits)
    assert is_better(figures(2.0, 11, 8), limits.still, limits)


def test_standing_still_is_start_when_limits_hold():
    """No mending where nothing is broken."""
    request = keys([1, 2], [0, 1])
    owner, measured = stand_still(request, Limits.of_request(request))

    assert owner is request.start
    assert measured == measure(request, request.start)


def test_cleaning_prefers_giving_moves_back():
    """A routed key that goes home to where it came from takes migration away instead of adding it."""
    request = keys([1, 1, 1], [0, 0, 0], home=[1, 0, 0], state=[1, 5, 1], n_buckets=2, max_routes=1)
    by_state, by_cost = clean_table(request, np.array([0, 1, 0]), Limits.of_request(request))

    assert by_state.tolist() == [0, 0, 0]
    assert by_cost.tolist() == [0, 0, 0]
    assert clean_table(request, request.owner, Limits.of_request(request)) == []


def test_cleaning_stops_where_migration_does():
    """Two keys should go home, the limit lets one travel; one that moves anyway travels for nothing more."""
    request = keys(
        [1] * 3, [0, 0, 0], home=[1, 1, 1], state=[10, 9, 5], n_buckets=3, max_routes=0, max_migration=14
    )
    by_state, by_cost = clean_table(request, np.array([0, 0, 2]), Limits.of_request(request))

    assert by_state.tolist() == [0, 1, 1]
    assert by_cost.tolist() == [0, 1, 1]


def test_slots_are_held_back_before_keys():
    """Either would do, the key even with more to spare: but a slot that stays needs no route."""
    request = PlanRequest.of_items(
        cost=[1, 1],
        state=[5, 4],
        owner=[0, 0],
        home=[1, 1],
        home_before=[0, 0],
        n_buckets=2,
        n_buckets_before=1,
        is_slot=[False, True],
        slot=[NO_SLOT, NO_SLOT],
        budgets=Budgets(max_migration=5),
    )
    owner, measured = stand_still(request, Limits.of_request(request))

    assert owner.tolist() == [1, 0]
    assert measured.routes == 0


def test_units_of_moves_know_what_they_add():
    """A slot with its key is one unit; a key it leaves behind, and one that comes back, count at the right one."""
    request = PlanRequest.of_items(
        cost=[1, 2, 4, 8],
        state=[1, 2, 4, 8],
        owner=[0, 0, 0, 0],
        home=[0, 0, 0, 0],
        n_buckets=2,
        is_slot=[True, False, False, False],
        slot=[NO_SLOT, 0, 0, NO_SLOT],
    )
    units = units_between(request, np.array([0, 0, 0, 1]), np.array([1, 1, 0, 0]))

    assert units.source.tolist() == [0, 1]
    assert units.target.tolist() == [1, 0]
    assert units.cost.tolist() == [3, 8]
    assert units.state.tolist() == [3, -8]
    assert units.routes.tolist() == [1, -1]
    assert units.make(np.array([True, False])).tolist() == [1, 1, 0, 1]
    assert units.take(np.array([1])).make(np.array([True])).tolist() == [0, 0, 0, 0]


def fitted(request, answer):
    return fit_to_limits(
        request, Limits.of_request(request), still=request.start, answer=np.array(answer)
    ).tolist()


def test_fitting_counts_what_a_bucket_receives():
    """Item 0 relieves bucket 0 and overloads bucket 1, unless item 2 makes room; the dear move of item 5 goes."""
    request = keys(
        [6, 4, 3, 1, 7, 0], [0, 0, 1, 1, 2, 2], state=[1, 1, 1, 1, 1, 1], max_imbalance=0, max_migration=2
    )

    assert fitted(request, [1, 0, 0, 1, 2, 0]) == [1, 0, 0, 1, 2, 2]


def test_fitting_keeps_a_cleaning_move_that_makes_room():
    """The table is full: item 1 may only leave home because item 2, on a cool bucket, goes back to its own."""
    request = PlanRequest.of_items(
        cost=[5, 3, 1, 3, 3, 0],
        state=[1, 1, 1, 1, 1, 9],
        owner=[0, 0, 1, 1, 2, 1],
        home=[0, 0, 2, 1, 2, 1],
        n_buckets=3,
        is_slot=[False] * 5 + [True],
        slot=[NO_SLOT] * 6,
        budgets=Budgets(max_imbalance=0.4, max_routes=1, max_migration=2),
    )

    assert fitted(request, [0, 1, 2, 1, 2, 0]) == [0, 1, 2, 1, 2, 1]


def test_fitting_moves_a_slot_with_the_key_in_it():
    """The slot alone would be relief enough, but the key left behind would need a route, and none is allowed."""
    request = PlanRequest.of_items(
        cost=[2, 2, 6, 2, 0],
        state=[1, 1, 1, 1, 9],
        owner=[0, 0, 0, 1, 0],
        home=[0, 0, 0, 1, 0],
        n_buckets=2,
        is_slot=[True, False, True, True, True],
        slot=[NO_SLOT, 0, NO_SLOT, NO_SLOT, NO_SLOT],
        budgets=Budgets(max_imbalance=0.34, max_routes=0, max_migration=2),
    )

    assert fitted(request, [1, 1, 0, 1, 1]) == [1, 1, 0, 1, 0]


def test_fitting_sends_a_key_home_that_the_answer_left_routed():
    """The answer is one route over: the light routed key goes home, and the balance stays."""
    request = keys([4, 4, 1], [0, 0, 1], home=[0, 0, 0], max_routes=1, max_imbalance=0.12)

    assert fitted(request, [0, 1, 1]) == [0, 1, 0]


@pytest.mark.parametrize("n_allowed", [1, 3, 5])
def test_fitting_uses_the_whole_limit(n_allowed):
    """Equal items: as many moves are kept as the limit has room for, not one less."""
    request = keys([1] * 16, [0] * 16, n_buckets=2, max_migration=n_allowed / 16)

    assert sum(fitted(request, [0] * 8 + [1] * 8)) == n_allowed
