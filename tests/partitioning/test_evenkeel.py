"""Our own planner: what it finds where greedy planners end, and that it does all a request can ask for."""

import dataclasses

import numpy as np
import pytest

from benchmarks.chaos import chaos_request
from benchmarks.exact import least_imbalance, least_migration
from benchmarks.small_cases import small_cases
from partitioning import PLANNERS, Budgets, History, Plan, PlanRequest, PlanRequestError, make_plan
from partitioning.planners.evenkeel import EvenkeelOptions
from partitioning.planners.evenkeel.covers import N_CELLS, sand_prices, tabulate
from partitioning.planners.evenkeel.shedding import cheapest_cover
from partitioning.ranking import measure
from partitioning.request import NO_SLOT
from partitioning.ring import ring_slots
from tests.partitioning.checker import check_plan


def keys(cost, owner, *, state=None, n_buckets=None, **given):
    """Keys at home, with one unit of state each unless told otherwise; budgets by name."""
    names = ("max_imbalance", "max_routes", "max_migration", "target_imbalance")
    budgets = Budgets(**{name: given.pop(name) for name in names if name in given})
    return PlanRequest.of_keys(
        cost=cost,
        state=np.ones(len(cost)) if state is None else state,
        owner=owner,
        home=given.pop("home", owner),
        n_buckets=max(owner) + 1 if n_buckets is None else n_buckets,
        budgets=budgets,
        **given,
    )


# --- what it finds ------------------------------------------------------------------------------------------


def test_worked_example_of_the_objective():
    """The numbers in the planner's own docstring."""
    plan = make_plan(keys([6, 4, 3, 3], [0, 0, 0, 0], state=[6, 4, 3, 1], n_buckets=2))

    assert plan.moved.tolist() == [1, 3]
    assert plan.imbalance == pytest.approx(0.125)
    assert plan.migration == 5


def test_two_hot_keys_in_one_bucket_are_exchanged():
    """No single move helps: 6 + 6 against 4 + 4 needs a swap."""
    plan = make_plan(keys([6, 6, 4, 4], [0, 0, 1, 1]))

    assert plan.load.tolist() == [10, 10]
    assert plan.verdict == "reaches the target"


def test_chain_through_a_third_bucket_is_found():
    """Three moves in a circle make 9, 8, 4 even; no two do."""
    plan = make_plan(keys([4, 5, 2, 6, 3, 1], [0, 0, 1, 1, 2, 2], max_imbalance=0.0))

    assert plan.load.tolist() == [7, 7, 7]


def test_oversized_key_gets_the_bucket_that_is_cheapest_to_empty():
    """Emptying bucket 0 around the key moves 100; moving the key and emptying bucket 1 moves 2."""
    plan = make_plan(keys([10, 2, 2], [0, 0, 1], state=[1, 100, 1]))

    assert plan.owner.tolist() == [1, 0, 0]
    assert plan.migration == 2
    assert any("split it or raise capacity" in reason for reason in plan.reasons)


def test_state_decides_between_keys_of_equal_cost():
    """All keys relieve the same; the one with least state moves."""
    plan = make_plan(keys([2, 2, 2, 2], [0, 0, 0, 1], state=[9, 3, 5, 1], max_imbalance=0.0))

    assert plan.moved.tolist() == [1]


@pytest.mark.parametrize("case", list(small_cases(1)), ids=lambda case: case.name)
def test_small_cases_are_as_good_as_the_exact_optimum(case):
    """One seed of what the benchmark runs in full: within reach of an integer program on every kind."""
    request = case.request
    plan = make_plan(request)
    check_plan(plan)

    optimum = least_migration(request)
    limit = request.budgets.migration_limit(request.total_state)
    if optimum <= limit:
        assert plan.imbalance <= 0.08 + 1e-9
        assert plan.migration <= 1.25 * optimum
    else:
        routes = request.budgets.route_limit()
        assert plan.imbalance <= least_imbalance(request, max_migration=limit, max_routes=routes) + 0.02


@pytest.mark.parametrize("seed", [32, 135, pytest.param(175, marks=pytest.mark.long)])
def test_broken_limit_is_no_excuse_to_leave_the_rest_uneven(seed):
    """The table is longer than it may be and nothing that weighs may move: what is broken no further can still be evened out."""
    plan = make_plan(chaos_request(seed))
    check_plan(plan)

    still = measure(plan.request, plan.request.start)
    assert not plan.within_budgets
    assert plan.figures.routes <= still.routes
    assert plan.imbalance < still.imbalance - 0.1


def test_new_bucket_gets_what_helps_most_where_little_may_move():
    """Four buckets become five and a tenth of the state may move: not what the hash sends there, but what is hot."""
    request = chaos_request(205)
    plan = make_plan(request)
    check_plan(plan)

    limit = request.budgets.migration_limit(request.total_state)
    least = least_imbalance(request, max_migration=limit, max_routes=request.budgets.route_limit())
    assert (request.n_buckets_before, request.n_buckets) == (4, 5)
    assert plan.imbalance <= least + 0.01


def grown(*, max_migration=None):
    """256 slots and one key of three mean buckets in 8 buckets; N becomes 10, and the slots stay where they are at home."""
    rng = np.random.default_rng(3)
    slots = ring_slots(256, 8)
    cost = np.append(rng.lognormal(0.0, 0.3, 256), 120.0)
    home = np.append(slots, slots[5])
    return PlanRequest.of_items(
        cost=cost,
        state=5.0 * cost,
        owner=home,
        home=home,
        n_buckets=10,
        n_buckets_before=8,
        home_before=home,
        is_slot=np.arange(257) < 256,
        slot=np.append(np.full(256, NO_SLOT), 5),
        budgets=Budgets(max_imbalance=0.08, max_migration=max_migration, max_routes=10),
    )


def test_new_buckets_are_filled_below_an_oversized_key():
    """The key alone makes θ, so filling lowers nothing; new buckets are there to be used all the same."""
    plan = make_plan(grown())
    check_plan(plan)

    seat = plan.owner[-1]
    others = np.delete(plan.load, seat)
    assert plan.load[seat] == 120
    assert others.max() <= 1.08 * others.mean() + 1e-9
    assert others.min() > 0.5 * others.mean()


def test_filling_new_buckets_keeps_the_budget():
    """A twentieth of the state: first the key's bucket is relieved, which lowers θ."""
    plan = make_plan(grown(max_migration=0.05))
    check_plan(plan)

    assert plan.within_budgets
    assert plan.imbalance < measure(plan.request, plan.request.start).imbalance
    assert (plan.owner[plan.moved] >= 8).any()


def test_nothing_is_filled_without_a_growth():
    """The same table with as many buckets as before: below the oversized key nothing lowers θ, so nothing more moves."""
    request = dataclasses.replace(grown(), n_buckets_before=10)
    plan = make_plan(request)

    assert plan.figures.rest == 0
    assert plan.migration < make_plan(grown()).migration


# --- what a request can ask for --------------------------------------------------------------------------------


def test_capacity_decides_who_carries_how_much():
    """A bucket three times as wide carries three times the cost."""
    plan = make_plan(keys([1] * 8, [0] * 4 + [1] * 4, capacity=[1, 3]))

    assert np.bincount(plan.owner).tolist() == [2, 6]
    assert plan.load.tolist() == [2, 2]
    assert plan.imbalance == 0


def test_drained_bucket_is_emptied():
    """Everything leaves, nothing enters, and the rest ends even."""
    plan = make_plan(keys([3, 3, 2, 2, 2], [0, 1, 2, 2, 0], drained=[2], max_imbalance=0.2))

    assert not (plan.owner == 2).any()
    assert plan.verdict == "reaches the target"
    check_plan(plan)


def test_draining_goes_on_over_several_plans_and_ends():
    """A budget of a tenth: each plan takes what it may, and ten plans at most take all."""
    request = keys(
        [1] * 20, [0] * 10 + [1] * 10, drained=[1], max_migration=0.1, max_imbalance=0.0, n_buckets=3
    )
    left = []
    for _ in range(10):
        plan = make_plan(request)
        check_plan(plan)
        left.append(plan.figures.undrained)
        request = dataclasses.replace(request, owner=plan.owner)
        if left[-1] == 0:
            break

    assert left[0] == 8
    assert left[-1] == 0
    assert sorted(left, reverse=True) == left


def test_what_is_left_to_drain_is_said():
    """The budget lets one of two leave; the plan says that another is due."""
    plan = make_plan(keys([1, 1, 1], [0, 1, 1], drained=[1], max_migration=0.4, n_buckets=3))

    assert plan.figures.undrained == 1
    assert plan.verdict != "reaches the target"
    assert any("still hold 1 items that may leave" in reason for reason in plan.reasons)
    assert any("plan again" in reason for reason in plan.reasons)


def test_item_too_large_for_any_plan_to_drain_is_said():
    """Planning again would change nothing: the sentence names the budget that would."""
    request = keys([1, 1], [0, 1], state=[1, 9], drained=[1], max_migration=0.4, n_buckets=3)
    plan = make_plan(request)

    assert plan.figures.undrained == 1
    assert any("item 1 leaves with a max_migration of 9" in reason for reason in plan.reasons)
    assert not any("plan again" in reason for reason in plan.reasons)
    enough = dataclasses.replace(request, budgets=Budgets(max_migration=9))
    assert make_plan(enough).figures.undrained == 0


def test_drain_that_the_table_blocks_is_not_put_off():
    """No route is left and nothing left in this plan: planning again would not help either."""
    request = keys([1, 1], [0, 1], drained=[1], max_routes=0, n_buckets=3)
    plan = make_plan(request)

    assert plan.figures.undrained == 1
    assert not any("plan again" in reason for reason in plan.reasons)


def test_pinned_item_stays_and_the_others_make_up_for_it():
    """The cheapest move is pinned: another one is made."""
    request = keys([2, 2, 2, 2], [0, 0, 0, 1], state=[1, 5, 9, 1], is_pinned=[True, False, False, False])

    assert make_plan(request).moved.tolist() == [1]


def test_pinned_item_of_a_drained_bucket_stays_and_is_named():
    """A pin is stronger than a drain: the plan is told apart from one that is done."""
    request = keys([1, 1, 1], [0, 1, 1], drained=[1], is_pinned=[False, True, False], n_buckets=3)
    plan = make_plan(request)

    assert plan.owner[1] == 1
    assert plan.owner[2] != 1
    assert any("hold 1 pinned items, which stay" in reason for reason in plan.reasons)


@pytest.mark.parametrize("planner", list(PLANNERS))
def test_pinned_item_of_a_bucket_that_goes_away_goes_home_and_no_further(planner):
    """A pin cannot hold what has no place; it ends where the hash puts it."""
    request = keys(
        [5, 1, 1], [2, 0, 1], home=[0, 0, 1], home_before=[2, 0, 1], n_buckets=2, n_buckets_before=3,
        is_pinned=[True, False, False], max_imbalance=0.0,
    )  # fmt: skip
    plan = make_plan(request, planner)

    assert plan.owner[0] == 0
    assert any("pinned items that must move all the same" in reason for reason in plan.reasons)


def test_slots_and_keys_are_tried_apart_though_the_goal_is_reached_together():
    """Four slots with six keys, two routes: slots that take keys along reach the goal for 12 of state, two keys by themselves for 10."""
    request = PlanRequest.of_items(
        cost=[3, 2, 7, 7, 1, 2, 5, 4, 8, 5],
        state=[4, 4, 6, 6, 2, 7, 7, 9, 8, 3],
        owner=[0, 0, 1, 0, 0, 0, 0, 1, 0, 0],
        home=[0, 0, 1, 0, 0, 0, 0, 1, 0, 0],
        n_buckets=2,
        is_slot=[True] * 4 + [False] * 6,
        slot=[NO_SLOT] * 4 + [0, 3, 3, 2, 0, 0],
        budgets=Budgets(max_imbalance=0.05, max_routes=2),
    )
    plan = make_plan(request)

    assert plan.moved.tolist() == [6, 9]
    assert plan.migration == least_migration(request) == 10


def test_slot_takes_its_keys_along_when_the_table_is_full():
    """No routes allowed: a slot moves with the keys that sit in it, or not at all."""
    request = PlanRequest.of_items(
        cost=[3, 3, 3, 3],
        state=[1, 1, 1, 1],
        owner=[0, 0, 0, 0],
        home=[0, 0, 0, 0],
        n_buckets=2,
        is_slot=[True, True, False, False],
        slot=[NO_SLOT, NO_SLOT, 0, 1],
        budgets=Budgets(max_routes=0),
    )
    plan = make_plan(request)

    assert plan.load.tolist() == [6, 6]
    assert plan.n_routes == 0
    assert plan.owner[2] == plan.owner[0]
    assert plan.owner[3] == plan.owner[1]


def test_growing_moves_only_into_the_new_bucket():
    """Old buckets have nothing to gain from each other: all that moves goes to the new one."""
    owner = np.repeat(np.arange(4), 8)
    home = owner.copy()
    home[::5] = 4
    request = keys(
        np.ones(32), owner, home=home, n_buckets=5, n_buckets_before=4, home_before=owner, max_imbalance=0.1
    )
    plan = make_plan(request)

    assert set(plan.owner[plan.moved].tolist()) == {4}


# --- hysteresis ---------------------------------------------------------------------------------------------


def test_plan_aims_inside_the_trigger():
    """θ is above max_imbalance: the plan goes below the target, so that the next drift does not start another."""
    request = keys([1] * 20, [0] * 12 + [1] * 8, max_imbalance=0.15, target_imbalance=0.0)

    assert make_plan(request).imbalance == 0
    assert make_plan(dataclasses.replace(request, owner=[0] * 11 + [1] * 9)).moved.tolist() == []


def test_item_does_not_go_back_while_something_else_helps():
    """Item 0 has the least state but came from bucket 1 a window ago: another one moves."""
    history = History(item=[0], source=[1], age=[1])
    request = keys([2, 2, 2, 2], [0, 0, 0, 1], state=[1, 5, 9, 1], history=history)

    assert make_plan(request).moved.tolist() == [1]
    assert make_plan(dataclasses.replace(request, history=History())).moved.tolist() == [0]


@pytest.mark.parametrize(
    ("age", "min_gain", "moved"),
    [
        pytest.param(1, 2.0, [0], id="the-only-way-gains-infinitely-more"),
        pytest.param(4, 2.0, [0], id="forgotten-after-n_windows"),
    ],
)
def test_item_goes_back_if_that_gains_enough(age, min_gain, moved):
    """Nothing else can move: the gain without the way back is 0, so any gain is enough."""
    request = keys(
        [2, 2, 2, 2], [0, 0, 0, 1], is_pinned=[False, True, True, True],
        history=History(item=[0], source=[1], age=[age], min_gain=min_gain),
    )  # fmt: skip

    assert make_plan(request).moved.tolist() == moved


@pytest.mark.parametrize(
    ("min_gain", "owner"),
    [
        pytest.param(2.0, [1, 2, 0, 0], id="twice-the-gain-is-enough"),
        pytest.param(2.1, [0, 2, 0, 0], id="more-was-asked-for"),
    ],
)
def test_way_back_must_gain_enough_whoever_plans(monkeypatch, min_gain, owner):
    """Loads 12, 0, 0: without item 0's way back θ falls from 2 to 1.25, with it to 0.5, twice as much."""

    def plan_fixed(request):
        return Plan(request=request, owner=[1, 2, 0, 0], planner="fixed")

    monkeypatch.setitem(PLANNERS, "fixed", plan_fixed)
    history = History(item=[0], source=[1], age=[1], min_gain=min_gain)
    request = keys([3, 3, 3, 3], [0, 0, 0, 0], n_buckets=3, history=history, max_migration=0.5)

    assert make_plan(request, "fixed").owner.tolist() == owner


def test_planning_settles_after_a_perturbation():
    """Planned again and again, with what moved as history: three rounds at most, and nothing goes there and back."""
    rng = np.random.default_rng(3)
    cost = rng.lognormal(0, 1, 60)
    owner = rng.integers(0, 4, 60)
    moves = []
    for _ in range(5):
        plan = make_plan(keys(cost, owner, n_buckets=4, max_migration=0.3, max_imbalance=0.02))
        moves.append(plan.moved.size)
        owner = plan.owner

    assert moves[3:] == [0, 0]


# --- its parts ----------------------------------------------------------------------------------------------


def test_cheapest_cover_takes_the_worked_example():
    """The numbers in the docstring of ``shedding``."""
    cost, price = np.array([2.0, 2, 4, 1]), np.array([1.0, 2, 6, 3])

    assert sorted(cheapest_cover(cost, price, excess=5.0).tolist()) == [0, 1, 3]


@pytest.mark.parametrize("seed", range(30))
def test_cheapest_cover_covers_and_holds_nothing_unneeded(seed):
    """Every cover is one, and every item of it is needed; at most 1.5 times the least price."""
    rng = np.random.default_rng(seed)
    cost, price = rng.integers(1, 9, 10).astype(float), rng.integers(0, 9, 10).astype(float)
    excess = float(rng.integers(1, int(cost.sum())))

    taken = cheapest_cover(cost, price, excess=excess)

    covered = cost[taken].sum()
    assert covered >= excess
    assert (covered - cost[taken] < excess).all()
    subsets = [np.flatnonzero([mask >> i & 1 for i in range(10)]) for mask in range(1024)]
    least = min(price[subset].sum() for subset in subsets if cost[subset].sum() >= excess)
    assert price[taken].sum() <= max(1.5 * least, least + 3)


@pytest.mark.parametrize("seed", range(10))
def test_tables_of_covers_equal_brute_force(seed):
    """Whole items that are whole cells wide: the table is exact for every excess and number of decided items."""
    rng = np.random.default_rng(seed)
    cost, price = rng.integers(1, 6, 6).astype(float), rng.integers(1, 9, 6).astype(float)
    reach = float(N_CELLS)  # so that a cell is 1
    sand = np.full((1, N_CELLS + 1), np.inf)
    sand[0, 0] = 0.0
    covers = tabulate(cost=cost, price=price, origin=np.zeros(6, dtype=np.int64), sand=sand, reach=reach)

    for n_decided in range(7):
        rest = range(n_decided, 6)
        for excess in range(int(cost[n_decided:].sum()) + 1):
            ways = [
                price[[i for i in rest if mask >> i & 1]].sum()
                for mask in range(64)
                if cost[[i for i in rest if mask >> i & 1]].sum() >= excess
            ]
            assert covers.price(n_decided, np.array([[float(excess)]]))[0, 0] == min(ways)


def test_sand_is_priced_by_the_cheapest_parts():
    """Half of an item costs half of its price, cheapest per cost first."""
    prices = sand_prices(
        cost=np.array([512.0, 256.0]),
        price=np.array([1024.0, 128.0]),
        origin=np.array([0, 0]),
        n_buckets=1,
        reach=float(N_CELLS),
    )

    assert prices[0, [0, 128, 256, 512, 768]].tolist() == [0, 64, 128, 640, 1152]
    assert np.isinf(prices[0, 769])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_coarse": -1}, r"EvenkeelOptions\.n_coarse must be a whole number, 0 or more\. Got -1"),
        ({"max_nodes": 0}, r"EvenkeelOptions\.max_nodes must be a whole number, 1 or more\. Got 0"),
        ({"n_rungs": 1.5}, r"EvenkeelOptions\.n_rungs must be a whole number, 1 or more\. Got 1\.5"),
        ({"max_tries": 0}, r"EvenkeelOptions\.max_tries must be a whole number, 1 or more\. Got 0"),
    ],
)
def test_options_are_checked(options, message):
    """A search without bounds, or with none at all, must not start."""
    with pytest.raises(PlanRequestError, match=message):
        EvenkeelOptions(**options)


def test_less_effort_still_keeps_every_promise():
    """Without any search the plan is worse at most, never wrong."""
    request = next(small_cases(1)).request
    plan = make_plan(request, "evenkeel", EvenkeelOptions(n_coarse=0, max_nodes=1, n_rungs=1, n_levels=0))

    check_plan(plan)
