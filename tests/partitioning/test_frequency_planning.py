"""Frequent keys in parts that are hashed like keys, as split routes and as plans inside the budgets."""

import numpy as np
import pytest
from hypothesis import Phase, example, given, settings
from hypothesis import strategies as st

from partitioning import Budgets, PlanRequest
from partitioning.frequency_planning import plan_by_frequency, split_by_frequency
from partitioning.function import PartitioningFunction
from partitioning.hashing import hash_keys
from partitioning.measures import imbalance
from partitioning.ring import ring_slots
from partitioning.splits import N_GRAINS
from partitioning.sub_keys import N_SLOTS, count_parts, load_of_parts, slots_of_parts

FEW = settings(
    max_examples=40, deadline=None, derandomize=True, phases=[Phase.explicit, Phase.generate]
)  # shrinking takes minutes
S = 512


def scene(frequency, tail=1.0, *, n_buckets=4, **budgets):
    """Slots of ``tail`` each and keys of these frequencies, all at home; hashes of the keys; bucket of each slot."""
    hashes, slots = hash_keys(np.arange(len(frequency)), "bigint"), ring_slots(S, n_buckets)
    cost = np.concatenate([np.full(S, tail), frequency])
    slot = np.concatenate([np.full(S, -1), hashes % S])
    owner = np.concatenate([slots, slots[hashes % S]])
    request = PlanRequest.of_items(
        cost=cost, state=2 * cost, owner=owner, home=owner, n_buckets=n_buckets, slot=slot,
        is_slot=np.arange(cost.size) < S, budgets=Budgets(**budgets),
    )  # fmt: skip
    return request, hashes, slots


def split_today(made):
    return {item: parts for item, parts in made.parts.items() if len({part.bucket for part in parts}) > 1}


def test_parts_that_meet_in_a_bucket_are_one_part_of_the_route():
    """The worked example: five parts of a key are a route to as many buckets as they are hashed to, its own first."""
    hashes, slots = hash_keys(np.arange(4), "bigint"), ring_slots(S, 3)

    found = split_by_frequency([50, 20, 10, 10], hashes, slots, n_top=2)

    places = slots[slots_of_parts(hashes[0], np.arange(5), S)].tolist()
    assert found[0][0].bucket == slots[hashes[0] % S]
    assert {part.bucket: round(part.weight * 5 / N_GRAINS) for part in found[0]} == {
        bucket: places.count(bucket) for bucket in places
    }
    assert set(found) <= {0, 1}


@FEW
@given(st.lists(st.integers(0, 1000), min_size=1, max_size=12), st.integers(0, 12), st.integers(2, 8))
def test_split_routes_load_buckets_as_the_hashed_parts_do(frequency, n_top, n_buckets):
    """Against the paper's way, part by part: the same load in every bucket, to the rounding of a grain a part."""
    hashes, slots = hash_keys(np.arange(len(frequency)), "bigint"), ring_slots(N_SLOTS, n_buckets)
    parts = count_parts(frequency, n_top)

    found = split_by_frequency(frequency, hashes, slots, n_top=n_top)

    load = np.zeros(n_buckets)
    for key, count in enumerate(frequency):
        for bucket, weight in found.get(key, [(slots[hashes[key] % N_SLOTS], N_GRAINS)]):
            load[bucket] += count * weight / N_GRAINS
    slack = (np.array(frequency) * parts).sum() / N_GRAINS + 1e-9
    assert np.abs(load - load_of_parts(frequency, hashes, parts, n_buckets)).max() <= slack


def test_the_function_takes_the_routes_as_they_are():
    """They are split routes like any other: weights sum to all grains, and a key's parts cost a route but at home."""
    hashes = hash_keys(np.arange(50), "bigint")
    function = PartitioningFunction.initial(key_type="bigint", n_buckets=4, n_slots=S)
    found = split_by_frequency(1000 / np.arange(1, 51), hashes, function.slots, n_top=10)

    after = function.with_changes(splits=found, row_id=("id",))

    assert found
    assert after.n_routes == sum(len(parts) - 1 for parts in found.values())


def test_a_skewed_table_is_evened_out_by_parts_alone():
    """Whole, one key makes θ more than 2; in parts little more than the unevenness of the ring is left."""
    request, hashes, slots = scene(30_000 / np.arange(1, 41) ** 1.5, 12.5, n_buckets=8)

    made = plan_by_frequency(request, {}, hashes, slots)

    assert imbalance(request, request.start) > 2
    assert made.plan.imbalance < 0.5
    assert made.plan.planner == "frequency_hash"


@FEW
@given(
    st.lists(st.integers(0, 3000), min_size=1, max_size=15),
    st.integers(2, 6),
    st.sampled_from([None, 0, 3, 20]),
    st.sampled_from([None, 0.0, 0.05, 0.4]),
    st.lists(st.integers(0, 3000), min_size=15, max_size=15),
)
@example(
    frequency=[97, 188, 158, 1000, 600, 3000, 273, 62, 77, 56],
    n_buckets=4,
    max_routes=None,
    max_migration=0.1,
    later=[100, 83, 52, 68, 79, 91, 88, 54, 176, 61],
)
@example(  # a key that is gone is joined, though θ grows by a hair
    frequency=[211, 459, 96], n_buckets=4, max_routes=20, max_migration=0.05, later=[277, 143, 0]
)
def test_budgets_hold_where_keys_are_split_already(frequency, n_buckets, max_routes, max_migration, later):
    """Routes and migration count as they do for every planner, what a new cut moves by itself included; θ with what merging costs grows only to keep them."""
    budgets = {"max_routes": max_routes, "max_migration": max_migration}
    function = PartitioningFunction.initial(key_type="bigint", n_buckets=n_buckets, n_slots=S)
    request, hashes, slots = scene(frequency, 1.25, n_buckets=n_buckets)
    today = split_today(plan_by_frequency(request, {}, hashes, slots))
    before = function.with_changes(splits={i - S: p for i, p in today.items()}, row_id=("id",))
    request, hashes, slots = scene(later[: len(frequency)], 1.25, n_buckets=n_buckets, **budgets)

    made = plan_by_frequency(request, today, hashes, slots)

    after = function.with_changes(splits={i - S: p for i, p in split_today(made).items()}, row_id=("id",))
    assert made.migration <= request.budgets.migration_limit(request.total_state) * (1 + 1e-9)
    assert after.n_routes <= max(request.budgets.route_limit(), before.n_routes)
    if before.n_routes <= request.budgets.route_limit():
        theta = max(measured(made.parted.load_today()), 0.08) + made.merge_cost(made.n_partials_before)
        assert made.plan.imbalance + made.merge_cost(made.n_partials) <= theta + 1e-9


def measured(load):
    return load.max() / load.mean() - 1


@FEW
@given(st.lists(st.integers(0, 3000), min_size=5, max_size=15), st.integers(2, 6), st.integers(0, 100))
def test_an_even_table_is_left_alone(frequency, n_buckets, seed):
    """While θ is within the goal nothing is cut anew, though frequencies have changed: no row moves for nothing."""
    request, hashes, slots = scene(frequency, 1.25, n_buckets=n_buckets)
    today = split_today(plan_by_frequency(request, {}, hashes, slots))
    later = np.array(frequency) * np.random.default_rng(seed).uniform(0.3, 1.5, len(frequency))
    request, hashes, slots = scene(later, 1.25, n_buckets=n_buckets, max_imbalance=0.6)

    made = plan_by_frequency(request, today, hashes, slots)

    if measured(made.parted.load_today()) <= 0.6:
        assert made.migration == 0
        assert split_today(made) == today


def test_few_routes_are_used_as_far_as_they_go():
    """One key in all 8 buckets would take 7 routes: with 2, two parts leave."""
    request, hashes, slots = scene([30_000] + [500] * 20, 12.5, n_buckets=8, max_routes=2)

    made = plan_by_frequency(request, {}, hashes, slots)

    assert 1 <= made.plan.n_routes <= 2
    assert made.plan.imbalance < imbalance(request, request.start)


def test_nothing_is_cut_where_merging_costs_more():
    """A split is weighed against its partial results, as all splits are: of a few rows none is cut into parts."""
    request, hashes, slots = scene([1.0], 0.001)

    assert not plan_by_frequency(request, {}, hashes, slots).parted.cut


@pytest.mark.parametrize("max_migration", [0.02, 0.1])
def test_a_tight_budget_is_used(max_migration):
    """What may move, moves: the hottest bucket is relieved by as much as the budget lets go."""
    request, hashes, slots = scene(
        30_000 / np.arange(1, 41) ** 1.5, 12.5, n_buckets=8, max_migration=max_migration
    )

    made = plan_by_frequency(request, {}, hashes, slots)

    share = made.migration / request.total_state
    assert 0.5 * max_migration <= share <= max_migration * (1 + 1e-9)
    assert made.plan.imbalance < imbalance(request, request.start)
