"""The selection rule of Katsipoulakis et al. (Sec. 7), and the reasons it gives."""

from dataclasses import replace

import pytest

from partitioning.errors import SplitRequestError
from partitioning.splitter_choice import (
    QueryTraits,
    WindowStatistics,
    choose_against_heavy_keys,
    choose_splitter,
)
from partitioning.splitters import SPLITTERS


def traits(*, mergeable=True, constant=True, grows_with="rows"):
    return QueryTraits(is_mergeable=mergeable, has_constant_groups=constant, work_grows_with=grows_with)


def window(n_rows, n_keys, n_buckets=8, hottest=None):
    return WindowStatistics(n_rows=n_rows, n_keys=n_keys, n_buckets=n_buckets, hottest_rows=hottest)


@pytest.mark.parametrize(
    ("query", "stats", "splitter", "reason"),
    [
        pytest.param(traits(), window(10_000_000, 4), "shuffle", "at most 32 partial results", id="TPC-H-1-few-groups"),
        pytest.param(traits(constant=False), window(10_000_000, 110_000), "cam", "the number of keys grows", id="TPC-H-3-scaling-groups"),
        pytest.param(traits(), window(42, 4), "cam", "4 keys to 5.25 rows a bucket is more than one to 10", id="GCM-1-tiny-windows"),
        pytest.param(traits(grows_with="keys"), window(42, 4), "am", "fewest keys", id="work-by-keys"),
        pytest.param(traits(constant=False), window(10_000_000, 4), "cam", "the number of keys grows", id="few-but-growing"),
        pytest.param(traits(mergeable=False), window(10_000_000, 4), "hash", "cannot be merged", id="not-mergeable"),
        pytest.param(traits(), window(80, 1), "shuffle", "1 keys to 10.00 rows", id="exactly-a-tenth"),
        pytest.param(traits(), window(79, 1), "cam", "more than one to 10", id="just-over-a-tenth"),
        pytest.param(traits(), window(0, 0), "shuffle", "at most 0 partial results", id="empty-window"),
    ],
)  # fmt: skip
def test_rule_names_a_splitter_and_says_why(query, stats, splitter, reason):
    """The paper's own queries, and the edges of "significantly less"."""
    choice = choose_splitter(query, stats)

    assert choice.splitter == splitter
    assert reason in choice.reason
    assert choice.splitter in SPLITTERS


@pytest.mark.parametrize("mergeable", [True, False])
def test_a_key_hotter_than_a_bucket_is_pointed_out(mergeable):
    """Keeping keys whole cannot cure it, and whoever reads the reason must know."""
    query = traits(mergeable=mergeable, constant=False)

    hot = choose_splitter(query, window(1_000, 400, hottest=600)).reason

    assert "hottest key alone is 4.80 mean buckets" in hot
    assert "hottest" not in choose_splitter(query, window(1_000, 400, hottest=125)).reason


@pytest.mark.parametrize(
    ("stats", "splitter", "n_choices"),
    [
        pytest.param(window(10_000_000, 400_000, hottest=6_000_000), "pkg", 5, id="4.8-mean-buckets"),
        pytest.param(window(80, 20, hottest=80), "pkg", 8, id="nothing-but-one-key"),
        pytest.param(window(80, 20, hottest=10), "cam", 2, id="just-a-bucket"),
        pytest.param(window(80, 20, hottest=11), "pkg", 2, id="a-row-more"),
        pytest.param(window(34, 10, 14, hottest=17), "pkg", 7, id="seven-that-floats-take-for-more"),
        pytest.param(window(80, 20), "cam", 2, id="not-known"),
        pytest.param(window(10_000_000, 4, hottest=6_000_000), "shuffle", 2, id="shuffle-splits-it-anyway"),
    ],
)
def test_a_key_heavier_than_a_bucket_gets_as_many_candidates_as_it_fills(stats, splitter, n_choices):
    """Where results merge, the key that overloads a bucket is the one worth splitting, and no further than it needs."""
    choice = choose_against_heavy_keys(traits(), stats)

    assert (choice.splitter, choice.n_choices) == (splitter, n_choices)


def test_heavy_keys_that_are_known_are_split_and_no_others():
    """Γ is the price: pkg would spread all 400,000 keys to spread one."""
    stats = replace(window(10_000_000, 400_000, hottest=6_000_000), heavy=(7, -3))

    choice = choose_against_heavy_keys(traits(), stats)

    assert (choice.splitter, choice.heavy) == ("shuffle_heavy", (7, -3))
    assert "rows of the 2 heaviest keys go to all buckets in turn" in choice.reason
    assert "At most 14 partial results more" in choice.reason
    assert choose_against_heavy_keys(traits(), replace(stats, hottest_rows=1_250_000)).splitter == "cam"


def test_results_that_cannot_be_merged_are_never_split():
    """However heavy the key: half a result is a wrong one."""
    choice = choose_against_heavy_keys(traits(mergeable=False), window(1_000, 400, hottest=600))

    assert choice.splitter == "hash"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: window(-1, 0), r"n_rows must be a whole number, at least 0\. Got -1"),
        (lambda: window(1, 2), r"n_keys must be at most n_rows \(1\).*Got 2"),
        (lambda: window(5, 2, n_buckets=0), r"n_buckets must be a whole number, at least 1\. Got 0"),
        (
            lambda: window(5, 2, hottest=6),
            r"hottest_rows must be a whole number in \[0, 5\], or None\. Got 6",
        ),
        (lambda: traits(grows_with="bytes"), r"work_grows_with must be 'rows' or 'keys'\. Got 'bytes'"),
    ],
)
def test_bad_input_is_refused(make, message):
    """Statistics that cannot be true must not choose anything."""
    with pytest.raises(SplitRequestError, match=message):
        make()
