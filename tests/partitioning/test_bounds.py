"""Lower bounds against exact optima (a MILP each), and equal to them where the docstrings say so."""

import dataclasses

import numpy as np
import pytest
from scipy.optimize import Bounds as Box
from scipy.optimize import LinearConstraint, milp
from scipy.sparse import block_diag

from partitioning import PLANNERS, Budgets, Plan, PlanRequest, bounds_table
from partitioning.bounds import bound_imbalance, bound_migration, bound_plan, bound_routes
from partitioning.bounds_cover import Shedding
from partitioning.bounds_whole import MAX_CELLS, MAX_WHOLE_ITEMS, cover_whole
from partitioning.measures import count_routes
from partitioning.request import NO_SLOT

SLACK = 1e-6  # of the solver; costs are whole numbers, so it decides nothing


def solve_each(price, constraints, *, lowest=None):
    """The least price of each of several programs of whole numbers, solved as one: far faster than one by one."""
    matrix = block_diag([rows for rows, _, _ in constraints])
    low, high = (np.concatenate([limits[side] for limits in constraints]) for side in (1, 2))
    price_of_all = np.concatenate(price)
    lowest = np.zeros(price_of_all.size) if lowest is None else np.concatenate(lowest)
    result = milp(
        price_of_all,
        integrality=np.ones(price_of_all.size),
        bounds=Box(lowest, np.where(lowest > 0, np.inf, 1)),
        constraints=LinearConstraint(matrix, low, high),
        options={"mip_rel_gap": 0},
    )
    assert result.success
    ends = np.cumsum([block.size for block in price])
    return [block @ part for block, part in zip(price, np.split(result.x, ends[:-1]), strict=True)]


def placement_rows(request, *, limit):
    """Rows of a program over (item, bucket): one bucket an item, no load above the limit. With their limits."""
    one_bucket_each = np.kron(np.eye(request.n_items), np.ones(request.n_buckets))
    load = np.kron(request.cost, np.eye(request.n_buckets))
    low = np.append(np.ones(request.n_items), np.full(request.n_buckets, -np.inf))
    high = np.append(np.ones(request.n_items), np.full(request.n_buckets, limit + SLACK))
    return np.vstack([one_bucket_each, load]), low, high


def least_of_each(requests, price_of, *, limits, in_table=False):
    """The least total of ``price_of(request)[item, bucket]`` over all placements within the limit (and A_max)."""
    constraints = []
    for request, limit in zip(requests, limits, strict=True):
        rows, low, high = placement_rows(request, limit=limit)
        if in_table:
            rows = np.vstack([rows, route_price(request).ravel()])
            low, high = np.append(low, -np.inf), np.append(high, request.budgets.max_routes)
        constraints.append((rows, low, high))
    return solve_each([price_of(request).ravel() for request in requests], constraints)


def least(request, price_of, *, limit, in_table=False):
    return least_of_each([request], price_of, limits=[limit], in_table=in_table)[0]


def least_highest_loads(requests):
    """The load of the hottest bucket of each most even placement: one more variable, above every load."""
    constraints, price, lowest = [], [], []
    for request in requests:
        rows, low, high = placement_rows(request, limit=0.0)
        highest = np.append(np.zeros(request.n_items), -np.ones(request.n_buckets))
        constraints.append((np.column_stack([rows, highest]), low, high))
        price.append(np.append(np.zeros(rows.shape[1]), 1.0))
        lowest.append(np.append(np.zeros(rows.shape[1]), np.ceil(request.cost.sum() / request.n_buckets)))
    return solve_each(price, constraints, lowest=lowest)


def move_price(request):
    """The state that each item moves in each bucket."""
    return request.state[:, None] * (np.arange(request.n_buckets) != request.owner[:, None])


def route_price(request):
    """The route that each key needs in each bucket."""
    return (np.arange(request.n_buckets) != request.home[:, None]).astype(float)


def all_placements(n_items, n_buckets):
    """Every placement there is, one a row."""
    return np.stack(np.unravel_index(np.arange(n_buckets**n_items), (n_buckets,) * n_items), axis=1)


def highest_load(cost, placements, n_buckets):
    """The load of the hottest bucket of each placement."""
    return np.max([(placements == bucket) @ cost for bucket in range(n_buckets)], axis=0)


def random_request(seed):
    rng = np.random.default_rng(seed)
    n_items, n_buckets = int(rng.integers(3, 8)), int(rng.integers(2, 4))
    before = n_buckets + int(rng.integers(0, 2))
    kinds = [rng.integers(0, 10, n_items), rng.zipf(1.6, n_items).clip(max=60), np.full(n_items, 3)]
    return PlanRequest.of_keys(
        cost=kinds[seed % 3],
        state=rng.integers(0, 20, n_items),
        owner=rng.integers(0, before, n_items),
        home=np.minimum(rng.integers(0, n_buckets, n_items), rng.integers(0, n_buckets, n_items)),
        n_buckets=n_buckets,
        n_buckets_before=before,
        home_before=rng.integers(0, before, n_items),
        budgets=Budgets(max_imbalance=float(rng.choice([0.0, 0.1, 0.4]))),
    )


def overload_of(request, highest):
    mean = request.cost.sum() / request.n_buckets
    return highest / mean - 1 if mean else 0.0


def with_table(request, max_routes):
    return dataclasses.replace(
        request, budgets=dataclasses.replace(request.budgets, max_routes=int(max_routes))
    )


@pytest.mark.parametrize("first", range(0, 200, 20))
def test_bounds_are_below_the_optimum(first):
    """200 random cases: a bound above what is possible would call a perfect plan impossible."""
    requests = [random_request(seed) for seed in range(first, first + 20)]
    optimum = [
        overload_of(r, highest) for r, highest in zip(requests, least_highest_loads(requests), strict=True)
    ]
    levels = [max(r.budgets.max_imbalance, theta) for r, theta in zip(requests, optimum, strict=True)]
    limits = [(1 + level) * r.cost.sum() / r.n_buckets for r, level in zip(requests, levels, strict=True)]
    fewest = least_of_each(requests, route_price, limits=limits)
    migration = least_of_each(requests, move_price, limits=limits)
    tight = [with_table(r, round(n) + i % 2) for i, (r, n) in enumerate(zip(requests, fewest, strict=True))]
    in_table = least_of_each(tight, move_price, limits=limits, in_table=True)

    for i, (request, level) in enumerate(zip(requests, levels, strict=True)):
        assert bound_imbalance(request.cost, request.n_buckets) <= optimum[i] + SLACK, first + i
        assert bound_routes(request, imbalance=level) <= fewest[i] + SLACK, first + i
        assert bound_migration(request, imbalance=level) <= migration[i] + 1e-4, first + i
        assert bound_migration(tight[i], imbalance=level) <= in_table[i] + 1e-4, first + i


@pytest.mark.parametrize("seed", range(40))
def test_bounds_are_below_the_optimum_where_slots_are_items(seed):
    """Homes that move with their slot can save routes that no key saves alone; the bound must allow for all of that."""
    keys, rng = random_request(seed), np.random.default_rng(seed)
    n_slots = int(rng.integers(1, keys.n_items))
    is_slot = np.arange(keys.n_items) < n_slots
    request = dataclasses.replace(
        keys,
        is_slot=is_slot,
        slot=np.where(is_slot, NO_SLOT, rng.integers(NO_SLOT, n_slots, keys.n_items)),
    )
    placements = all_placements(request.n_items, request.n_buckets)
    highest = highest_load(request.cost, placements, request.n_buckets)
    mean = request.cost.sum() / request.n_buckets
    level = max(request.budgets.max_imbalance, highest.min() / mean - 1 if mean else 0.0)
    allowed = placements[highest <= (1 + level) * mean + SLACK]
    routes = np.array([count_routes(request, owner) for owner in allowed])
    moved = (allowed != request.owner) @ request.state

    assert bound_routes(request, imbalance=level) <= routes.min()
    for max_routes in range(routes.min(), routes.min() + 3):
        bound = bound_migration(with_table(request, max_routes), imbalance=level)
        assert bound <= moved[routes <= max_routes].min()


@pytest.mark.parametrize(
    ("cost", "n_buckets", "imbalance"),
    [
        pytest.param([10, 1, 1], 3, 1.5, id="heaviest-alone"),
        pytest.param([3, 3, 2], 2, 0.25, id="two-must-share"),
        pytest.param([4] * 7, 3, 2 / 7, id="equal-items-three-must-share"),
        pytest.param([5, 5, 5, 1, 1, 1], 3, 0, id="nothing-in-the-way"),
        pytest.param([1, 1], 5, 1.5, id="more-buckets-than-items"),
        pytest.param([4, 2], 1, 0, id="one-bucket"),
        pytest.param([], 3, 0, id="no-items"),
        pytest.param([0, 0], 3, 0, id="no-cost"),
    ],
)
def test_bound_on_imbalance_is_exact_here(cost, n_buckets, imbalance):
    """One heavy item, or equal ones: the bound is the optimum, and both are the number worked by hand."""
    costs = np.array(cost, dtype=float)
    highest = (
        highest_load(costs, all_placements(costs.size, n_buckets), n_buckets).min() if costs.any() else 0
    )

    assert bound_imbalance(costs, n_buckets) == pytest.approx(imbalance, abs=1e-9)
    assert highest == pytest.approx((1 + imbalance) * costs.sum() / n_buckets)


def hot_bucket(**changes):
    """Nine unit items, seven of them in bucket 0: with θ = 1/3 four may stay, and three must go."""
    given = {
        "cost": [1] * 9,
        "state": [5, 1, 9, 2, 8, 3, 7, 4, 4],
        "owner": [0] * 7 + [1, 2],
        "home": [0] * 7 + [1, 2],
        "n_buckets": 3,
        "budgets": Budgets(max_imbalance=1 / 3),
    }
    return PlanRequest.of_keys(**{**given, **changes})


def test_bounds_are_exact_for_one_hot_bucket_of_equal_items():
    """The three lightest in state, 1 + 2 + 3, and a route for each: the optimum, not just below it."""
    request = hot_bucket()
    bounds = bound_plan(request)

    assert bounds.migration == pytest.approx(6, abs=1e-6)
    assert bounds.routes == 3
    assert least(request, move_price, limit=4) == pytest.approx(6)
    assert least(request, route_price, limit=4) == pytest.approx(3)


@pytest.mark.parametrize("seed", range(20))
def test_bound_on_migration_is_exact_for_one_hot_bucket_with_room_elsewhere(seed):
    """Whole costs, one bucket to shed, empty ones to take: the cheapest whole items, which fractions cannot tell."""
    rng = np.random.default_rng(seed)
    request = PlanRequest.of_keys(
        cost=rng.integers(1, 9, 12),
        state=rng.integers(0, 30, 12),
        owner=[0] * 12,
        home=[0] * 12,
        n_buckets=4,
    )
    bound = bound_migration(request, imbalance=1.0)

    assert bound == pytest.approx(least(request, move_price, limit=request.cost.sum() / 2), abs=1e-6)


@pytest.mark.parametrize(
    ("max_routes", "migration", "bound"),
    [
        pytest.param(0, 5, 5, id="exact-at-no-routes"),
        pytest.param(1, 5, 3, id="between-two-tables-the-bound-is-too"),
        pytest.param(2, 1, 1, id="exact-if-the-table-has-room"),
    ],
)
def test_bound_on_migration_prices_the_table(max_routes, migration, bound):
    """One of two keys must go: the light one needs a second route, the heavy one gives its own back."""
    request = with_table(
        PlanRequest.of_keys(cost=[1, 1], state=[1, 5], owner=[0, 0], home=[0, 1], n_buckets=2), max_routes
    )

    assert bound_migration(request, imbalance=0.0) == pytest.approx(bound, abs=1e-6)
    assert least(request, move_price, limit=1, in_table=True) == pytest.approx(migration)


def test_bound_on_migration_allows_the_table_that_a_plan_has():
    """A planner may exceed max_routes: its plan is compared with plans of as many routes, or it would beat its bound."""
    request = PlanRequest.of_keys(
        cost=[1, 1],
        state=[1, 5],
        owner=[0, 0],
        home=[0, 1],
        n_buckets=2,
        budgets=Budgets(max_imbalance=0.0, max_routes=0),
    )
    two_routes = Plan(request=request, owner=[1, 0], planner="stay")

    assert two_routes.bounds.migration == pytest.approx(two_routes.migration, abs=1e-6)


def test_bound_on_migration_ignores_a_table_that_nothing_can_keep():
    """All keys are at home, one must leave, and no route is allowed: the price would rise for ever."""
    request = PlanRequest.of_keys(cost=[1, 1], state=[3, 2], owner=[0, 0], home=[0, 0], n_buckets=2)

    assert bound_migration(with_table(request, 0), imbalance=0.0) == pytest.approx(2, abs=1e-6)


def test_bound_on_migration_lets_routed_keys_of_cool_buckets_pay_for_the_table():
    """A cheap routed key far from the overload may go home to make room in the table: 1 + 2, not more."""
    request = PlanRequest.of_keys(
        cost=[4, 4, 1, 1], state=[2, 9, 1, 50], owner=[0, 0, 1, 2], home=[0, 0, 2, 2], n_buckets=3
    )
    request = with_table(request, 1)

    assert bound_migration(request, imbalance=0.2) == pytest.approx(3, abs=1e-6)
    assert least(request, move_price, limit=4, in_table=True) == pytest.approx(3)


def brute_force_cover(cost, price, excess):
    chosen = all_placements(cost.size, 2)
    return (chosen @ price)[chosen @ cost >= excess].min(initial=np.inf)


@pytest.mark.parametrize("unit", [1, 7, 0.5])
def test_whole_items_are_covered_exactly_in_any_common_unit(unit):
    """Multiples of one number are counted, not rounded; broken ones may fall short, never above."""
    rng = np.random.default_rng(3)
    for _ in range(30):
        cost, price = rng.integers(1, 12, 9) * unit, rng.integers(0, 20, 9).astype(float)
        excess = float(rng.uniform(0.01, 1.1)) * cost.sum()
        exact, bound = brute_force_cover(cost, price, excess), cover_whole(cost, price, excess=excess)

        assert bound <= exact
        assert unit == 0.5 or bound == exact


def test_large_costs_are_covered_in_cells_that_round_for_the_bound():
    """An excess of more units than there are cells: the answer may fall short of the exact one, by little, never above."""
    rng = np.random.default_rng(4)
    cost = rng.integers(1, 50 * MAX_CELLS, 12).astype(float)
    price = rng.integers(1, 100, 12).astype(float)
    shares = (0.1, 0.4, 0.8)
    exact = [brute_force_cover(cost, price, share * cost.sum()) for share in shares]
    bound = [cover_whole(cost, price, excess=share * cost.sum()) for share in shares]

    assert np.all(np.array(bound) <= exact)
    assert bound == pytest.approx(exact, rel=0.1)


def test_bound_on_migration_takes_the_last_item_in_part_where_items_are_many():
    """The exact cover is for few items; above, all that is promised is the fractional one: 3 items of cost 2 for 5."""
    n_items = MAX_WHOLE_ITEMS + 1
    cost = np.full(n_items, 2.0)
    request = PlanRequest.of_keys(
        cost=cost, state=np.ones(n_items), owner=[0] * n_items, home=[0] * n_items, n_buckets=2
    )
    imbalance = 1.0 - 5 / n_items  # all but a cost of 5 may stay

    assert bound_migration(request, imbalance=imbalance) == pytest.approx(2.5, abs=1e-4)


def test_price_of_the_table_may_be_found_over_classes():
    """Of many items λ is looked for over classes of like ones: the price found there must still do on the items."""
    rng = np.random.default_rng(5)
    n_items = 8_000
    home = rng.integers(0, 4, n_items)
    request = with_table(
        PlanRequest.of_keys(
            cost=rng.zipf(1.6, n_items).clip(max=300),
            state=rng.integers(1, 50, n_items),
            owner=np.where(rng.random(n_items) < 0.1, 0, home),
            home=home,
            n_buckets=4,
        ),
        200,
    )
    free = bound_migration(with_table(request, n_items), imbalance=0.02)
    item_by_item = bound_migration(request, imbalance=0.02)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bounds_table, "MAX_SINGLE_ITEMS", 0)
        in_classes = bound_migration(request, imbalance=0.02)

    assert free < 0.5 * item_by_item
    assert in_classes <= item_by_item + SLACK
    assert in_classes == pytest.approx(item_by_item, rel=5e-3)


def test_bound_on_migration_pays_for_a_bucket_that_goes_away_once():
    """All of bucket 1 must move, hot or not; its items are not also charged for being too many."""
    request = PlanRequest.of_keys(
        cost=[1, 1, 50],
        state=[1, 2, 4],
        owner=[0, 1, 1],
        home=[0, 0, 0],
        n_buckets=1,
        n_buckets_before=2,
        home_before=[0, 1, 1],
    )

    assert bound_migration(request, imbalance=0.0) == pytest.approx(6)


def test_bound_on_routes_counts_the_fewest_largest_keys():
    """Home 0 has 5 + 3 + 2 + 2 = 12 where 6 may stay: the 5 and the 3 go; slots and their keys never count."""
    keys = {"cost": [3, 5, 2, 2], "state": [1] * 4, "owner": [1] * 4, "home": [0] * 4, "n_buckets": 2}
    slotted = PlanRequest.of_items(**keys, is_slot=[True, False, False, False], slot=[-1, 0, 0, 0])

    assert bound_routes(PlanRequest.of_keys(**keys), imbalance=0.0) == 2
    assert bound_routes(slotted, imbalance=0.0) == 0


def test_bounds_are_given_at_the_level_the_plan_reached():
    """A plan that falls short is compared with plans as even as itself, so it is never below its own bound."""
    request = hot_bucket()
    one_moved = Plan(request=request, owner=[0, 1] + [0] * 5 + [1, 2], planner="stay")

    assert one_moved.imbalance == 1
    assert one_moved.bounds.migration == pytest.approx(1, abs=1e-6)
    assert one_moved.bounds.routes == 1
    assert PLANNERS["stay"](request).bounds.migration == 0


@pytest.mark.parametrize("n_items", [0, 1, 3])
def test_bounds_without_cost_ask_for_nothing(n_items):
    """No load is even: no division by the mean, no move, no route."""
    zeros = [0] * n_items
    bounds = bound_plan(PlanRequest.of_keys(cost=zeros, state=zeros, owner=zeros, home=zeros, n_buckets=3))

    assert (bounds.imbalance, bounds.migration, bounds.routes) == (0, 0, 0)


def test_bounds_survive_costs_next_to_nothing():
    """A ratio of state to cost may overflow; the bound must stay a number."""
    request = PlanRequest.of_keys(
        cost=[5e-324, 1.0, 1.0], state=[1e15, 1.0, 1.0], owner=[0, 0, 0], home=[0, 0, 0], n_buckets=2
    )

    assert bound_migration(request, imbalance=0.0) == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize(("cost", "n_buckets", "n_items"), [(0.1, 4, 17), (0.3, 6, 31), (0.7, 5, 6)])
def test_rounding_never_lifts_a_bound_above_a_perfect_plan(cost, n_buckets, n_items):
    """Sums of the same floats in another order differ in their last bits; a bound must stay below all of them."""
    owner = np.arange(n_items) % n_buckets
    plan = PLANNERS["stay"](
        PlanRequest.of_keys(
            cost=[cost] * n_items, state=[1] * n_items, owner=owner, home=owner, n_buckets=n_buckets
        )
    )

    assert plan.bounds.imbalance <= plan.imbalance
    assert plan.bounds.imbalance == pytest.approx(plan.imbalance)


def test_classes_keep_buckets_apart_whatever_a_unit_routes():
    """A slot that takes its keys along may need many routes at once: its class must not be taken for another bucket's."""
    rng = np.random.default_rng(0)
    n_items = bounds_table.MAX_SINGLE_ITEMS + 1
    items = Shedding(
        bucket=rng.integers(0, 4, n_items), cost=rng.random(n_items), state=rng.random(n_items),
        routes=rng.integers(-1, 9, n_items).astype(float), excess=np.ones(4),
    )  # fmt: skip

    classed = bounds_table._classed(items)

    for amount in ("cost", "state", "routes"):
        np.testing.assert_allclose(
            np.bincount(classed.bucket, weights=getattr(classed, amount)),
            np.bincount(items.bucket, weights=getattr(items, amount)),
        )
