"""Which keys are cut, into how many parts, and when they are joined again."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from partitioning import Budgets, PlanRequest, make_plan
from partitioning.parting import PartedRequest
from partitioning.split_planning import plan_with_splits
from partitioning.splits import N_GRAINS, Part, even_weights

FEW = settings(deadline=None, max_examples=40, derandomize=True)


def request_of(keys, tail, *, n_buckets, state=None, keep=(), **budgets):
    """``tail`` slots that can move alone, then ``keys`` of slot 0, all in bucket 0 unless ``keep`` says otherwise."""
    cost = [*tail, *keys]
    owner = [i % n_buckets for i in range(len(tail))] + [0] * len(keys)
    for item, bucket in keep:
        owner[item] = bucket
    return PlanRequest.of_items(
        cost=cost,
        state=cost if state is None else state,
        owner=owner,
        home=[i % n_buckets for i in range(len(tail))] + [0] * len(keys),
        n_buckets=n_buckets,
        is_slot=[True] * len(tail) + [False] * len(keys),
        slot=[-1] * len(tail) + [0] * len(keys),
        budgets=Budgets(**{"max_imbalance": 0.08, **budgets}),
    )


def plan(whole, today=None, *, may_split=True):
    return plan_with_splits(whole, today or {}, make_plan, may_split=may_split)


def buckets_of(made, item):
    return {part.bucket for part in made.parts.get(item, (Part(int(made.plan.owner[item]), N_GRAINS),))}


HOT = 64  # position of the key beside 64 slots


def test_a_key_of_sixty_percent_reaches_the_target_in_the_fewest_parts():
    """Whole it makes θ 3.8; 4.8 mean buckets need five of at most 1.08, and four partial results more are merged."""
    whole = request_of([60_000], [625] * 64, n_buckets=8)

    made = plan(whole)

    assert plan(whole, may_split=False).plan.imbalance == pytest.approx(3.8)
    assert made.plan.imbalance <= 0.08
    assert len(buckets_of(made, HOT)) == 5
    assert made.n_partials == 4
    assert made.merge_cost(made.n_partials) == pytest.approx(4 / 12_500)


def least_parts(heavy, tail, n_buckets, limit):
    """By trying everything: the fewest even parts of the one key, N at most, that any placement brings within the limit."""
    for n_parts in range(1, n_buckets + 1):
        costs = np.array([*tail, *(heavy * weight / N_GRAINS for weight in even_weights(n_parts))])
        owners = np.array(list(itertools.product(range(n_buckets), repeat=costs.size)))
        hottest = np.max([(costs * (owners == bucket)).sum(axis=1) for bucket in range(n_buckets)], axis=0)
        if hottest.min() <= limit + 1e-9:
            return n_parts
    return None


@pytest.mark.parametrize(
    ("heavy", "tail", "n_buckets", "target"),
    [
        (20, [4, 4, 4], 2, 0.1),
        (30, [1, 2, 12], 2, 0.1),
        (20, [9, 8, 7, 6], 3, 0.1),
        (30, [9, 8, 7, 6], 3, 0.1),
        (60, [9, 8, 7, 6], 3, 0.1),
        (25, [12, 1, 1, 1], 3, 0.3),
        (40, [5, 5, 5, 5, 5], 3, 0.1),
        (50, [3, 2, 1], 4, 0.1),
        (26, [7, 7, 6], 4, 0.3),
    ],
)
def test_no_fewer_parts_would_do(heavy, tail, n_buckets, target):
    """Against all placements of all even cuts, on cases small enough to try them."""
    tail, heavy = [1000 * cost for cost in tail], 1000 * heavy  # so that merging costs next to nothing
    whole = request_of([heavy], tail, n_buckets=n_buckets, max_imbalance=target)
    least = least_parts(heavy, tail, n_buckets, (1 + target) * (heavy + sum(tail)) / n_buckets)

    made = plan(whole)

    if least is not None:
        assert made.is_even
        assert len(made.parted.cut.get(len(tail), (N_GRAINS,))) == least


def test_merging_that_costs_more_than_waiting_leaves_the_key_whole():
    """With 10 rows a bucket, four partial results more are as much as an imbalance of 0.4."""
    small = request_of([1.3], [0.7], n_buckets=2, max_imbalance=0.0)

    assert not plan(small).parted.cut
    assert plan(request_of([1300], [700], n_buckets=2, max_imbalance=0.0)).parted.cut


def test_two_heavy_keys_are_cut_together():
    """Each into its own number of parts."""
    whole = request_of([40_000, 30_000], [30_000 / 64] * 64, n_buckets=10)

    made = plan(whole)

    assert made.plan.imbalance <= 0.08
    assert [len(buckets_of(made, HOT + i)) for i in (0, 1)] == [4, 3]


def test_a_key_that_is_not_too_heavy_stays_whole():
    """Merging is never free, and one bucket can hold it."""
    assert not plan(request_of([10_000], [625] * 64, n_buckets=4)).parted.cut


def split_today(n_parts, buckets=None):
    return tuple(
        Part(bucket, weight)
        for bucket, weight in zip(buckets or range(n_parts), even_weights(n_parts), strict=True)
    )


def test_a_split_key_as_heavy_as_before_keeps_its_parts():
    """Nothing moves while nothing changes."""
    whole = request_of([60_000], [40_000 / 64] * 64, n_buckets=8)
    first = plan(whole)
    slots = first.plan.owner[:HOT]
    still = request_of([60_000], [40_000 / 64] * 64, n_buckets=8, keep=list(enumerate(slots.tolist())))

    again = plan(still, first.parts)

    assert again.migration == 0
    assert again.parts == first.parts


@pytest.mark.parametrize(
    ("cost", "n_left"),
    [
        pytest.param(60_000, 5, id="as-it-was"),
        pytest.param(49_000, 5, id="a-little-cooler-four-would-just-do"),
        pytest.param(30_000, 3, id="three-do-with-room"),
        pytest.param(9_000, 1, id="joined"),
    ],
)
def test_cooling_joins_parts_but_not_at_once(cost, n_left):
    """Between two numbers of parts lies a fifth of its cost, so that a key that swings is not moved to and fro."""
    rest = 100_000 - cost
    whole = request_of([cost], [rest / 64] * 64, n_buckets=8)

    made = plan(whole, {HOT: split_today(5)})

    assert len(buckets_of(made, HOT)) == n_left
    assert made.plan.imbalance <= 0.08


def test_what_must_move_for_a_cut_counts_against_the_budget():
    """Joining five parts moves four of them, wherever the key ends up: a budget of less leaves it as it is."""
    state = [0.1] * 64 + [93.6]
    crowded = [(slot, 5 + slot % 3) for slot in range(64)]  # the other buckets were the key's
    for limit, n_left in ((0.9, 1), (0.2, 5)):
        whole = request_of([1], [1_000] * 64, n_buckets=8, state=state, max_migration=limit, keep=crowded)

        made = plan(whole, {HOT: split_today(5)})

        assert len(buckets_of(made, HOT)) == n_left
        assert made.migration <= limit * 100 * (1 + 1e-9)


def test_a_tight_budget_moves_a_key_piece_by_piece():
    """Most of the key has to move, and a fifth of all state may in one plan; after some plans it is where it should be."""
    today, owner = {}, None
    tail = [40_000 / 64] * 64
    thetas = []
    for _ in range(5):
        keep = [] if owner is None else list(enumerate(owner[:HOT].tolist()))
        whole = request_of([60_000], tail, n_buckets=8, max_migration=0.2, keep=keep)
        made = plan(whole, today)
        assert made.migration <= 0.2 * 100_000 * (1 + 1e-9)
        thetas.append(made.plan.imbalance)
        owner = made.plan.owner
        today = {
            item: parts for item, parts in made.parts.items() if len({part.bucket for part in parts}) > 1
        }

    assert thetas == sorted(thetas, reverse=True)
    assert thetas[-1] <= 0.08


def test_routes_for_parts_are_counted():
    """A key at home has one part there and needs a route for each other; with room for two the plan does what it can."""
    whole = request_of([60_000], [625] * 64, n_buckets=8, max_routes=2)

    made = plan(whole)

    assert made.plan.n_routes <= 2
    assert 0.08 < made.plan.imbalance < 3.8


def test_keys_that_may_no_longer_be_split_are_joined():
    """The dataset file has changed: results of this key must be made in one place again."""
    whole = request_of([60_000], [625] * 64, n_buckets=8)

    made = plan(whole, {HOT: split_today(5)}, may_split=False)

    assert len(buckets_of(made, HOT)) == 1


def test_joining_waits_for_a_budget_that_allows_it():
    """max_migration is hard, whatever the dataset file says now: four of five parts would have to move."""
    whole = request_of([60_000], [625] * 64, n_buckets=8, max_migration=0.2)

    made = plan(whole, {HOT: split_today(5)}, may_split=False)

    assert len(buckets_of(made, HOT)) == 5
    assert made.migration <= 0.2 * 100_000 * (1 + 1e-9)


@FEW
@given(st.data())
def test_a_cut_moves_what_its_grains_say(data):
    """To the grain: the request's own migration and what was forced bound it from both sides; the load before is what it was."""
    cuts = [
        tuple(
            np.diff(
                [
                    0,
                    *sorted(data.draw(st.sets(st.integers(1, N_GRAINS - 1), min_size=1, max_size=4))),
                    N_GRAINS,
                ]
            )
        )
        for _ in range(2)
    ]
    bucket = st.integers(0, 3)
    today = {4: tuple(Part(data.draw(bucket), int(weight)) for weight in cuts[0])}
    whole = request_of([100, 7], [10, 20, 30, 40], n_buckets=4)
    cut = {4: tuple(map(int, cuts[1]))} if data.draw(st.booleans()) else {}
    parted = PartedRequest(whole=whole, today=today, cut=cut)
    owner = np.array(data.draw(st.lists(bucket, min_size=parted.origin.size, max_size=parted.origin.size)))

    moved = parted.migration(owner)

    of_request = float(parted.request.state[owner != parted.request.owner].sum())
    assert of_request - 1e-6 <= moved <= of_request + parted.forced + 1e-6
    assert parted.load_today().sum() == pytest.approx(207)
    places = {
        item: [part.bucket for part in parts for _ in range(part.weight)] for item, parts in today.items()
    }
    after = [part.bucket for part in parted.parts_after(owner)[4] for _ in range(part.weight)]
    by_grain = 100 / N_GRAINS * sum(a != b for a, b in zip(places[4], after, strict=True))
    others = sum(float(whole.state[i]) for i in (0, 1, 2, 3, 5) if owner[i] != whole.owner[i])
    assert moved == pytest.approx(by_grain + others)


def test_nothing_to_split_asks_for_the_request_itself():
    """Datasets without splits get the very plans they always got."""
    whole = request_of([5], [10, 20], n_buckets=2)

    assert PartedRequest(whole=whole, today={}, cut={}).request is whole
