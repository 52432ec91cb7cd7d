"""Frequent keys in parts: how many, and where the parts end up."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from partitioning.errors import PaneError
from partitioning.hashing import hash_keys
from partitioning.ring import ring_slots
from partitioning.sub_keys import N_SLOTS, count_parts, load_of_parts, place_parts, spread

FEW = settings(max_examples=100, deadline=None, derandomize=True)
frequencies = st.lists(st.integers(0, 1000), max_size=20)


@pytest.mark.parametrize(
    ("frequency", "n_top", "parts"),
    [
        pytest.param([50, 20, 10, 10], 2, [5, 2, 1, 1], id="as-frequent-as-the-first-whole-key"),
        pytest.param([10, 25, 7, 20], 2, [1, 3, 1, 2], id="rounded-up-whatever-the-order"),
        pytest.param([50, 20, 10], 0, [1, 1, 1], id="nothing-cut"),
        pytest.param([50, 20, 10], 9, [5, 2, 1], id="all-keys-among-the-top"),
        pytest.param([4, 4, 4], 1, [1, 1, 1], id="ties-need-no-cut"),
        pytest.param([9, 0, 0], 2, [1, 1, 1], id="no-part-for-nothing"),
        pytest.param([0.7, 0.1], 1, [7, 1], id="floats-cut-no-further"),
        pytest.param([], 3, [], id="no-keys"),
        pytest.param([1e10, 1e-10, 1e-310], 1, [2**53, 1, 1], id="more-parts-than-can-be-counted"),
        pytest.param([1e10, 1e-310], 1, [2**53, 1], id="more-than-a-float-can-hold"),
    ],
)
def test_parts_are_in_proportion_to_frequency(frequency, n_top, parts):
    """p_i = f_i / f_(top+1), rounded up."""
    assert count_parts(frequency, n_top).tolist() == parts


def test_what_stays_whole_beside_the_keys_sets_how_fine_they_are_cut():
    """A lone key of 60 beside slots of 7 is cut into 9; finer parts than the heaviest slot would even out nothing."""
    assert count_parts([60], 5, others=7).tolist() == [9]
    assert count_parts([60, 10], 1, others=7).tolist() == [6, 1]
    assert count_parts([60], 5).tolist() == [1]


@FEW
@given(frequencies, st.integers(0, 25))
def test_no_part_is_more_frequent_than_the_heaviest_whole_key(frequency, n_top):
    """What cutting is for: after it, the first key that stays whole is the largest grain there is."""
    counts = np.array(frequency, dtype=float)
    parts = count_parts(counts, n_top)

    order = np.argsort(-counts, kind="stable")
    present = order[counts[order] > 0]
    if present.size:
        grain = counts[present[min(n_top, present.size - 1)]]
        assert (counts / parts).max() <= grain * (1 + 1e-9)
    assert (parts[order[n_top:]] == 1).all()


def test_a_whole_key_goes_where_the_ring_puts_it():
    """Part 0 is at home: cutting a key moves only its other parts."""
    hashes = hash_keys(np.arange(1000), "bigint")

    placed = place_parts(hashes, np.zeros(1000, dtype=int), 8)

    assert placed.tolist() == ring_slots(N_SLOTS, 8)[hashes % N_SLOTS].tolist()


def test_the_parts_of_a_key_are_spread_like_keys():
    """Otherwise a hot key's parts would meet in one bucket again."""
    load = np.bincount(place_parts(np.full(8000, 12345), np.arange(8000), 8), minlength=8)

    assert spread(load) < 0.15


def test_another_number_of_buckets_moves_few_parts():
    """Consistent hashing: of 10,000 parts about 1/9 go to the ninth bucket, and nothing goes anywhere else."""
    hashes, part = hash_keys(np.arange(1000), "bigint").repeat(10), np.tile(np.arange(10), 1000)

    before, after = place_parts(hashes, part, 8), place_parts(hashes, part, 9)

    moved = before != after
    assert set(after[moved].tolist()) == {8}
    assert moved.mean() == pytest.approx(1 / 9, abs=0.04)


@FEW
@given(frequencies, st.integers(0, 10), st.integers(1, 6))
def test_all_rows_arrive(frequency, n_top, n_buckets):
    """The load of all buckets is that of all keys, cut or not, and what rows taking turns add up to."""
    hashes = hash_keys(np.arange(len(frequency)), "bigint")
    parts = count_parts(frequency, n_top)

    load = load_of_parts(frequency, hashes, parts, n_buckets)

    rows = np.repeat(np.arange(len(frequency)), frequency)
    turns = [row % n_parts for rows, n_parts in zip(frequency, parts, strict=True) for row in range(rows)]
    buckets = place_parts(hashes[rows], turns, n_buckets)
    assert load.sum() == pytest.approx(sum(frequency))
    assert np.abs(np.bincount(buckets, minlength=n_buckets) - load).max() <= parts.sum()


def test_spread_is_deviation_over_mean():
    """The paper's "load-balancing ratio"."""
    assert spread([1, 3]) == 0.5
    assert spread([0, 0]) == 0


@pytest.mark.parametrize("parts", [[1, 0], [1, -2]])
def test_a_key_in_no_parts_is_refused(parts):
    """Its rows would be divided by nothing, and be nowhere."""
    with pytest.raises(
        PaneError, match=rf"parts must be one or more a key\. Got {parts[1]} at position 1\. Use"
    ):
        load_of_parts([1, 1], [1, 2], parts, 4)


@pytest.mark.parametrize(
    ("frequency", "n_top", "message"),
    [
        ([-1], 1, r"frequency must hold one finite number a key"),
        ([float("nan")], 1, r"frequency must hold one finite number a key"),
        ([1], -1, r"n_top must be a whole number, 0 or more\. Got -1"),
        (["many"], 1, r"frequency must hold one finite number a key"),
        ([10**400], 1, r"frequency must hold one finite number a key"),
        ([1], 1.5, r"n_top must be a whole number, 0 or more\. Got 1\.5"),
    ],
)
def test_what_cannot_be_cut_is_refused(frequency, n_top, message):
    """Which field, what it must be."""
    with pytest.raises(PaneError, match=message):
        count_parts(frequency, n_top)


@pytest.mark.parametrize("others", [-1, float("nan"), float("inf")])
def test_a_rest_that_cannot_be_is_refused(others):
    """NaN compares as it likes: which key is cut how finely would depend on the order of arguments."""
    with pytest.raises(PaneError, match=rf"others must be a finite number, 0 or more\. Got {others}"):
        count_parts([5, 2], 1, others=others)
