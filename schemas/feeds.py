"""Feeds as a dataset file declares them: ``feeds:``, the many inputs that bring a dataset's events."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from schemas.places import locate, locate_files, place_of

_GLOB = re.compile(r"[*?\[{]")
DELTA = "delta"


@dataclass(frozen=True, kw_only=True)
class DeclaredFeed:
    """One entry of ``feeds:``; checked. A glob stands for as many feeds as it has matches."""

    field: str  # where it stands in the file, for errors
    location: str  # path, URI or catalog name
    kind: str = DELTA  # "delta", or the format of files
    name: str | None = None  # None: the last part of its location
    rate: float | None = None  # rows it brings in a window, as declared

    @property
    def is_glob(self) -> bool:
        return _GLOB.search(self.location) is not None

    def name_of(self, location: str) -> str:
        """The name of the feed at this location: its own, or its last part without what tells the format."""
        return self.name or location.rstrip("/").rpartition("/")[2].removesuffix(f".{self.kind}")


def declared_feed(number: int, raw: dict[str, Any]) -> DeclaredFeed:
    """An entry that has no mistakes, as a value."""
    is_table = "table" in raw
    return DeclaredFeed(
        field=f"feeds.{number}.{'table' if is_table else 'files'}",
        location=_located(raw),
        kind=DELTA if is_table else raw.get("format", "parquet"),
        name=raw.get("name"),
        rate=raw.get("rate"),
    )


def _is_one_input(raw: dict[str, Any]) -> bool:
    """Whether it names a table or files, and not both or neither."""
    return ("table" in raw) != ("files" in raw)


def _located(raw: dict[str, Any]) -> str:
    return locate(raw["table"]) if "table" in raw else locate_files(raw["files"])


def _given(raw: dict[str, Any]) -> str:
    return str(raw["table"] if "table" in raw else raw["files"])


def feed_mistakes(feeds: list[dict[str, Any]] | None, events: str | None, state: str | None) -> Iterator[str]:
    """What no single field can state, for entries whose fields are right in themselves."""
    if feeds is None:
        return
    if events is not None:
        yield (
            f"events.table must be left out where there are feeds. Got {events!r} and {len(feeds)} feeds. Add the table to feeds, or"
            " leave feeds out."
        )
    for number, raw in enumerate(feeds):
        yield from _entry_mistakes(f"feeds.{number}", raw, state)
    names = Counter(_names(feeds))
    for name in [name for name, n in names.items() if n > 1]:
        yield f"feeds must have names that differ. Got {name!r} {names[name]} times. Rename all but one."
    yield from _twice(feeds)


def _twice(feeds: list[dict[str, Any]]) -> Iterator[str]:
    """As far as the file alone can tell: what a glob matches may be named beside it."""
    named: defaultdict[str, list[str]] = defaultdict(list)
    for raw in feeds:
        if _is_one_input(raw):
            named[place_of(_located(raw))].append(_given(raw))
    for locations in named.values():
        if len(locations) > 1:
            yield (
                f"feeds must be in places that differ. Got {' and '.join(map(repr, locations))}. Keep one of them: every row of theirs"
                " would come in once for each."
            )


def _names(feeds: Sequence[dict[str, Any]]) -> Iterator[str]:
    """As far as the file alone can tell: those of globs are known once their matches are."""
    for number, raw in enumerate(feeds):
        if _is_one_input(raw):
            feed = declared_feed(number, raw)
            if not feed.is_glob:
                yield feed.name_of(feed.location)


def _entry_mistakes(field: str, raw: dict[str, Any], state: str | None) -> Iterator[str]:
    if not _is_one_input(raw):
        given = "both" if "table" in raw else "neither"
        yield f"{field} must name a table or files. Got {given}. Give table for a Delta table, files for files of a format."
        return
    location = _given(raw)
    if "format" in raw and "table" in raw:
        yield f"{field}.format must be left out for a table. Got {raw['format']!r}. A table is Delta; name files by files."
    if "name" in raw and _GLOB.search(location):
        yield f"{field}.name must be left out for a glob. Got {raw['name']!r} for {location!r}. Each match is a feed of its own name."
    if state is not None and place_of(_located(raw)) == place_of(locate(state)):
        yield f"{field} must be another table than state.table. Got {location!r} and {state!r}. Name another table."


def peak_of_a_feed_mistakes(field: str, name: str, feeds: Sequence[dict[str, Any]]) -> Iterator[str]:
    """A peak names one of the feeds, as far as the file alone can tell."""
    if any(not _is_one_input(raw) or _GLOB.search(_given(raw)) for raw in feeds):
        return  # what others are called is not known
    names = list(_names(feeds))
    if names and name not in names:
        yield f"{field}.feed must name one of the feeds, {', '.join(names)}. Got {name!r}. Correct the name."
