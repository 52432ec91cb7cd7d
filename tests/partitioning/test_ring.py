"""The consistent-hash ring: how much moves when N changes, and how even it is."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from partitioning.errors import FunctionError
from partitioning.hashing import hash_key
from partitioning.ring import ring_slots

FEW = settings(deadline=None, max_examples=60, derandomize=True)


@pytest.mark.parametrize(
    ("n_slots", "n_buckets", "n_points"), [(16, 3, 2), (64, 3, 1), (64, 5, 1), (256, 10, 3)]
)
def test_slots_belong_to_the_next_point_clockwise(n_slots, n_buckets, n_points):
    """The definition, followed by hand: a ring that differs from the one that made a table would reshuffle it."""
    points = sorted(
        (hash_key((bucket << 32) + point, "bigint") % 2**64, bucket)
        for bucket in range(n_buckets)
        for point in range(n_points)
    )
    places = [slot * 2**64 // n_slots for slot in range(n_slots)]
    expected = [next((b for at, b in points if at >= place), points[0][1]) for place in places]

    assert ring_slots(n_slots, n_buckets, n_points).tolist() == expected


def test_ring_is_the_same_for_ever():
    """Tables in the field were laid out by this ring: these numbers must never change."""
    assert ring_slots(16, 4).tolist() == [3, 0, 0, 1, 1, 2, 3, 2, 1, 1, 1, 2, 1, 0, 2, 2]
    assert ring_slots(16, 4, 8).tolist() == [3, 3, 1, 1, 3, 0, 3, 0, 3, 1, 0, 0, 3, 0, 2, 2]


@FEW
@given(st.integers(0, 10), st.integers(1, 40), st.integers(1, 300))
def test_one_bucket_more_takes_slots_only_to_itself(log_slots, n_buckets, n_points):
    """Nothing moves between old buckets, whatever the sizes; read backwards, the last bucket leaves only what it held."""
    n_slots = 2**log_slots
    n_buckets = min(n_buckets, n_slots)
    if n_buckets == n_slots:
        return
    before, after = ring_slots(n_slots, n_buckets, n_points), ring_slots(n_slots, n_buckets + 1, n_points)

    assert set(after[before != after].tolist()) <= {n_buckets}
    assert before.min() >= 0
    assert before.max() < n_buckets


@pytest.mark.parametrize("n_buckets", [1, 2, 4, 9, 16, 39, 100])
def test_one_bucket_more_moves_its_share(n_buckets):
    """About 1/(N+1) of the slots: that is what a new bucket should hold, and moving more would be waste."""
    before, after = ring_slots(16_384, n_buckets), ring_slots(16_384, n_buckets + 1)
    share = (before != after).mean() * (n_buckets + 1)

    assert 0.75 < share < 1.25


@pytest.mark.parametrize(
    ("n_slots", "n_buckets", "fullest"),
    [(4_096, 10, 1.12), (4_096, 40, 1.21), (65_536, 40, 1.12), (256, 10, 1.46)],
)
def test_ring_is_as_even_as_its_docstring_says(n_slots, n_buckets, fullest):
    """The first layout of a dataset is this ring: nobody has planned yet."""
    counts = np.bincount(ring_slots(n_slots, n_buckets), minlength=n_buckets)

    assert fullest - 0.02 < counts.max() * n_buckets / n_slots < fullest


def test_more_points_are_more_even():
    """What the option is for."""
    spread = [np.bincount(ring_slots(65_536, 10, points)).std() for points in (4, 64, 1024)]

    assert spread[0] > 2 * spread[1] > 4 * spread[2]


def test_one_bucket_holds_every_slot():
    """The smallest dataset there is."""
    assert ring_slots(64, 1).tolist() == [0] * 64
    assert ring_slots(1, 1, 1).tolist() == [0]


@pytest.mark.parametrize(
    ("n_slots", "n_buckets", "n_points", "sentence"),
    [
        (48, 2, 8, r"n_slots must be a power of two, at most 65536\. Got 48\."),
        (131_072, 2, 8, r"n_slots must be a power of two, at most 65536\. Got 131072\."),
        (16, 0, 8, r"n_buckets must be a whole number from 1 to n_slots = 16\. Got 0\."),
        (16, 17, 8, r"n_buckets must be a whole number from 1 to n_slots = 16\. Got 17\."),
        (16, 2.0, 8, r"n_buckets must be a whole number .* Got 2\.0\."),
        (16, True, 8, r"n_buckets must be a whole number .* Got True\."),
        (16, 2, 0, r"points_per_bucket must be a whole number from 1 to 33554432, for 2 buckets\. Got 0\."),
        (16, 2, 2**25 + 1, r"points_per_bucket must be .* Got 33554433\. The default is 256\."),
        (16, 2, 1.5, r"points_per_bucket must be .* Got 1\.5\."),
    ],
)
def test_rings_that_cannot_be_built_are_refused(n_slots, n_buckets, n_points, sentence):
    """Refused before any work, with the limit in the sentence."""
    with pytest.raises(FunctionError, match=sentence):
        ring_slots(n_slots, n_buckets, n_points)
