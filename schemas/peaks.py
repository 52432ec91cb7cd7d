"""Peaks as a dataset file declares them: ``expect:``."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from schemas.key_texts import canonical_key, is_number, key_rule

_UNITS = {"h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1)}


@dataclass(frozen=True, kw_only=True)
class DeclaredPeak:
    """One entry of ``expect:``; checked."""

    key: str | None  # as tables have it; None is the NULL key
    feed: str | None = None  # the peak is this feed's, and no key's
    start: datetime
    end: datetime
    factor: float | None = None
    rate: float | None = None
    every: timedelta | None = None
    until: datetime | None = None


def declared_peak(raw: dict[str, Any], key_type: str) -> DeclaredPeak:
    """An entry that has no mistakes, as a value."""
    until = raw.get("until")
    return DeclaredPeak(
        key=None if raw.get("key") is None else canonical_key(str(raw["key"]), key_type),
        feed=raw.get("feed"),
        start=_moment(raw["from"]),
        end=_moment(raw["to"]),
        factor=raw.get("factor"),
        rate=raw.get("rate"),
        every=_distance(raw.get("every")),
        until=None if until is None else _moment(until),
    )


def peak_mistakes(field: str, raw: dict[str, Any], key_type: str | None) -> Iterator[str]:
    """What no single field can state, for an entry whose fields are right in themselves."""
    wrong = [name for name in ("from", "to", "until") if name in raw and not _is_moment(raw[name])]
    for name in wrong:
        yield f"{field}.{name} must be an ISO 8601 time. Got {raw[name]!r}. Write it like '2026-11-27T18:00'."
    if not wrong and _moment(raw["from"]) >= _moment(raw["to"]):
        yield f"{field}.to must be later than from. Got {raw['to']!r} and {raw['from']!r}. Swap them, or give a later end."
    if ("factor" in raw) == ("rate" in raw):
        given = "both" if "factor" in raw else "neither"
        yield f"{field} must have a factor or a rate. Got {given}. Give a factor to scale the forecast, a rate to replace it."
    if not wrong:
        yield from _repetition_mistakes(field, raw)
    if ("key" in raw) == ("feed" in raw):
        given = "both" if "key" in raw else "neither"
        yield f"{field} must name a key or a feed. Got {given}. Give one of them."
    if key_type and raw.get("key") is not None:
        yield from _key_mistakes(f"{field}.key", raw["key"], key_type)


def _key_mistakes(field: str, key: str | int, key_type: str) -> Iterator[str]:
    """YAML reads 007 as 7 and 12:30 as 750: of a number nobody knows what text it was."""
    if isinstance(key, int) and not is_number(key_type):
        yield f"{field} must be text, as key.type is {key_type}. Got the number {key}. Put the key in quotes."
    elif canonical_key(str(key), key_type) is None:
        yield f"{field} must {key_rule(key_type)}. Got {key!r}. Name a key of the table."


def _repetition_mistakes(field: str, raw: dict[str, Any]) -> Iterator[str]:
    every, length = _distance(raw.get("every")), _moment(raw["to"]) - _moment(raw["from"])
    if every is not None and every < length:
        yield f"{field}.every must be at least as long as the peak. Got {raw['every']} for one of {length}. Give a longer distance."
    if "until" in raw and (every is None or _moment(raw["until"]) <= _moment(raw["from"])):
        yield (
            f"{field}.until must come after the start of a peak that repeats. Got {raw['until']!r} with every"
            f" {raw.get('every')!r}. Leave it out, or give every and a later time."
        )


def _distance(text: str | None) -> timedelta | None:
    return None if text is None else int(text[:-1]) * _UNITS[text[-1]]


def _is_moment(text: str) -> bool:
    try:
        _moment(text)
    except (ValueError, OverflowError):  # too far back or ahead to have a time in UTC
        return False
    return True


def _moment(text: str) -> datetime:
    parsed = datetime.fromisoformat(text)
    return parsed.astimezone(UTC) if parsed.tzinfo else parsed.replace(tzinfo=UTC)
