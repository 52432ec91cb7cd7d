"""HyperLogLog counters with the paper's optimistic contains, and the splitters that use them."""

import numpy as np
import pytest

from partitioning.hashing import hash_keys
from partitioning.splitters import SPLITTERS
from partitioning.splitters.hll_keys import HllKeys
from partitioning.splitters.options import CardinalityOptions, LmOptions
from partitioning.splitters.request import SplitRequest
from partitioning.splitting_cost import cost_of_split

KEYS = hash_keys(np.arange(6_000), "bigint").tolist()


def filled(keys, log2_registers=12):
    counters = HllKeys(2, log2_registers)
    for key in keys:
        counters.update(0, key)
    return counters


def test_seen_keys_are_never_taken_for_new():
    """The optimistic contains errs to one side only: an affinity once made is kept."""
    counters = filled(KEYS[:2_000], log2_registers=7)

    assert all(counters.contains(0, key) for key in KEYS[:2_000])


def test_new_keys_are_sometimes_taken_for_seen_and_rarely_while_there_is_room():
    """128 registers forget after 2,000 keys; 4,096 registers mistake few of 300 keys after 300."""
    crowded, roomy = filled(KEYS[:2_000], log2_registers=7), filled(KEYS[:300])

    wrong_crowded = sum(crowded.contains(0, key) for key in KEYS[2_000:2_300])
    wrong_roomy = sum(roomy.contains(0, key) for key in KEYS[2_000:2_300])

    assert wrong_crowded > 200
    assert wrong_roomy < 30


def test_asking_changes_nothing():
    """A trial update is a trial: neither the count nor a later answer may depend on having asked."""
    asked, silent = filled(KEYS[:100]), filled(KEYS[:100])

    answers = [asked.contains(0, key) for key in KEYS[200:260] for _ in range(2)]

    assert answers[::2] == answers[1::2]
    assert asked.n_keys == silent.n_keys
    for key in KEYS[230:400]:
        assert asked.contains(0, key) == silent.contains(0, key)
        asked.update(0, key)
        silent.update(0, key)
        assert asked.n_keys == silent.n_keys


def test_counts_are_within_the_error_and_buckets_apart():
    """Three standard errors of 1.04 / sqrt(4096), and nothing in a bucket that got nothing."""
    counters = filled(KEYS)

    assert counters.n_keys[0] == pytest.approx(6_000, rel=3 * 1.04 / 64)
    assert counters.n_keys[1] == 0.0


@pytest.mark.parametrize("name", ["am", "cam"])
def test_sketches_split_few_keys_more_than_exact_sets(name):
    """AM-2-H behaves like AM-2 (the paper's Sec. 6.1.3): Γ within 3 % of |S|, and never more than M buckets a key."""
    rng = np.random.default_rng(3)
    request = SplitRequest.of_keys(rng.zipf(1.4, 6_000) % 5_000, "bigint", n_buckets=8)

    bucket = SPLITTERS[name](request, CardinalityOptions(counter="hll"))

    cost = cost_of_split(request.key_hash, bucket, 8)
    assert cost.n_keys <= cost.merge_cost <= 1.03 * cost.n_keys


@pytest.mark.parametrize("name", ["cm", "lm"])
def test_sketches_even_out_keys_as_exact_sets_do(name):
    """CM-2-H and LM-2-H: the cardinality imbalance stays within the sketch's error of the exact one."""
    rng = np.random.default_rng(4)
    request = SplitRequest.of_keys(rng.zipf(1.4, 6_000) % 5_000, "bigint", n_buckets=4)
    options = LmOptions if name == "lm" else CardinalityOptions

    exact, sketched = (
        cost_of_split(request.key_hash, SPLITTERS[name](request, options(counter=counter)), 4)
        for counter in ("exact", "hll")
    )

    assert abs(sketched.cardinality_imbalance - exact.cardinality_imbalance) <= 0.05 * exact.keys.mean()
