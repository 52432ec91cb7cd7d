"""Feeds, their peaks, and what sizes workers, as a dataset file declares them: every mistake is named."""

import pytest
import yaml

from schemas.dataset import DatasetError, read_dataset
from tests.schemas.test_dataset import GOOD, changed

FED = {
    **changed(events__table=None),
    "feeds": [{"table": "orders/eu", "rate": 40000}, {"files": "landing/*", "format": "orc"}],
}


@pytest.fixture
def read(tmp_path):
    """``read(fields)``: what a file of these fields declares."""

    def read_fields(fields):
        path = tmp_path / "orders.yaml"
        path.write_text(yaml.safe_dump(fields))
        return read_dataset(path)

    return read_fields


def test_feeds_take_the_place_of_the_events_table(read, monkeypatch):
    """Each with its place in the file for errors, its name, and where it is; a glob is resolved when it is read."""
    monkeypatch.setenv("EVENKEEL_WAREHOUSE", "/lake")
    dataset = read(FED)

    eu, landing = dataset.feeds
    assert (eu.field, eu.location, eu.kind, eu.rate, eu.is_glob) == (
        "feeds.0.table",
        "/lake/orders/eu",
        "delta",
        40000,
        False,
    )
    assert (landing.field, landing.location, landing.kind, landing.is_glob) == (
        "feeds.1.files",
        "/lake/landing/*",
        "orc",
        True,
    )
    assert (eu.name_of(eu.location), landing.name_of("/lake/landing/us.orc")) == ("eu", "us")
    assert (dataset.loader_capacity, dataset.feed_strategy, dataset.events) == (1_000_000, "drf_m", "")
    assert hash(dataset) == hash(read(FED))


def test_files_are_in_no_catalog(read, monkeypatch):
    """A file's name looks like a table's in a catalog; taken for one it would be looked for in the working directory."""
    monkeypatch.setenv("EVENKEEL_WAREHOUSE", "/lake")
    files, table = read({**FED, "feeds": [{"files": "clicks.parquet"}, {"table": "sales.clicks"}]}).feeds

    assert (files.location, table.location) == ("/lake/clicks.parquet", "sales.clicks")


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({**FED, "events": GOOD["events"]}, r"events\.table must be left out where there are feeds\. Got 'orders/events' and 2 feeds"),
        (changed(events__table=None), r"events\.table must be given\. Got nothing\. The Delta table, as a path"),
        ({**FED, "feeds": [{"rate": 1}]}, r"feeds\.0 must name a table or files\. Got neither\."),
        ({**FED, "feeds": [{"table": "a", "files": "b"}]}, r"feeds\.0 must name a table or files\. Got both\."),
        ({**FED, "feeds": [{"table": "a", "format": "orc"}]}, r"feeds\.0\.format must be left out for a table\. Got 'orc'"),
        ({**FED, "feeds": [{"table": "a/*", "name": "a"}]}, r"feeds\.0\.name must be left out for a glob\. Got 'a' for 'a/\*'"),
        ({**FED, "feeds": [{"table": "a", "name": "x"}, {"table": "b", "name": "x"}]}, r"feeds must have names that differ\. Got 'x' 2 times"),
        ({**FED, "feeds": [{"table": "s3a://lake/orders"}]}, r"feeds\.0 must be another table than state\.table\. Got 's3a://lake/orders' and"),
        ({**FED, "feeds": [{"table": "s3a://lake/eu/../orders/"}]}, r"feeds\.0 must be another table than state\.table\. Got 's3a://lake/eu"),
        ({**FED, "feeds": [{"table": "eu/a"}, {"table": "us/a"}]}, r"feeds must have names that differ\. Got 'a' 2 times"),
        ({**FED, "feeds": [{"table": "a", "name": "x"}, {"table": "a", "name": "y"}]}, r"feeds must be in places that differ\. Got 'a' and 'a'\. Keep one"),
        ({**FED, "feeds": [{"files": "./a//b/", "name": "x"}, {"table": "a/b"}]}, r"feeds must be in places that differ\. Got '\./a//b/' and 'a/b'"),
        ({**FED, "feeds": [{"files": "a/*"}, {"files": "a/*", "format": "orc"}]}, r"feeds must be in places that differ\. Got 'a/\*' and 'a/\*'"),
        ({**FED, "feeds": [{"table": "a", "rate": float("nan")}]}, r"feeds\.0\.rate must be a finite number\. Got nan"),
        ({**FED, "feeds": [{"table": "a", "rate": -1}]}, r"feeds\.0\.rate must be at least 0\. Got -1\. How many rows"),
        ({**FED, "feeds": [{"table": "eu", "rate": -1}], "expect": [{"feed": "eu", "from": "2026-11-27", "to": "2026-11-28", "factor": 2}]},
         r"feeds\.0\.rate must be at least 0\. Got -1\. How many rows"),
        ({**FED, "feeds": [{"table": "eu", "files": "eu"}, {"table": "us"}], "expect": [{"feed": "eu", "from": "2026-11-27", "to": "2026-11-28", "factor": 2}]},
         r"feeds\.0 must name a table or files\. Got both\."),
        ({**FED, "loaders": {"strategy": "best"}}, r"loaders\.strategy must be one of \['par', .*Got 'best'"),
    ],
)  # fmt: skip
def test_mistakes_of_feeds_are_named(read, fields, sentence):
    """Before anything is read or written, and one sentence a mistake."""
    with pytest.raises(DatasetError, match=sentence) as caught:
        read(fields)

    assert len(str(caught.value).splitlines()) == 1


def test_relative_and_absolute_paths_of_one_place_are_one(read, monkeypatch):
    """Relative names begin in the warehouse."""
    monkeypatch.setenv("EVENKEEL_WAREHOUSE", "/lake")

    with pytest.raises(DatasetError, match=r"feeds must be in places that differ\. Got 'a' and '/lake/a/'"):
        read({**FED, "feeds": [{"table": "a"}, {"table": "/lake/a/", "name": "b"}]})


FEED_PEAK = {"from": "2026-11-27", "to": "2026-11-28", "factor": 5}


def test_peak_may_name_a_feed(read):
    """Of a feed that a glob may bring nothing can be said yet."""
    dataset = read({**FED, "expect": [{**FEED_PEAK, "feed": "later"}, {**FEED_PEAK, "key": None}]})

    assert [(peak.feed, peak.key) for peak in dataset.expect] == [("later", None), (None, None)]


@pytest.mark.parametrize(
    ("peak", "feeds", "sentence"),
    [
        (FEED_PEAK, FED["feeds"], r"expect\.0 must name a key or a feed\. Got neither\."),
        ({**FEED_PEAK, "key": 1, "feed": "eu"}, FED["feeds"], r"expect\.0 must name a key or a feed\. Got both\."),
        ({**FEED_PEAK, "feed": "us"}, FED["feeds"][:1], r"expect\.0\.feed must name one of the feeds, eu\. Got 'us'\."),
        ({**FEED_PEAK, "feed": "us"}, None, r"expect\.0\.feed must name one of the feeds\. Got 'us', and there are no feeds"),
    ],
)  # fmt: skip
def test_peak_of_nobody_is_refused(read, peak, feeds, sentence):
    """A typo in a name would be a peak that never comes."""
    fields = {**FED, "feeds": feeds} if feeds else GOOD
    with pytest.raises(DatasetError, match=sentence):
        read({**fields, "expect": [peak]})


def test_mergers_are_sized_from_two_numbers(read):
    """One without the other would be a guess."""
    with pytest.raises(
        DatasetError,
        match=r"capacity\.merge_seconds and capacity\.sent_on must be given together\. Got sent_on alone",
    ):
        read({**GOOD, "capacity": {"sent_on": 5}})
