"""Parts of keys for given buckets: sizes from the room there is, and as few rows moved as can be."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from partitioning.split_placing import fill, spread
from partitioning.splits import N_GRAINS, Part, held_by

FEW = settings(deadline=None, max_examples=60, derandomize=True)


def test_spread_leaves_what_may_stay():
    """The worked example: a quarter stays in bucket 0, the other grains go to bucket 2."""
    assert spread((Part(0, N_GRAINS),), {0: 1, 2: 3}) == (Part(0, 1024), Part(2, 3072))


@FEW
@given(st.data())
def test_spread_moves_no_more_grains_than_must_change_bucket(data):
    """What a bucket holds beyond its new share has to go, and nothing else: migration is what budgets are about."""
    cuts = sorted(data.draw(st.sets(st.integers(1, N_GRAINS - 1), max_size=5)))
    bucket = st.integers(0, 4)
    today = tuple(Part(data.draw(bucket), int(weight)) for weight in np.diff([0, *cuts, N_GRAINS]))
    shares = data.draw(st.dictionaries(bucket, st.floats(0.01, 1), min_size=1))

    after = spread(today, shares)

    held, wanted = held_by(today), held_by(after)
    before, now = ([b for b, weight in parts for _ in range(weight)] for parts in (today, after))
    assert len(now) == N_GRAINS
    assert set(wanted) <= set(shares)
    for b, share in shares.items():
        assert wanted[b] == pytest.approx(N_GRAINS * share / sum(shares.values()), abs=1)
    assert sum(a != b for a, b in zip(before, now, strict=True)) == sum(
        max(0, held[b] - wanted[b]) for b in held
    )


@pytest.mark.parametrize(
    ("room", "keys", "expected"),
    [
        pytest.param([1, 2, 7], [(9, 0)], [{2: 7, 1: 2}], id="the-worked-example"),
        pytest.param([5, 5, 5], [(4, 1)], [{1: 4}], id="stays-in-its-bucket"),
        pytest.param([3, 9, 5], [(4, 0)], [{2: 4}], id="whole-where-it-fits-best"),
        pytest.param([6, 5, 4], [(8, 0)], [{0: 6, 2: 2}], id="the-last-bucket-is-the-tightest-that-will-do"),
        pytest.param([6, 6], [(9, 0), (3, 0)], [{0: 6, 1: 3}, {1: 3}], id="one-after-the-other"),
        pytest.param([1, 2], [(4, 0)], None, id="too-little-room"),
        pytest.param([-3, 4], [(4, 0)], [{1: 4}], id="a-bucket-that-is-over-takes-nothing"),
        pytest.param([0.2, 0.1], [(0.1 + 0.2, 0)], [{0: 0.2, 1: 0.1}], id="room-to-the-last-bit-of-a-sum"),
    ],
)
def test_fill_takes_the_fewest_buckets(room, keys, expected):
    """Each further bucket is a partial result more to merge."""
    assert fill(np.array(room, dtype=np.float64), keys) == expected
