"""Which keys are cut, into how many parts, and when they are joined again."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from partitioning import Budgets, PlanRequest, make_plan, measures
from partitioning.parting import PartedRequest
from partitioning.split_planning import plan_with_splits
from partitioning.splits import N_GRAINS, Part, even_weights, held_by

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


def plan(whole, today=None, *, may_split=True, resting=()):
    return plan_with_splits(whole, today or {}, make_plan, may_split=may_split, resting=resting)


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


def least_partials(keys, tail, n_buckets, limit):
    """
    By trying everything: the fewest partial results beyond one a key, whatever the sizes of parts; None if nothing is within the limit.

    Every placement of the tail, every set of buckets for each key. Parts of any size fit some buckets just if for no group of keys the
    buckets of all of them have too little room together (Hall).
    """
    places = itertools.product(range(n_buckets), repeat=len(tail))
    loads = {
        tuple(sorted(sum(c for c, p in zip(tail, place, strict=True) if p == b) for b in range(n_buckets)))
        for place in places
    }
    subsets = [set(s) for n in range(1, n_buckets + 1) for s in itertools.combinations(range(n_buckets), n)]
    groups = [g for n in range(1, len(keys) + 1) for g in itertools.combinations(range(len(keys)), n)]

    def fits(load, chosen):
        return max(load) <= limit and all(
            sum(keys[k] for k in group)
            <= sum(limit - load[b] for b in set().union(*(chosen[k] for k in group)))
            for group in groups
        )

    for chosen in sorted(itertools.product(subsets, repeat=len(keys)), key=lambda sets: sum(map(len, sets))):
        if any(fits(load, chosen) for load in loads):
            return sum(map(len, chosen)) - len(keys)
    return None


@pytest.mark.parametrize(
    ("keys", "tail", "n_buckets", "target"),
    [
        ([20], [4, 4, 4], 2, 0.1),
        ([30], [1, 2, 12], 2, 0.1),
        ([20], [9, 8, 7, 6], 3, 0.1),
        ([30], [9, 8, 7, 6], 3, 0.1),
        ([60], [9, 8, 7, 6], 3, 0.1),
        ([25], [12, 1, 1, 1], 3, 0.3),
        ([40], [5, 5, 5, 5, 5], 3, 0.1),
        ([50], [3, 2, 1], 4, 0.1),
        ([26], [7, 7, 6], 4, 0.3),
        pytest.param([28], [2, 8, 11], 3, 0.02, id="uneven-parts-are-needed"),
        pytest.param([42], [3, 5], 4, 0.1, id="more-parts-than-the-key-alone-needs"),
        pytest.param([59, 56, 53], [5], 2, 0.02, id="a-key-that-would-fit-a-bucket-is-cut"),
        pytest.param([46, 15], [9, 4], 4, 0.02, id="two-keys-three-parts-more"),
        pytest.param([58, 48], [9, 4, 2, 12], 4, 0.02, id="the-tail-fits-only-beside-parts"),
        pytest.param([6, 56, 19], [9, 10], 3, 0.08, id="one-of-three-keys-is-cut"),
    ],
)
def test_no_fewer_partial_results_would_do(keys, tail, n_buckets, target):
    """Against all placements of all cuts, even or not, of one key or more, on cases small enough to try them."""
    tail, keys = ([1000 * cost for cost in costs] for costs in (tail, keys))  # merging costs next to nothing
    whole = request_of(keys, tail, n_buckets=n_buckets, max_imbalance=target)
    least = least_partials(keys, tail, n_buckets, (1 + target) * (sum(keys) + sum(tail)) / n_buckets)

    made = plan(whole)

    assert least is not None
    assert made.is_even
    assert made.n_partials == least


@pytest.mark.parametrize("seed", range(12))
def test_one_heavy_key_among_coarse_slots_needs_no_fewer(seed):
    """The same for drawn cases: one key, up to four slots that fit badly."""
    rng = np.random.default_rng(seed)
    tail = (1000 * rng.integers(1, 13, rng.integers(1, 5))).tolist()
    keys, n_buckets = [int(1000 * rng.integers(20, 60))], int(rng.integers(2, 5))
    least = least_partials(keys, tail, n_buckets, 1.1 * (sum(keys) + sum(tail)) / n_buckets)

    made = plan(request_of(keys, tail, n_buckets=n_buckets, max_imbalance=0.1))

    if least is not None:
        assert made.is_even
        assert made.n_partials == least


def test_nothing_is_cut_within_the_limit():
    """A key of 1.07 mean loads is above the target of 0.06 by itself, but nothing has to be done below 0.08."""
    whole = request_of(
        [10_700], [29_300 / 3] * 3, n_buckets=4, max_imbalance=0.08, target_imbalance=0.06,
        keep=[(0, 1), (1, 2), (2, 3)],
    )  # fmt: skip

    made = plan(whole)

    assert made.migration == 0
    assert not made.parted.cut


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


def even_but_split(cost, **budgets):
    """100,000 rows that are even in 8 buckets; the first five of them hold a fifth of a key of this cost each."""
    slot = (100_000 - cost) / 640
    n_slots = [round((12_500 - cost / 5 * (bucket < 5)) / slot) for bucket in range(7)]
    owner = [bucket for bucket, n in enumerate([*n_slots, 640 - sum(n_slots)]) for _ in range(n)]
    state = [slot] * 640 + [cost]
    return request_of([cost], [slot] * 640, n_buckets=8, state=state, keep=list(enumerate(owner)), **budgets)


def test_cooled_key_is_joined_though_the_table_stays_even():
    """Nothing forces a plan, and moving 4,000 rows saves 4 partial results a window: it pays in the end, not in five windows."""
    whole = even_but_split(5_000)

    made = plan(whole, {640: split_today(5)})

    assert measures.imbalance(made.parted.as_today.request, made.parted.as_today.request.start) < 0.04
    assert len(buckets_of(made, 640)) == 1
    assert made.plan.imbalance <= 0.08


def test_key_that_would_just_fit_a_bucket_is_not_joined():
    """Nine tenths of what a bucket may hold: a little more in the next window, and it would have to be cut again."""
    made = plan(even_but_split(12_150), {640: split_today(5)})

    assert len(buckets_of(made, 640)) > 1


def test_uneven_parts_leave_what_they_can_of_the_target():
    """Two parts are needed for the key; sized to the room, both buckets end below the target, for the next window's drift."""
    made = plan(request_of([40_000], [5_000] * 5, n_buckets=3, max_imbalance=0.1))

    assert made.n_partials == 1
    assert made.plan.imbalance < 0.05


def test_resting_key_is_joined_only_by_a_plan_that_pays():
    """Cut in one window, cold in the next: it may be hot again. But where the cold key makes the table uneven, joining may pay."""
    made = plan(even_but_split(5_000), {640: split_today(5)}, resting=[640])
    crowded = request_of(
        [1_000], [99_000 / 64] * 64, n_buckets=8, keep=[(slot, 5 + slot % 3) for slot in range(64)]
    )
    uneven = plan(crowded, {HOT: split_today(5)}, resting=[HOT])

    assert len(buckets_of(made, 640)) == 5
    assert made.migration == 0
    assert len(buckets_of(uneven, HOT)) == 1
    assert uneven.payback.is_worth_it


def test_join_under_a_tight_budget_goes_on_window_after_window():
    """Four fifths of the key and what it displaces are 8 % of all state, and 1 % may move in a window."""
    whole, today = even_but_split(5_000, max_migration=0.01), {640: split_today(5)}
    apart = []
    for _ in range(16):
        made = plan(whole, today)
        assert made.migration <= 0.01 * 100_000 * (1 + 1e-9)
        assert made.plan.imbalance <= 0.08 + 1e-9
        apart.append(N_GRAINS - max(held_by(made.parts[640]).values()) if 640 in made.parts else 0)
        if apart[-1] == 0:
            break
        keep = list(enumerate(made.plan.owner[:640].tolist()))
        slot = float(whole.cost[0])
        whole = request_of([5_000], [slot] * 640, n_buckets=8, keep=keep, max_migration=0.01)
        today = {640: made.parts[640]}

    assert apart[-1] == 0
    assert apart == sorted(apart, reverse=True)


def test_join_never_makes_the_table_uneven():
    """One bucket is to hold the key, and slots that could make room for it are pinned by a budget of their own: it stays split."""
    whole = request_of([10_000], [11_250] * 8, n_buckets=8, max_migration=0.09, max_imbalance=0.01)

    made = plan(whole, {8: split_today(8)})

    assert len(buckets_of(made, 8)) > 1
    assert made.plan.imbalance <= 0.01 + 1e-9


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


def test_routes_are_kept_for_a_key_away_from_home():
    """Where all of it lies each of its parts is a route. A plan beyond max_routes would be refused, in this window and in all to come."""
    whole = request_of([90_000], [14_000, 5_000, 12_000], n_buckets=6, max_routes=2, keep=[(3, 5)])

    made = plan(whole)

    after = {part.bucket for part in made.parts.get(3, ())} or {int(made.plan.owner[3])}
    assert len(after - {int(made.plan.owner[0])}) <= 2
    assert made.parted.n_routes(made.plan.owner) <= 2


def test_neighbours_in_one_bucket_are_one_route():
    """What the function will count, so that max_routes is neither broken nor taken for full too soon."""
    whole = request_of([100, 7], [10, 20], n_buckets=4)
    parted = PartedRequest(whole=whole, today={}, cut={2: (1024, 1024, 1024, 1024)})

    # Slot 0, and so the keys' home, is bucket 0. The first part is the key's own position, the others come last.
    assert parted.n_routes(np.array([0, 1, 0, 0, 0, 0, 0])) == 0
    assert parted.n_routes(np.array([0, 1, 3, 0, 3, 3, 3])) == 1
    assert parted.n_routes(np.array([0, 1, 3, 2, 0, 3, 1])) == 4
    assert parted.n_routes(np.array([3, 1, 0, 3, 0, 3, 1])) == 2


def test_split_key_without_rows_in_the_window_stops_no_plan():
    """It is still in the function while another is hot: there is nothing of it to fill any room with."""
    whole = request_of([28_000, 0], [2_000, 8_000, 11_000], n_buckets=3, max_imbalance=0.02)

    made = plan(whole, {4: split_today(3)}, resting=[4])

    assert made.is_even
    assert len(buckets_of(made, 3)) == 3


def test_heavy_key_in_a_bucket_that_goes_away_is_cut():
    """Where buckets are taken away the key's own is none of those that are left to look for room in."""
    whole = request_of([28_000], [2_000, 8_000, 11_000], n_buckets=3, max_imbalance=0.02)
    shrunk = replace(whole, owner=np.array([0, 1, 2, 3]), n_buckets_before=4)

    made = plan(shrunk)

    assert made.is_even
    assert len(buckets_of(made, 3)) == 3


@pytest.mark.parametrize("max_migration", [None, 0.3, 0.1, 0.02, 0.001])
@pytest.mark.parametrize("may_split", [True, False])
def test_join_goes_to_no_bucket_that_is_to_be_emptied(may_split, max_migration):
    """Though most of the key is there, and though what a drained bucket holds counts for no imbalance."""
    whole = request_of([2_000], [9_000] * 4, n_buckets=4, max_migration=max_migration)
    today = (Part(1, 100), Part(0, 3900), Part(2, 96))

    made = plan(replace(whole, drained=np.array([0])), {4: today}, may_split=may_split)

    parts = made.parts.get(4, ())
    before, after = ([b for b, weight in of for _ in range(weight)] for of in (today, parts))
    assert not any(b != a == 0 for b, a in zip(before, after, strict=True))
    assert made.migration <= (max_migration or 1) * 38_000 * (1 + 1e-9)


@pytest.mark.parametrize("may_split", [True, False])
@pytest.mark.parametrize("cost", [3_000, 60_000, 300_000])
@pytest.mark.parametrize("today", [{}, {HOT: split_today(2)}, {HOT: (Part(0, 3_600), Part(1, 496))}])
def test_pinned_key_is_neither_cut_nor_joined(cost, may_split, today):
    """A pin holds every row of a key, whatever its cost and whatever the dataset file says now."""
    whole = request_of([cost], [625] * 64, n_buckets=8)

    made = plan(replace(whole, is_pinned=np.arange(65) == HOT), today, may_split=may_split)

    assert made.parts == today
    assert int(made.plan.owner[HOT]) == 0


def test_join_beside_a_change_of_buckets_keeps_the_migration_budget():
    """What buckets that go away hold must move, and already is more than may. Joining keys on top of it can wait for the next window."""
    whole = request_of([1_000], [1_000] * 4, n_buckets=2, max_migration=0.3)
    owner = np.array([0, 1, 2, 3, 0])
    shrunk = replace(whole, owner=owner, home_before=owner, n_buckets_before=4)
    today = {4: (Part(0, 2_148), Part(1, 1_948))}

    made = plan(shrunk, today, may_split=False)

    assert made.migration <= 2_000


def test_keys_that_may_no_longer_be_split_are_joined():
    """The dataset file has changed: results of this key must be made in one place again."""
    whole = request_of([60_000], [625] * 64, n_buckets=8)

    made = plan(whole, {HOT: split_today(5)}, may_split=False)

    assert len(buckets_of(made, HOT)) == 1


def test_joining_goes_as_far_as_the_budget_allows():
    """max_migration is hard, whatever the dataset file says now: of four parts that would have to move, one may."""
    whole = request_of([60_000], [625] * 64, n_buckets=8, max_migration=0.2)

    made = plan(whole, {HOT: split_today(5)}, may_split=False)

    assert len(buckets_of(made, HOT)) == 4
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
