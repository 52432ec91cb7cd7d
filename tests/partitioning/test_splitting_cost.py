"""The cost model: Eq. 1 to 10 and Proposition 1 of Katsipoulakis et al., and the imbalance nobody can avoid."""

from itertools import product

import numpy as np
import pytest

from partitioning.errors import SplitRequestError
from partitioning.splitters import SPLITTERS
from partitioning.splitters.options import LmOptions, PkgOptions
from partitioning.splitters.request import SplitRequest
from partitioning.splitting_cost import SplitCost, cost_of_split, cost_of_windows, least_tuple_imbalance

X, Y, Z = 10, 20, 30


def rows_in(*parts):
    """(key, bucket, count) as arrays of rows."""
    keys = np.repeat([key for key, _, _ in parts], [count for _, _, count in parts])
    buckets = np.repeat([bucket for _, bucket, _ in parts], [count for _, _, count in parts])
    return keys.astype(np.int64), buckets.astype(np.int64)


def test_the_papers_merge_costs_what_its_partial_results_count():
    """Sec. 2.2: {x 12, y 123} and {x 43, y 1, z 4} become {x 55, y 124, z 4}: five partial results, three keys."""
    keys, buckets = rows_in((X, 0, 12), (Y, 0, 123), (X, 1, 43), (Y, 1, 1), (Z, 1, 4))

    cost = cost_of_split(keys, buckets, 2)

    assert cost.rows.tolist() == [135, 48]
    assert cost.keys.tolist() == [2, 3]
    assert (cost.merge_cost, cost.merge_cost_bounds) == (5, (3, 6))
    assert cost.tuple_imbalance == 43.5
    assert cost.cardinality_imbalance == 0.5
    assert cost.is_merge_worth_it
    assert [int((keys == key).sum()) for key in (X, Y, Z)] == [55, 124, 4]


@pytest.mark.parametrize(
    ("p", "load", "imbalance"),
    [(1.0, [1.0, 0.0, 0.25], 1 - 1.25 / 3), (0.0, [0.0, 1.0, 0.5], 0.5), (0.5, [0.5, 0.5, 0.375], 0.5 - 1.375 / 3)],
)  # fmt: skip
def test_hybrid_imbalance_weighs_scaled_rows_and_keys(p, load, imbalance):
    """Eq. 7 to 10 by hand: rows 10, 2, 4 scale to 1, 0, 1/4; keys 1, 3, 2 to 0, 1, 1/2."""
    cost = SplitCost(rows=np.array([10, 2, 4]), keys=np.array([1, 3, 2]), n_keys=4)

    assert cost.hybrid_load(p) == pytest.approx(load)
    assert cost.hybrid_imbalance(p) == pytest.approx(imbalance)


def test_equal_buckets_have_no_hybrid_load():
    """max = min: 0, and not 0 / 0."""
    cost = SplitCost(rows=np.array([5, 5]), keys=np.array([2, 2]), n_keys=3)

    assert cost.hybrid_load().tolist() == [0.0, 0.0]
    assert cost.hybrid_imbalance() == 0.0


def test_merging_more_than_the_fullest_bucket_is_not_worth_it():
    """Eq. 3: six partial results against three rows at most; at equality it still is."""
    keys, buckets = rows_in(*((key, bucket, 1) for key in (X, Y, Z) for bucket in (0, 1)))
    same, one_each = rows_in((X, 0, 2), (Y, 1, 1))

    assert not cost_of_split(keys, buckets, 2).is_merge_worth_it
    assert cost_of_split(same, one_each, 2).is_merge_worth_it


def test_a_key_in_four_buckets_has_four_partial_results():
    """Sec. 2.4's example of what key splitting adds to the merge."""
    keys, buckets = rows_in(*((X, bucket, 1) for bucket in range(4)))

    assert cost_of_split(keys, buckets, 8).merge_cost == 4


def test_shuffle_may_send_every_key_everywhere():
    """Sec. 2.4: the worst case, Γ = V |S|, and so the upper bound is tight."""
    request = SplitRequest.of_keys(np.repeat([X, Y, Z], 12), "bigint", n_buckets=4)

    cost = cost_of_split(request.key_hash, SPLITTERS["shuffle"](request), 4)

    assert cost.merge_cost == cost.merge_cost_bounds[1] == 12


@pytest.mark.parametrize(
    ("name", "options"), [("pkg", PkgOptions(is_distinct=True)), ("lm", LmOptions(is_distinct=True))]
)
@pytest.mark.parametrize("first", range(4))
def test_alternating_keys_keep_apart(name, options, first):
    """Sec. 7: x in even and y in odd places, both with the same two candidates, and even M choices leave Γ at 2."""
    request = SplitRequest.of_keys(np.tile([first, Y], 50), "bigint", n_buckets=2)

    cost = cost_of_split(request.key_hash, SPLITTERS[name](request, options), 2)

    assert cost.merge_cost == 2


def test_windows_are_priced_one_by_one():
    """A key that is split between windows, and not within one, is merged in neither."""
    request = SplitRequest(key_hash=[X, X, Y, X, Y], n_buckets=2, window=[3, 3, 3, 8, 8])

    costs = cost_of_windows(request, np.array([0, 0, 1, 1, 1]))

    assert {window: cost.merge_cost for window, cost in costs.items()} == {3: 2, 8: 2}
    assert {window: cost.rows.tolist() for window, cost in costs.items()} == {3: [2, 1], 8: [0, 2]}
    assert cost_of_windows(SplitRequest(key_hash=[], n_buckets=2), np.array([], dtype=np.int64)) == {}


def least(hottest, n_rows, n_buckets, n_choices):
    return least_tuple_imbalance(
        hottest_rows=hottest, n_rows=n_rows, n_buckets=n_buckets, n_choices=n_choices
    )


@pytest.mark.parametrize(
    ("d", "expected"), [(1, 47.5), (2, 17.5), (3, 7.5), (4, 2.5), (5, 0.5), (8, 0.5), (99, 0.5)]
)
def test_one_hot_key_leaves_an_imbalance(d, expected):
    """60 of 100 rows are one key's, 8 buckets: the docstring's numbers, p1/d - 1/n of Nasir et al. Sec. 5.1."""
    assert least(60, 100, 8, d) == expected


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("d", [1, 2, 3])
def test_least_imbalance_is_below_the_best_of_all_splits(seed, d):
    """Every way of putting 6 rows of some keys in 3 buckets, d at most a key: none is below, and d = 3 reaches it."""
    keys = np.random.default_rng(seed).integers(0, 1 + seed, 6).tolist()
    best = min(
        max(map(buckets.count, range(3)))
        for buckets in product(range(3), repeat=6)
        if all(len({b for k, b in zip(keys, buckets, strict=True) if k == key}) <= d for key in keys)
    )

    bound = least(max(map(keys.count, keys)), 6, 3, d)

    assert best - 2 >= bound
    assert best - 2 == bound or d < 3


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: cost_of_split(np.array([1]), np.array([2]), 2), r"bucket must lie in \[0, 2\)\. Got 2 at position 0"),
        (lambda: cost_of_split(np.array([1]), np.array([0, 1]), 2), r"bucket must have one value a row: 1\. Got shape \(2,\)"),
        (lambda: cost_of_split(np.array([1]), np.array([np.nan]), 2), r"bucket must be an array of integers\. Got dtype float64\. Give"),
        (lambda: cost_of_split(np.array([], int), np.array([], int), 0), r"n_buckets must be a whole number, at least 1\. Got 0\. Give"),
        (lambda: least(1, 1, 2, 0), r"n_choices must be a whole number, at least 1\. Got 0"),
        (lambda: least(2, 1, 2, 1), r"0 <= hottest_rows <= n_rows\. Got 2 and 1"),
        (lambda: SplitCost(rows=np.array([1]), keys=np.array([1]), n_keys=1).hybrid_load(2), r"row_weight must be a number in \[0, 1\]"),
    ],
)  # fmt: skip
def test_bad_input_is_refused(call, message):
    """A split of another request must not be priced as if it were this one's."""
    with pytest.raises(SplitRequestError, match=message):
        call()
