"""What a partition of Spark can be: one source, fed batch after batch, that knows only itself."""

import numpy as np
import pytest

from partitioning.errors import SplitRequestError
from partitioning.hashing import hash_keys
from partitioning.splitters.options import PkgOptions
from partitioning.splitters.pkg import N_DEALT, split_pkg
from partitioning.splitters.request import SplitRequest
from partitioning.splitters.sources import BY_POSITION, LOCAL_SPLITTERS, check_local, source_of

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
