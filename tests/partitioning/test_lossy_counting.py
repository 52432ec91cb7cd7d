"""Lossy counting: what it promises about counts, keys and memory, on whole streams and on sliding windows."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from partitioning.errors import PlanRequestError
from partitioning.tracking.lossy_counting import LossyCounter, SlidingLossyCounter, counting_error

SETTINGS = settings(max_examples=30, deadline=None, derandomize=True)
STREAMS = st.lists(st.integers(0, 12), max_size=300)
EPSILONS = st.sampled_from([0.5, 0.3, 0.25, 0.1, 0.04])


def count_one_by_one(stream, epsilon):
    """Sec. 4.1.2 word by word: {key: [c_a, c_e]} after the last tuple."""
    window, entries = math.ceil(1 / epsilon), {}
    for n, key in enumerate(stream, start=1):
        index = (n - 1) // window + 1
        if key in entries:
            entries[key][0] += 1
        else:
            entries[key] = [1, index - 1]
        if n % window == 0:
            entries = {k: e for k, e in entries.items() if e[0] + e[1] > index}
    return entries


def in_batches(counter, stream, sizes=(1, 7, 2, 31)):
    start = 0
    for turn in range(len(stream)):
        end = start + sizes[turn % len(sizes)]
        counter.add(np.array(stream[start:end], dtype=np.int64))
        start = end
    return counter


def as_dict(found):
    return {
        key: [count, error] for key, count, error in zip(found.keys, found.count, found.error, strict=True)
    }


@SETTINGS
@given(STREAMS, EPSILONS)
def test_batches_count_like_one_tuple_at_a_time(stream, epsilon):
    """Cutting a stream into batches is an implementation's business: it must not change a single number."""
    counter = in_batches(LossyCounter(epsilon), stream)

    assert as_dict(counter.entries()) == count_one_by_one(stream, epsilon)
    assert counter.n_seen == len(stream)


@SETTINGS
@given(STREAMS, EPSILONS, st.sampled_from([0.05, 0.2, 0.5, 1.0]))
def test_no_count_is_above_the_truth_or_far_below(stream, epsilon, support):
    """The guarantee planners rely on: never over, under by at most ε · n, and no frequent key missing."""
    counter = LossyCounter(epsilon)
    counter.add(np.array(stream, dtype=np.int64))
    n = len(stream)
    truth = {key: stream.count(key) for key in set(stream)}
    kept = as_dict(counter.entries())
    support = max(support, 1.2 * epsilon)
    frequent = set(counter.frequent(support).keys.tolist())

    for key, true_count in truth.items():
        count, error = kept.get(key, [0, math.floor(epsilon * n)])
        assert count <= true_count <= count + error
        assert error <= epsilon * n
        assert key in frequent or true_count < support * n
        assert key not in frequent or true_count >= (support - epsilon) * n - 1e-9
    assert frequent <= truth.keys()


@pytest.mark.parametrize("skew", [0.0, 0.6, 1.0])
def test_memory_stays_below_its_bound(skew):
    """O(1/ε · log(ε n)) entries, whatever the number of keys: why this is used at all."""
    rng = np.random.default_rng(3)
    weights = 1.0 / np.arange(1, 20_001) ** skew
    counter = LossyCounter(0.01)
    for _ in range(100):
        counter.add(rng.choice(20_000, size=500, p=weights / weights.sum()))
        windows = counter.n_seen // 100
        bound = 100 * sum(1 / i for i in range(1, windows + 1))
        assert counter.n_entries <= bound


def test_memory_bound_on_the_stream_that_never_repeats():
    """All keys new: every window closes with nothing kept."""
    counter = LossyCounter(0.1)
    counter.add(np.arange(1000))

    assert counter.n_entries == 0
    assert counter.n_seen == 1000


def test_the_papers_default_keeps_a_few_thousand_entries():
    """Sec. 5.4: about 2,500 entries for a million Zipf keys at the default δ, with ε a tenth of it."""
    rng = np.random.default_rng(0)
    weights = np.cumsum(1.0 / np.arange(1, 10**6 + 1))
    counter = LossyCounter(counting_error(0.0017647))
    counter.add(np.searchsorted(weights, rng.random(300_000) * weights[-1]))

    assert 1000 < counter.n_entries < 6000
    assert counter.frequent(0.0017647).keys[:30].tolist() == list(range(30))


@pytest.mark.parametrize("n_counters", [2, 3, 5])
def test_sliding_window_covers_the_recent_past(n_counters):
    """Fig. 2: between W and (1 + 1/(x-1)) · W tuples in use, once W have come; before that, all of them."""
    sliding = SlidingLossyCounter(0.1, window=40, n_counters=n_counters)
    for n in range(1, 400):
        sliding.add([n % 3])
        assert min(n, 40) <= sliding.n_seen < 40 * (1 + 1 / (n_counters - 1))


@SETTINGS
@given(STREAMS, st.integers(1, 50), st.integers(2, 4), EPSILONS)
def test_sliding_counts_equal_a_fresh_counter_over_the_same_span(stream, window, n_counters, epsilon):
    """What is older than the span in use has no influence at all: drift is forgotten."""
    sliding = in_batches(SlidingLossyCounter(epsilon, window=window, n_counters=n_counters), stream)
    span = stream[len(stream) - sliding.n_seen :]

    assert as_dict(sliding.entries()) == count_one_by_one(span, epsilon)
    assert min(len(stream), window) <= sliding.n_seen


def test_a_key_that_went_quiet_is_forgotten():
    """The reason to slide: yesterday's hot key must not keep its route."""
    sliding = SlidingLossyCounter(0.05, window=100)
    sliding.add(np.zeros(1000, dtype=np.int64))
    sliding.add(np.ones(150, dtype=np.int64))

    assert sliding.frequent(0.5).keys.tolist() == [1]
    assert sliding.frequent(0.5).frequency.tolist() == [1.0]


def test_window_is_rounded_up_to_whole_steps():
    """A window that cannot be cut evenly is made longer, never shorter."""
    assert SlidingLossyCounter(0.1, window=7, n_counters=3).window == 8


@pytest.mark.parametrize(
    "batches",
    [
        pytest.param([["b", "a"], ["a", "longer than before"]], id="strings-of-growing-width"),
        pytest.param([np.array([2**63 - 1, -(2**63)]), np.array([2**63 - 1])], id="bigint-limits"),
        pytest.param([np.array([2**64 - 1], dtype=np.uint64)], id="unsigned"),
        pytest.param([np.array([1], dtype=np.int8), np.array([300])], id="integers-of-growing-width"),
        pytest.param([np.array(["2024-01-01"], dtype="datetime64[D]")], id="dates"),
        pytest.param([[True, False, True]], id="booleans"),
    ],
)
def test_keys_come_back_as_they_were(batches):
    """A key that is rounded or cut would be routed as another key."""
    counter = LossyCounter(0.01)
    for batch in batches:
        counter.add(batch)

    expected = sorted({key for batch in batches for key in np.asarray(batch).tolist()})
    assert counter.entries().keys.tolist() == expected


def test_nothing_added_is_nothing_found():
    """An empty window is a normal window."""
    counter = LossyCounter(0.1)
    counter.add([])

    assert counter.frequent(0.5).keys.size == 0
    assert counter.frequent(0.5).frequency.size == 0


def test_results_do_not_change_afterwards():
    """A report must not change under its reader while counting goes on, nor the counts under what readers do."""
    counter = LossyCounter(0.1)
    counter.add([1, 1, 2])
    before = counter.entries()
    counter.add([1, 1, 1])
    now = counter.entries()
    now.count[:] = 0

    assert before.count.tolist() == [2, 1]
    assert counter.entries().count.tolist() == [5, 1]


@pytest.mark.parametrize(("delta", "epsilon"), [(0.0018, 0.00018), (1.0, 0.1), (math.inf, 0.5)])
def test_counting_error_is_a_tenth_of_the_threshold(delta, epsilon):
    """ε must be well below δ; where nothing is to be tracked, counting is still well defined."""
    assert counting_error(delta) == pytest.approx(epsilon)


@pytest.mark.parametrize("epsilon", [0, 1, -0.1, 1.5, math.nan])
def test_bad_epsilon_is_refused(epsilon):
    """0 would need memory without bound, 1 finds nothing."""
    with pytest.raises(PlanRequestError, match=f"epsilon must lie strictly between 0 and 1. Got {epsilon}"):
        LossyCounter(epsilon)


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ([[1, 2]], "keys must have one dimension. Got 2"),
        ([1.5], "keys must be integers, strings, bytes, booleans or dates. Got dtype float64"),
        ([None], "keys must be integers, strings, bytes, booleans or dates. Got dtype object"),
        (["a"], "keys must be of one kind throughout. Got <U1 after int64"),
        (np.array([1], dtype=np.uint64), "keys must be of one kind throughout. Got uint64 after int64"),
    ],
)
def test_bad_keys_are_refused_and_counted_nowhere(keys, message):
    """A batch of another type is a bug upstream; half-counted it would be a hidden one."""
    counter = SlidingLossyCounter(0.1, window=4)
    counter.add([1, 2, 3])
    with pytest.raises(PlanRequestError, match=message):
        counter.add(keys)
    assert counter.n_seen == 3


def test_bad_support_and_windows_are_refused():
    """Keys rarer than ε may have been dropped: an answer about them would be a guess."""
    with pytest.raises(PlanRequestError, match=r"support must be above epsilon = 0.1: .* Got 0.1"):
        LossyCounter(0.1).frequent(0.1)
    with pytest.raises(PlanRequestError, match=r"window must be 1 or more. Got 0"):
        SlidingLossyCounter(0.1, window=0)
    with pytest.raises(PlanRequestError, match=r"n_counters must be 2 or more. Got 1"):
        SlidingLossyCounter(0.1, window=5, n_counters=1)
