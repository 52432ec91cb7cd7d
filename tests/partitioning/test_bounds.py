"""Lower bounds against exact optima (a MILP each), and equal to them where the docstrings say so."""

import numpy as np
import pytest
from scipy.optimize import Bounds as Box
from scipy.optimize import LinearConstraint, milp

from partitioning import PLANNERS, Budgets, Plan, PlanRequest
from partitioning.bounds import bound_imbalance, bound_migration, bound_plan, bound_routes

SLACK = 1e-6  # of the solver; costs are whole numbers, so it decides nothing


def least(request, price, *, limit):
    """The least sum of price[item, bucket] over all placements with no load above the limit."""
    n_items, n_buckets = price.shape
    one_bucket_each = np.kron(np.eye(n_items), np.ones(n_buckets))
    load = np.kron(request.cost, np.eye(n_buckets))
    result = milp(
        price.ravel(),
        integrality=np.ones(price.size),
        bounds=Box(0, 1),
        constraints=[LinearConstraint(one_bucket_each, 1, 1), LinearConstraint(load, -np.inf, limit + SLACK)],
    )
    assert result.success
    return result.fun


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


@pytest.mark.parametrize("first", range(0, 200, 20))
def test_bounds_are_below_the_optimum(first):
    """200 random cases: a bound above what is possible would call a perfect plan impossible."""
    for seed in range(first, first + 20):
        request = random_request(seed)
        mean = request.cost.sum() / request.n_buckets
        placements = all_placements(request.n_items, request.n_buckets)
        highest = highest_load(request.cost, placements, request.n_buckets)
        optimum = highest.min() / mean - 1 if mean else 0.0
        level = max(request.budgets.max_imbalance, optimum)
        allowed = placements[highest <= (1 + level) * mean + SLACK]
        moves = request.state[:, None] * (np.arange(request.n_buckets) != request.owner[:, None])
        least_migration = least(request, moves, limit=(1 + level) * mean)

        assert least_migration == pytest.approx(((allowed != request.owner) @ request.state).min()), seed
        assert bound_migration(request, imbalance=level) <= least_migration + 1e-4, seed
        assert bound_routes(request, imbalance=level) <= (allowed != request.home).sum(axis=1).min(), seed
        assert bound_imbalance(request.cost, request.n_buckets) <= optimum + 1e-12, seed


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
    buckets = np.arange(3)
    moves = request.state[:, None] * (buckets != request.owner[:, None])
    routes = (buckets != request.home[:, None]).astype(float)

    assert bounds.migration == pytest.approx(6, abs=1e-6)
    assert bounds.routes == 3
    assert least(request, moves, limit=4) == pytest.approx(6)
    assert least(request, routes, limit=4) == pytest.approx(3)


def test_bound_on_migration_takes_the_last_item_in_part():
    """Overload 3, items of cost 2 and state 4 and 6: one whole and half of the next, 4 + 3 = 7."""
    request = PlanRequest.of_keys(
        cost=[2, 2, 2, 0], state=[9, 6, 4, 0], owner=[0] * 4, home=[0] * 4, n_buckets=2
    )

    assert bound_migration(request, imbalance=0.0) == pytest.approx(7, abs=1e-6)


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
