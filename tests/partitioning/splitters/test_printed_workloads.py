"""The papers' own workloads: what Table 1 prints, and the bounds on PKG's imbalance (Nasir et al., Sec. 5 and 6)."""

import numpy as np
import pytest

from benchmarks.splitting_workloads import LN1, LN2, draw_lognormal, draw_zipf, exponent_of
from partitioning.hashing import hash_keys
from partitioning.splitters import SPLITTERS
from partitioning.splitters.options import PkgOptions
from partitioning.splitters.request import SplitRequest, deal_round_robin
from partitioning.splitting_cost import cost_of_split, least_tuple_imbalance

N_ROWS = 100_000


def imbalance(name, keys, n_buckets, *options, n_sources=1):
    request = SplitRequest.of_keys(
        keys, "bigint", n_buckets=n_buckets, source=deal_round_robin(keys.size, n_sources)
    )
    bucket = SPLITTERS[name](request, *options)
    return cost_of_split(request.key_hash, bucket, n_buckets).tuple_imbalance


@pytest.mark.parametrize(
    ("workload", "share", "n_keys"),
    [pytest.param(LN1, 14.71, 16_400, id="LN1"), pytest.param(LN2, 7.01, 1_090, id="LN2")],
)
def test_lognormal_keys_are_those_of_table_1(workload, share, n_keys):
    """Ten million rounded draws: p1 to a few hundredths of a percent, the number of keys to two in a hundred."""
    count = np.bincount(draw_lognormal(workload, 10_000_000))

    assert 100 * count.max() / 10_000_000 == pytest.approx(share, abs=0.05)
    assert np.count_nonzero(count) == pytest.approx(n_keys, rel=0.02)


def test_the_hottest_zipf_key_has_the_share_asked_for():
    """Stand-ins for data that is not public rest on this."""
    keys = draw_zipf(N_ROWS, n_keys=50_000, exponent=exponent_of(0.0932, 50_000))

    count = np.bincount(keys)
    assert count.argmax() == 0
    assert count.max() / N_ROWS == pytest.approx(0.0932, abs=0.004)


@pytest.mark.parametrize("n_sources", [1, 5, 20])
@pytest.mark.parametrize("d", [2, 5])
@pytest.mark.parametrize("n_buckets", [5, 20])
def test_pkg_keeps_the_bound_of_theorem_5_1(n_buckets, d, n_sources):
    """
    p1 <= 1/(5n), m >= n²: the imbalance is O(m/n), here with the constant 1/4, on the worst case the paper names.

    That is the uniform distribution over 5n keys. The theorem is about one source that knows all loads; with local
    estimation the bound holds for each, and so for their sum.
    """
    keys = np.random.default_rng(1).integers(0, 5 * n_buckets, N_ROWS)

    value = imbalance("pkg", keys, n_buckets, PkgOptions(n_choices=d), n_sources=n_sources)

    assert value <= N_ROWS / n_buckets / 4


@pytest.mark.parametrize(("exponent", "n_buckets"), [(0.2, 5), (0.2, 50), (0.6, 5), (0.6, 10), (0.8, 5)])
def test_pkg_is_all_but_even_on_zipf_keys_that_are_not_too_hot(exponent, n_buckets):
    """Fig. 7 left of its transition: ZF with K = 10k, p1 far below 2/W, at most 0.1 % of all rows above the mean."""
    keys = draw_zipf(N_ROWS, n_keys=10_000, exponent=exponent)

    assert imbalance("pkg", keys, n_buckets, n_sources=5) <= N_ROWS / 1_000


@pytest.mark.parametrize("workload", [LN1, LN2])
def test_pkg_is_at_the_least_imbalance_where_the_hottest_key_decides(workload):
    """W = 100: p1/2 - 1/W for PKG and p1 - 1/W for Off-Greedy, the two sums that explain Table 2."""
    keys = draw_lognormal(workload, N_ROWS)
    hottest = int(np.bincount(keys).max())

    for name, n_choices in (("pkg", 2), ("off_greedy", 1)):
        least = least_tuple_imbalance(hottest_rows=hottest, n_rows=N_ROWS, n_buckets=100, n_choices=n_choices)
        assert least <= imbalance(name, keys, 100) <= 1.05 * least


def test_uniform_keys_leave_buckets_unused():
    """Sec. 5.1: n keys of two choices reach about 0.865 n of n buckets, so some imbalance is nobody's fault."""
    n_buckets = 2_000
    hashes = hash_keys(np.arange(n_buckets), "bigint")
    bucket = SPLITTERS["pkg"](SplitRequest(key_hash=np.tile(hashes, 8), n_buckets=n_buckets))

    assert np.unique(bucket).size / n_buckets == pytest.approx(1 - np.exp(-2), abs=0.02)
