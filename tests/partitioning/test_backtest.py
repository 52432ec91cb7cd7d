"""Replays of windows that are over: true to the function, out of sample, and the same every time."""

import dataclasses

import numpy as np
import pytest

from partitioning import Budgets, make_plan
from partitioning.backtest import MIN_EDGE, Replays, run_backtest
from partitioning.errors import ForecastError
from partitioning.forecast import ForecastOptions
from partitioning.function import PartitioningFunction
from partitioning.hashing import slots_of
from partitioning.item_forecast import CHOSEN, LAST, forecast_items, forecasts_for
from partitioning.item_windows import ItemWindows
from partitioning.measures import load_per_bucket, overload
from partitioning.payback import weigh
from partitioning.replay import Contender, Setting, replay
from partitioning.request import PlanRequest

N_SLOTS, N_KEYS, N_WINDOWS, N_BUCKETS = 64, 40, 8, 4
HASH = PartitioningFunction.initial(key_type="bigint", n_buckets=N_BUCKETS, n_slots=N_SLOTS)
MIXED = Contender(planner="mixed", forecast=LAST)
EVENKEEL = Contender(planner="evenkeel", forecast=LAST)


def some_windows(seed=0, drift=0.4):
    """Keys that walk at random, the heaviest half of which each window tracks."""
    rng = np.random.default_rng(seed)
    cost = (
        200 * np.arange(1, N_KEYS + 1) ** -0.7 * np.exp(rng.normal(0, drift, (N_WINDOWS, N_KEYS)).cumsum(0))
    )
    is_tracked = cost >= np.median(cost, axis=1, keepdims=True)
    key_slot = slots_of(list(range(N_KEYS)), "bigint", N_SLOTS)
    slots = rng.poisson(5, (N_WINDOWS, N_SLOTS)).astype(float)
    for window in range(N_WINDOWS):
        np.add.at(slots[window], key_slot[~is_tracked[window]], cost[window, ~is_tracked[window]])
    keys = np.where(is_tracked, cost, np.nan)
    return ItemWindows(
        slot_cost=slots, slot_state=10 * slots, key_cost=keys, key_state=10 * keys, key_slot=key_slot
    )


def setting_of(windows, **budgets):
    given = {"max_imbalance": 0.05, "max_routes": 12, "max_migration": 0.2, **budgets}
    return Setting(windows=windows, home=HASH.slots, n_buckets=N_BUCKETS, budgets=Budgets(**given))


def test_history_keeps_the_cost_of_every_window():
    """A key that is tracked now and was not then is in its slot then: nothing is counted twice or dropped."""
    windows = some_windows()

    for window in range(N_WINDOWS):
        history = windows.history(window, n_windows=5).cost
        first = max(0, window - 4)
        total = windows.slot_cost[first : window + 1].sum(1) + np.nansum(
            windows.key_cost[first : window + 1], 1
        )
        np.testing.assert_allclose(np.nan_to_num(history).sum(1), total)
        np.testing.assert_array_equal(history[-1], windows.cost(window))


def test_replay_is_what_the_function_does():
    """The arrays of the replay stand for routes over slots: the real function comes to the same θ, routes and migration."""
    windows, setting = some_windows(1), setting_of(some_windows(1), max_routes=None)
    score = replay(setting, EVENKEEL, windows.cost)

    keys = windows.tracked(0).tolist()
    slots = np.concatenate([np.full(N_SLOTS, -1), windows.key_slot[keys]])
    home = np.concatenate([HASH.slots, HASH.buckets_of(keys)]).astype(np.int64)
    request = PlanRequest.of_items(
        cost=windows.cost(0), state=windows.state(0), owner=home, home=home, n_buckets=N_BUCKETS, is_slot=slots < 0,
        slot=slots, budgets=setting.budgets,
    )  # fmt: skip
    plan = make_plan(request)
    function = HASH.with_changes(
        slots=dict(enumerate(plan.owner[:N_SLOTS].tolist())),
        routes=dict(zip(keys, plan.owner[N_SLOTS:].tolist(), strict=True)),
    )
    places = np.concatenate([function.slots, function.buckets_of(windows.tracked(1).tolist())]).astype(
        np.int64
    )

    assert plan.n_routes > 0
    assert score.imbalance[0] == overload(load_per_bucket(windows.cost(1), places, N_BUCKETS))
    assert score.n_routes[0] == function.n_routes
    assert score.migration[0] == plan.migration / request.total_state


def test_payback_is_the_gates_rule_on_what_was_realised():
    """If the load stays as it is the gate's promise comes true: windows until paid are its spending over what it saves in one."""
    windows = two_windows([8, 4, 2, 2, 0, 0], [8, 4, 2, 2, 0, 0])
    home = np.array([0, 0, 0, 1, 1, 1])
    setting = Setting(windows=windows, home=home, n_buckets=2, budgets=Budgets(max_imbalance=0.05))
    request = PlanRequest.of_items(
        cost=windows.cost(0), state=windows.state(0), owner=home, home=home, n_buckets=2, is_slot=np.ones(6, dtype=bool),
        slot=np.full(6, -1), budgets=setting.budgets,
    )  # fmt: skip
    gate = weigh(request, make_plan(request).owner)

    score = replay(setting, EVENKEEL, windows.cost)

    assert gate.spent > 0
    assert score.payback == pytest.approx(gate.spent / (gate.saved / gate.n_windows))


def test_moves_that_made_it_worse_are_never_paid():
    """The load turned round: every window of so uneven a table costs more. Without moves there is nothing to pay."""
    windows = two_windows([8, 8, 0, 0], [8, 8, 16, 0])
    setting = Setting(
        windows=windows, home=np.array([0, 0, 1, 1]), n_buckets=2, budgets=Budgets(max_imbalance=0.05)
    )

    assert replay(setting, EVENKEEL, windows.cost).payback is None
    assert replay(setting, Contender(planner="stay", forecast=LAST), windows.cost).payback == 0.0


def two_windows(*costs):
    """Slots alone, each with ten times its first cost and a little more of state."""
    slots = np.array(costs, dtype=float)
    none = np.zeros((2, 0))
    return ItemWindows(
        slot_cost=slots, slot_state=np.repeat(10 * slots[:1] + 1, 2, axis=0), key_cost=none, key_state=none,
        key_slot=np.zeros(0, dtype=np.int64),
    )  # fmt: skip


@pytest.mark.parametrize("planner", ["evenkeel", "mixed", "min_table"])
@pytest.mark.parametrize("seed", range(2))
def test_replay_keeps_the_budgets(planner, seed):
    """A contender that breaks what a dataset allows could not be chosen: every plan keeps both hard limits."""
    windows = some_windows(seed)
    score = replay(setting_of(windows), Contender(planner=planner, forecast=LAST), windows.cost)

    assert max(score.migration) <= 0.2 * (1 + 1e-9)
    assert max(score.n_routes) <= 12
    assert len(score.imbalance) == len(score.migration) == len(score.n_routes) == N_WINDOWS - 1


def test_load_that_stays_is_planned_for_once():
    """Every belief about a constant is the truth: no regret, no thrash, and nothing moves after the first plan."""
    one = some_windows()
    same = {
        name: np.repeat(getattr(one, name)[:1], N_WINDOWS, axis=0) for name in ("slot_cost", "slot_state")
    }
    keys = {name: np.repeat(getattr(one, name)[:1], N_WINDOWS, axis=0) for name in ("key_cost", "key_state")}
    setting = setting_of(ItemWindows(**same, **keys, key_slot=one.key_slot), max_migration=None)

    result = run_backtest(
        Replays(setting=setting), [Contender(planner="evenkeel", forecast=CHOSEN)], champion=EVENKEEL
    )

    assert result.regret == 0
    assert {score.imbalance for score in result.scores} == {result.clairvoyant.imbalance}
    assert all(sum(score.migration[1:]) == 0 and score.n_thrash == 0 for score in result.scores)
    assert not result.should_change


def test_forecasts_see_nothing_of_the_window_they_are_judged_by():
    """Out of sample: whatever the last window holds, everything before its own judgement stays as it is."""
    windows = some_windows(2)
    changed = windows.slot_cost.copy()
    changed[-1] *= 7
    other = ItemWindows(
        slot_cost=changed, slot_state=windows.slot_state, key_cost=windows.key_cost, key_state=windows.key_state,
        key_slot=windows.key_slot,
    )  # fmt: skip
    contenders = [Contender(planner="mixed", forecast=name) for name in forecasts_for(None)]

    results = [
        run_backtest(Replays(setting=setting_of(known)), contenders, champion=contenders[0])
        for known in (windows, other)
    ]

    for one, two in zip(*(sorted(r.scores, key=lambda s: str(s.contender)) for r in results), strict=True):
        assert one.imbalance[:-1] == two.imbalance[:-1]
        assert one.migration == two.migration


def test_backtest_is_deterministic_and_ranks_by_net():
    """Two runs on the same windows recommend the same; the champion is always among those judged."""
    setting, contenders = (
        setting_of(some_windows(3)),
        [Contender(planner=planner, forecast=LAST) for planner in ("llfd", "min_table")],
    )
    said = []

    one, two = (
        run_backtest(Replays(setting=setting), contenders, champion=MIXED, say=said.append) for _ in range(2)
    )

    assert one == two
    assert [score.net for score in one.scores] == sorted((score.net for score in one.scores), reverse=True)
    assert one.champion.contender == MIXED
    assert one.challenger in one.scores
    assert one.challenger != one.champion
    assert one.should_change == (one.challenger.net > one.champion.net + MIN_EDGE)
    assert len(said) == 2 * 4


def test_challenger_is_the_best_of_those_that_can_be_chosen():
    """Who cannot be changed to is ranked, and passed over."""
    setting = setting_of(some_windows(3))
    pair = [Contender(planner=planner, forecast=LAST) for planner in ("llfd", "min_table")]
    free = run_backtest(Replays(setting=setting), pair, champion=MIXED)
    barred = [dataclasses.replace(one, is_choosable=one != free.challenger.contender) for one in pair]

    result = run_backtest(Replays(setting=setting), barred, champion=MIXED)

    assert result.scores == free.scores
    assert result.challenger.contender in pair
    assert result.challenger != free.challenger


def test_each_kind_has_its_own_method():
    """Slots that waver around a level and keys that grow are not forecast alike."""
    rng = np.random.default_rng(0)
    slots = rng.poisson(1000, (30, 50)).astype(float)
    keys = 100 * np.arange(30)[:, np.newaxis] * np.ones(20)
    windows = ItemWindows(
        slot_cost=slots, slot_state=slots, key_cost=keys, key_state=keys, key_slot=np.arange(20)
    )

    made = forecast_items(windows.history(29, 30), 50, CHOSEN, ForecastOptions())

    assert made.methods == ("mean", "holt")
    np.testing.assert_allclose(made.expected[50:], 3000, rtol=0.01)


def test_windows_of_different_shapes_are_refused():
    """A row too many would shift every window after it."""
    windows = some_windows()
    with pytest.raises(
        ForecastError, match=r"ItemWindows\.key_cost must have the shape \(8, 40\). Got \(7, 40\)"
    ):
        ItemWindows(
            slot_cost=windows.slot_cost, slot_state=windows.slot_state, key_cost=windows.key_cost[1:],
            key_state=windows.key_state, key_slot=windows.key_slot,
        )  # fmt: skip


def test_a_setting_that_judges_nothing_is_refused():
    """The mean θ of no windows is not a number; slots of another function would be sent home to the wrong buckets."""
    windows = some_windows()
    one = ItemWindows(
        slot_cost=windows.slot_cost[:1], slot_state=windows.slot_state[:1], key_cost=windows.key_cost[:1],
        key_state=windows.key_state[:1], key_slot=windows.key_slot,
    )  # fmt: skip

    with pytest.raises(ForecastError, match=r"Setting\.windows must be two or more\. Got 1\."):
        setting_of(one)
    with pytest.raises(ForecastError, match=r"Setting\.home must have 64 values, .* Got shape \(63,\)"):
        dataclasses.replace(setting_of(windows), home=HASH.slots[1:])
