"""What every split promises, whatever the rows: conservation, bounds on parts and on Γ, the papers' limits on imbalance."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from partitioning.errors import SplitRequestError
from partitioning.hashing import hash_keys
from partitioning.splitters import SPLITTERS
from partitioning.splitters.candidates import candidates_of
from partitioning.splitters.options import (
    CardinalityOptions,
    Choices,
    Estimation,
    HeavyOptions,
    LmOptions,
    PkgOptions,
)
from partitioning.splitters.request import SplitRequest, deal_round_robin
from partitioning.splitting_cost import cost_of_split, cost_of_windows, least_tuple_imbalance
from tests.partitioning.splitters.reference import requests

quick = settings(max_examples=40, deadline=None, derandomize=True)
OPTIONS = {
    "pkg": PkgOptions, "potc": PkgOptions, "cm": CardinalityOptions, "am": CardinalityOptions,
    "cam": CardinalityOptions, "lm": LmOptions,
}  # fmt: skip
WHOLE = ("hash", "potc", "on_greedy", "off_greedy")
KEEPING = ("am", "cam")


def parts_per_key(key_hash, bucket):
    """In how many buckets each key is."""
    pairs = {(key, b) for key, b in zip(key_hash.tolist(), bucket.tolist(), strict=True)}
    return [sum(1 for other, _ in pairs if other == key) for key in dict.fromkeys(key_hash.tolist())]


@quick
@given(requests(), st.sampled_from(sorted(SPLITTERS)))
def test_every_splitter_conserves_rows(request_, name):
    """One bucket that exists for every row: nothing lost, nothing twice."""
    bucket = SPLITTERS[name](request_)

    assert bucket.dtype == np.int64
    assert bucket.shape == (request_.n_rows,)
    assert np.isin(bucket, np.arange(request_.n_buckets)).all()
    costs = cost_of_windows(request_, bucket)
    assert sum(int(cost.rows.sum()) for cost in costs.values()) == request_.n_rows


@quick
@given(requests(), st.sampled_from(sorted(SPLITTERS)))
def test_merge_cost_keeps_within_its_bounds(request_, name):
    """|S| <= Γ <= V |S| in every window (Proposition 1)."""
    for cost in cost_of_windows(request_, SPLITTERS[name](request_)).values():
        least, most = cost.merge_cost_bounds
        assert least <= cost.merge_cost <= most
        assert most == least * request_.n_buckets


@quick
@given(requests(), st.sampled_from(sorted(OPTIONS)), st.integers(1, 4), st.booleans())
def test_no_key_is_in_more_buckets_than_it_has_choices(request_, name, m, is_distinct):
    """In any number of sources and windows: all of them draw from the same M candidates."""
    options = OPTIONS[name](n_choices=m, is_distinct=is_distinct and m <= request_.n_buckets)

    bucket = SPLITTERS[name](request_, options)

    assert max(parts_per_key(request_.key_hash, bucket), default=0) <= m
    assert (bucket == candidates_of(request_.key_hash, request_.n_buckets, options)).any(axis=0).all()


@quick
@given(requests(), st.sampled_from(WHOLE))
def test_whole_keys_need_no_merging(request_, name):
    """hash, PoTC and both greedy ones never split a key: Γ = |S|, over the whole stream."""
    cost = cost_of_split(request_.key_hash, SPLITTERS[name](request_), request_.n_buckets)

    assert cost.merge_cost == cost.n_keys


@quick
@given(requests(max_sources=1), st.sampled_from(KEEPING))
def test_one_source_of_am_and_cam_splits_no_key_within_a_window(request_, name):
    """Their point: key splitting for new keys only, so Γ = |S| in every window."""
    for cost in cost_of_windows(request_, SPLITTERS[name](request_)).values():
        assert cost.merge_cost == cost.n_keys


@quick
@given(requests(), st.sampled_from(("cm", "am", "cam", "lm")))
def test_every_window_starts_anew(request_, name):
    """Alg. 1, lines 3 to 5: what a window does is what it would do alone."""
    bucket = SPLITTERS[name](request_)

    for window in np.unique(request_.window):
        rows = request_.window == window
        source = np.minimum(request_.source[rows], rows.sum() - 1)
        if (source == request_.source[rows]).all():
            alone = SplitRequest(
                key_hash=request_.key_hash[rows], n_buckets=request_.n_buckets, source=source
            )
            assert SPLITTERS[name](alone).tolist() == bucket[rows].tolist()


@quick
@given(requests(), st.integers(1, 4))
def test_imbalance_is_at_most_the_sum_of_the_sources(request_, d):
    """Why local estimation suffices (Nasir et al., Sec. 3.2)."""
    bucket = SPLITTERS["pkg"](request_, PkgOptions(n_choices=d))
    local = [
        cost_of_split(request_.key_hash[rows], bucket[rows], request_.n_buckets).tuple_imbalance
        for rows in (request_.source == source for source in set(request_.source.tolist()))
    ]

    whole = cost_of_split(request_.key_hash, bucket, request_.n_buckets).tuple_imbalance

    assert whole <= sum(local) + 1e-9


@quick
@given(requests(), st.sampled_from(sorted(OPTIONS)), st.integers(1, 4))
def test_no_splitter_beats_the_least_imbalance(request_, name, m):
    """The bound holds for everything that respects M; else the planner would promise what cannot be."""
    bucket = SPLITTERS[name](request_, OPTIONS[name](n_choices=m))
    keys = request_.key_hash.tolist()

    cost = cost_of_split(request_.key_hash, bucket, request_.n_buckets)

    bound = least_tuple_imbalance(
        hottest_rows=max(map(keys.count, keys), default=0),
        n_rows=request_.n_rows,
        n_buckets=request_.n_buckets,
        n_choices=m,
    )
    assert cost.tuple_imbalance >= bound - 1e-9


@pytest.mark.parametrize("n_sources", [1, 3])
def test_shuffle_is_within_a_row_a_source(n_sources):
    """Shuffle grouping has an imbalance of at most one for one source (Nasir et al., Sec. 5)."""
    keys = np.zeros(1_003, dtype=np.int64)
    request = SplitRequest.of_keys(keys, "bigint", n_buckets=8, source=deal_round_robin(keys.size, n_sources))

    cost = cost_of_split(request.key_hash, SPLITTERS["shuffle"](request), 8)

    assert cost.rows.max() - cost.rows.min() <= n_sources
    assert cost.merge_cost == 8


@quick
@given(requests(), st.integers(1, 9))
def test_distinct_candidates_are_distinct_and_keep_the_first(request_, d):
    """With ``is_distinct`` no two candidates of a key coincide; H_1 stays what it was."""
    d = min(d, request_.n_buckets)

    candidates = candidates_of(request_.key_hash, request_.n_buckets, Choices(n_choices=d, is_distinct=True))

    assert all(len(set(column)) == d for column in candidates.T.tolist())
    assert candidates[0].tolist() == (request_.key_hash % request_.n_buckets).tolist()
    assert ((candidates >= 0) & (candidates < request_.n_buckets)).all()


@pytest.mark.parametrize("is_distinct", [False, True])
def test_candidates_are_spread_evenly_and_independent(is_distinct):
    """Each pair (H_1, H_2) is as likely as any other: 49 pairs, 200,000 keys, within 5 standard deviations."""
    request = SplitRequest.of_keys(np.arange(200_000), "bigint", n_buckets=7)

    first, second = candidates_of(request.key_hash, 7, Choices(is_distinct=is_distinct))

    pairs = np.bincount(first * 7 + second, minlength=49).reshape(7, 7)
    expected = 200_000 / (42 if is_distinct else 49)
    possible = pairs[~np.eye(7, dtype=bool)] if is_distinct else pairs
    assert np.abs(possible - expected).max() <= 5 * np.sqrt(expected)
    assert not is_distinct or np.diag(pairs).sum() == 0


@quick
@given(requests(), st.sets(st.integers(0, 30), max_size=4))
def test_shuffle_heavy_is_shuffle_for_heavy_keys_and_hash_for_the_others(request_, drawn):
    """Each kind as if the other were not there; so Γ is the number of keys and at most N - 1 more for each heavy one."""
    heavy = tuple(hash_keys([key * 7 - 5 for key in sorted(drawn)], "bigint").tolist())
    is_heavy = np.isin(request_.key_hash, heavy)
    alone = SplitRequest(
        key_hash=request_.key_hash[is_heavy], n_buckets=request_.n_buckets, source=request_.source[is_heavy]
    )

    bucket = SPLITTERS["shuffle_heavy"](request_, HeavyOptions(heavy=heavy))

    assert bucket[is_heavy].tolist() == SPLITTERS["shuffle"](alone).tolist()
    assert bucket[~is_heavy].tolist() == SPLITTERS["hash"](request_)[~is_heavy].tolist()
    cost = cost_of_split(request_.key_hash, bucket, request_.n_buckets)
    assert cost.merge_cost <= cost.n_keys + (request_.n_buckets - 1) * len(heavy)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: SplitRequest(key_hash=[1, 2], n_buckets=0), r"n_buckets must be a whole number, at least 1\. Got 0"),
        (lambda: SplitRequest(key_hash=[1.5], n_buckets=2), r"key_hash must be .* integers .* Got dtype float64"),
        (lambda: SplitRequest(key_hash=["a"], n_buckets=2), r"Hash keys with hash_keys"),
        (lambda: SplitRequest(key_hash=[[1]], n_buckets=2), r"one-dimensional .* shape \(1, 1\)"),
        (lambda: SplitRequest(key_hash=[1], n_buckets=2, source=[0, 0]), r"source must have one value a row: 1\. Got 2"),
        (lambda: SplitRequest(key_hash=[1, 1], n_buckets=2, source=[0, -1]), r"source must be 0 or more\. Got -1 at position 1.*Number"),
        (lambda: SplitRequest(key_hash=[1, 1], n_buckets=2, window=[1, 0]), r"window must never fall.*Got 0 after 1 at position 1"),
        (lambda: PkgOptions(n_choices=0), r"n_choices must be a whole number, at least 1\. Got 0"),
        (lambda: PkgOptions(n_choices=True), r"n_choices must be a whole number"),
        (lambda: PkgOptions(n_choices=5_000), r"n_choices must be at most 1024\. Got 5000.*shuffle"),
        (lambda: Estimation(probe_every=0), r"probe_every must be a whole number, at least 1\. Got 0"),
        (lambda: CardinalityOptions(counter="set"), r"counter must be 'exact' or 'hll'\. Got 'set'"),
        (lambda: CardinalityOptions(log2_registers=3), r"log2_registers must be a whole number in \[7, 21\]\. Got 3"),
        (lambda: HeavyOptions(heavy=(1, 1.5)), r"heavy must hold hashes.* Got 1\.5\. Hash keys with hash_keys"),
        (lambda: HeavyOptions(heavy=(2**63,)), r"heavy must hold hashes.* Got 9223372036854775808"),
        (lambda: LmOptions(row_weight=1.5), r"row_weight must be a number in \[0, 1\]\. Got 1.5"),
        (lambda: LmOptions(row_weight=float("nan")), r"row_weight must be a number in \[0, 1\]\. Got nan"),
    ],
)  # fmt: skip
def test_bad_input_is_refused(make, message):
    """Before any work, with the field, the rule, what it was and what to do."""
    with pytest.raises(SplitRequestError, match=message):
        make()


@pytest.mark.parametrize("name", sorted(OPTIONS))
def test_more_distinct_candidates_than_buckets_are_refused(name):
    """There are no three different buckets among two."""
    request = SplitRequest(key_hash=[1, 2], n_buckets=2)

    with pytest.raises(SplitRequestError, match=r"n_choices must be at most n_buckets \(2\).*Got 3"):
        SPLITTERS[name](request, OPTIONS[name](n_choices=3, is_distinct=True))


def test_a_request_keeps_its_own_read_only_copy():
    """A caller that reuses a buffer must not change what was checked."""
    keys = np.array([1, 2, 3], dtype=np.int64)
    request = SplitRequest(key_hash=keys, n_buckets=2)
    keys[0] = 99

    assert request.key_hash.tolist() == [1, 2, 3]
    with pytest.raises(ValueError, match="read-only"):
        request.key_hash[0] = 5
