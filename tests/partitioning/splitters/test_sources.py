"""What a partition of Spark can be: one source, fed batch after batch, that knows only itself."""

import numpy as np
import pytest

from partitioning.errors import SplitRequestError
from partitioning.hashing import hash_keys
from partitioning.splitters import sources
from partitioning.splitters.options import PkgOptions
from partitioning.splitters.pkg import N_DEALT, split_pkg
from partitioning.splitters.request import SplitRequest
from partitioning.splitters.sources import (
    BY_POSITION,
    LOCAL_SPLITTERS,
    check_local,
    send_gathered,
    source_of,
)

SENDING = [splitter for splitter in LOCAL_SPLITTERS if splitter not in BY_POSITION]


def skewed(n_rows, seed=0):
    rng = np.random.default_rng(seed)
    return hash_keys(np.where(rng.random(n_rows) < 0.6, 0, rng.integers(1, 300, n_rows)), "bigint")


@pytest.mark.parametrize("splitter", SENDING)
def test_batches_change_nothing(splitter):
    """Spark cuts a partition into batches as it likes; the same partition must go to the same buckets."""
    rows = skewed(4_000)
    whole = source_of(splitter, n_buckets=8, n_choices=3).send(rows)
    in_batches = source_of(splitter, n_buckets=8, n_choices=3)
    parts = [in_batches.send(batch) for batch in np.split(rows, [1, 700, 701, 3_000])]

    assert np.concatenate(parts).tolist() == whole.tolist()
    assert set(whole) <= set(range(8))


@pytest.mark.parametrize("size", [1, 7, 1_000, 3_999, 4_000])
def test_gathering_loses_no_row_and_keeps_their_order(monkeypatch, size):
    """Spark puts the n-th bucket beside the n-th row, and fails if one is missing."""
    monkeypatch.setattr(sources, "_GATHERED", 1_000)
    rows = skewed(4_000)
    whole = source_of("cam", n_buckets=8, n_choices=2).send(rows)
    batches = np.split(rows, range(size, rows.size, size))

    sent = list(send_gathered(source_of("cam", n_buckets=8, n_choices=2), iter(batches)))

    assert np.concatenate(sent).tolist() == whole.tolist()
    assert max(bucket.size for bucket in sent) < 1_000 + size
    assert len(sent) <= 5


def test_an_empty_partition_sends_nothing():
    """A partition of Spark may have no rows, and then no batch."""
    assert list(send_gathered(source_of("cam", n_buckets=8, n_choices=2), iter([]))) == []


def test_dealt_pkg_is_pkg_of_so_many_sources():
    """Dealing is no approximation: the paper's own method with more sources."""
    rows = skewed(5_000)
    options = PkgOptions(n_choices=5, is_distinct=True)
    source = np.arange(rows.size) % N_DEALT
    request = SplitRequest(key_hash=rows, source=source, n_buckets=8)

    ours = source_of("pkg", n_buckets=8, n_choices=5).send(rows)

    assert ours.tolist() == split_pkg(request, options).tolist()


def test_a_key_of_six_tenths_is_spread_evenly_by_five_candidates():
    """What the choice relies on: 4.8 mean buckets fit into 5."""
    bucket = source_of("pkg", n_buckets=8, n_choices=5).send(skewed(400_000))

    load = np.bincount(bucket, minlength=8)
    assert load.max() <= 1.05 * load.mean()


def test_no_more_candidates_than_buckets():
    """A dataset of two buckets has two candidates, however hot the key."""
    bucket = source_of("pkg", n_buckets=2, n_choices=5).send(skewed(100))

    assert set(bucket) == {0, 1}


@pytest.mark.parametrize(
    ("splitter", "sentence"),
    [
        (
            "potc",
            r"splitter must be one of hash, shuffle, pkg.* Got 'potc'\. Its sources would have to agree",
        ),
        ("pgk", r"splitter must be one of .* Got 'pgk'\. Take pkg"),
    ],
)
def test_splitters_whose_sources_must_agree_are_refused(splitter, sentence):
    """Partitions of Spark do not talk to each other."""
    with pytest.raises(SplitRequestError, match=sentence):
        check_local(splitter)
