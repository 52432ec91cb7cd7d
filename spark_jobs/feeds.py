"""The inputs of a dataset as Spark reads them: one events table, or its feeds, found, checked and put together."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from delta.tables import DeltaTable
from pyspark.sql import DataFrame, SparkSession

from schemas.dataset import Dataset
from schemas.feeds import DELTA, DeclaredFeed
from schemas.places import is_catalog_name, place_of
from spark_jobs.job import JobError
from spark_jobs.sql_names import quoted
from spark_jobs.state_table import read_table

MAX_FEEDS = 1000  # what one query can put together in reasonable time
_HIDDEN = ("_", ".")  # what stores and engines keep beside the data


@dataclass(frozen=True, kw_only=True)
class Feed:
    """One input that is there."""

    name: str
    location: str
    kind: str  # "delta", or the format of files
    rate: float | None = None  # rows in a window, as declared


def read_events(spark: SparkSession, dataset: Dataset) -> DataFrame:
    """All events, whatever brings them."""
    if not dataset.feeds:
        return read_table(spark, dataset.events)
    return together(list(read_feeds(spark, dataset, find_feeds(spark, dataset)).values()))


def together(frames: Sequence[DataFrame]) -> DataFrame:
    """The rows of all, by the names of their columns. Halves of halves, so that the query stays flat."""
    if len(frames) == 1:
        return frames[0]
    half = len(frames) // 2
    return together(frames[:half]).unionByName(together(frames[half:]))


def event_locations(spark: SparkSession, dataset: Dataset) -> set[str]:
    """Where the events are, each place written in one way."""
    places = [feed.location for feed in find_feeds(spark, dataset)] or [dataset.events]
    return {place_of(place) for place in places}


# Finding them


def find_feeds(spark: SparkSession, dataset: Dataset) -> list[Feed]:
    """The feeds that there are at this moment, by name; refuses a place without any, one place twice, and two of one name."""
    found = [feed for declared in dataset.feeds for feed in _feeds_of(spark, declared)]
    file = f"datasets/{dataset.name}.yaml"
    for same in _alike(found, lambda feed: place_of(feed.location)):
        names = ", ".join(feed.name for feed in same)
        raise JobError(
            f"feeds must be in places that differ. Got {same[0].location} for {names}. Leave all but one out of {file}: every row"
            " would come in once for each."
        )
    for same in _alike(found, lambda feed: feed.name):
        places = ", ".join(feed.location for feed in same)
        raise JobError(
            f"feeds must have names that differ. Got {same[0].name!r} for {places}. Give all but one a name of their own in {file}."
        )
    if len(found) > MAX_FEEDS:
        raise JobError(
            f"feeds must be at most {MAX_FEEDS}. Got {len(found)}. Let a feed be a folder of files, or bring several into one table."
        )
    return sorted(found, key=lambda feed: feed.name)


def _alike(feeds: Sequence[Feed], of: Callable[[Feed], str]) -> Iterator[list[Feed]]:
    """Those that have this in common with another one."""
    groups: defaultdict[str, list[Feed]] = defaultdict(list)
    for feed in feeds:
        groups[of(feed)].append(feed)
    return (group for group in groups.values() if len(group) > 1)


def _feeds_of(spark: SparkSession, declared: DeclaredFeed) -> list[Feed]:
    places = [declared.location] if is_catalog_name(declared.location) else _matches(spark, declared)
    if not places:
        what = (
            "which matches nothing"
            if declared.is_glob
            else "which is not there, or a file hidden by its name"
        )
        raise JobError(
            f"{declared.field} must lead to events. Got {declared.location!r}, {what}. Correct it, or wait until its first events"
            " have come."
        )
    return [
        Feed(name=declared.name_of(place), location=place, kind=declared.kind, rate=declared.rate)
        for place in places
    ]


def _matches(spark: SparkSession, declared: DeclaredFeed) -> list[str]:
    """
    Paths that match, sorted; the store itself is asked, whichever it is.

    Hidden ones are no data, but for a folder that is named outright: Spark reads no file of such a name.
    """
    jvm: Any = spark._jvm  # noqa: SLF001  (the way into the JVM)
    path = jvm.org.apache.hadoop.fs.Path(declared.location)
    store = path.getFileSystem(spark._jsparkSession.sessionState().newHadoopConf())  # noqa: SLF001
    found = store.globStatus(path) or []
    return sorted(
        _plain(str(one.getPath().toString()))
        for one in found
        if not str(one.getPath().getName()).startswith(_HIDDEN)
        or (one.isDirectory() and not declared.is_glob)
    )


def _plain(uri: str) -> str:
    """A local path as users write it."""
    return uri.removeprefix("file:") if uri.startswith("file:/") else uri


# Reading them


def read_feeds(spark: SparkSession, dataset: Dataset, feeds: Sequence[Feed]) -> dict[str, DataFrame]:
    """Each feed's rows by its name; all have the columns of the first, in its order, or are refused."""
    frames = {feed.name: _read(spark, dataset, feed) for feed in feeds}
    first = feeds[0]
    wanted = dict(frames[first.name].dtypes)
    for name, frame in frames.items():
        given = dict(frame.dtypes)
        if given != wanted:
            raise JobError(
                f"feed {name} must have the columns of feed {first.name}. Got {_difference(given, wanted)}. Mend the feed, or take it out"
                f" of datasets/{dataset.name}.yaml."
            )
    columns = [quoted(name) for name in frames[first.name].columns]
    return {name: frame.select(*columns) for name, frame in frames.items()}


def _read(spark: SparkSession, dataset: Dataset, feed: Feed) -> DataFrame:
    if feed.kind != DELTA:
        return spark.read.format(feed.kind).load(feed.location)
    if not is_catalog_name(feed.location) and not DeltaTable.isDeltaTable(spark, feed.location):
        raise JobError(
            f"feed {feed.name} must be a Delta table. Got {feed.location}, which is none. Name it by files in"
            f" datasets/{dataset.name}.yaml, or give the path of a table."
        )
    return read_table(spark, feed.location)


def _difference(given: dict[str, str], wanted: dict[str, str]) -> str:
    missing = [f"no {name}" for name in wanted if name not in given]
    other = [
        f"{name} of type {given[name]} instead of {wanted[name]}"
        for name in wanted
        if name in given and given[name] != wanted[name]
    ]
    more = [f"{name} besides" for name in given if name not in wanted]
    return ", ".join([*missing, *other, *more])
