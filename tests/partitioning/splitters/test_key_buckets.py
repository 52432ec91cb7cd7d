"""The table of all keys that a sender has sent: what a dict would say, for many keys at once."""

import numpy as np
import pytest

from partitioning.splitters.key_buckets import _SPREAD, NOT_SENT, KeyBuckets

EXTREMES = [0, -1, 1, 2**63 - 1, -(2**63)]
# All begin at the first place and go on by one: whatever else is there, they are in each other's way.
IN_THE_WAY = [(pow(int(_SPREAD), -1, 2**64) * (i << 30)) % 2**64 - 2**63 for i in range(200)]
KEYS = {
    "random": np.random.default_rng(0).integers(-(2**63), 2**63 - 1, 5_000),
    "in a row": np.arange(-2_000, 2_000),
    "extreme": np.array(EXTREMES),
    "in the way": np.array(IN_THE_WAY),
}


class Counting(KeyBuckets):
    """Counts the steps of a search, and fails where it would go on for ever: after a step a place it has been everywhere."""

    def buckets_of(self, keys):
        self.n_steps = 0
        return super().buckets_of(keys)

    def add(self, keys, buckets):
        self.n_steps = 0
        super().add(keys, buckets)

    def _next_places(self, mixed, place):
        self.n_steps += 1
        assert self.n_steps < self._key.size
        return super()._next_places(mixed, place)


@pytest.mark.parametrize("name", KEYS)
@pytest.mark.parametrize("size", [1, 3, 700])
def test_equals_a_dict(name, size):
    """A key that is forgotten, or taken for another, would be sent to two buckets and never be merged."""
    keys = KEYS[name][: 40 * size]
    table, expected = Counting(), {}
    for start in range(0, keys.size, size):
        batch = keys[start : start + size]
        assert table.buckets_of(keys).tolist() == [expected.get(key, NOT_SENT) for key in keys.tolist()]
        buckets = np.arange(start, start + batch.size) % 11
        table.add(batch, buckets)
        expected |= dict(zip(batch.tolist(), buckets.tolist(), strict=True))

    assert table.buckets_of(keys).tolist() == [expected[key] for key in keys.tolist()]


@pytest.mark.parametrize("size", [1, 64, 256])
def test_a_new_key_is_known_for_new_after_a_few_steps(size):
    """Half of the places are free however many keys there are. In a full table the search for a key that is not there never ends."""
    sent, new = KEYS["random"][:1_024], KEYS["random"][1_024:2_024]
    table, most = Counting(), 0
    for start in range(0, sent.size, size):
        table.add(sent[start : start + size], np.zeros(size, dtype=np.int64))
        assert set(table.buckets_of(new)) == {NOT_SENT}
        most = max(most, table.n_steps)

    assert most <= 25


def test_adding_nothing_changes_nothing():
    """A batch may have no new keys."""
    table, none = Counting(), np.array([], dtype=np.int64)
    table.add(none, none)
    table.add(np.array(EXTREMES), np.arange(len(EXTREMES)))
    table.add(none, none)

    assert table.buckets_of(np.array(EXTREMES)).tolist() == list(range(len(EXTREMES)))


def test_nothing_is_known_at_first():
    """Zero is what an empty place holds, and a key like any other."""
    assert KeyBuckets().buckets_of(np.array(EXTREMES)).tolist() == [NOT_SENT] * len(EXTREMES)
    assert KeyBuckets().buckets_of(np.array([], dtype=np.int64)).tolist() == []
