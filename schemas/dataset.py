"""Dataset files: read, checked against dataset.schema.json, and given to everybody as one frozen value."""

import difflib
import json
import math
import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any, cast

import yaml
from croniter import CroniterError
from jsonschema import Draft202012Validator, FormatChecker, validators
from jsonschema.exceptions import ValidationError

from schemas.feeds import DeclaredFeed, declared_feed, feed_mistakes, peak_of_a_feed_mistakes
from schemas.intervals import interval_end
from schemas.merging import merge_mistakes, row_id_mistakes
from schemas.peaks import DeclaredPeak, declared_peak, peak_mistakes
from schemas.places import locate, place_of

ROOT = Path(__file__).resolve().parents[1]
SLOTS_PER_BUCKET = 16  # fewer are too coarse to balance with
SCHEMA: dict[str, Any] = json.loads(Path(__file__).with_name("dataset.schema.json").read_text())


# What the checks of a window are called, and how severe each is unless the file says otherwise.
SEVERITIES: dict[str, str] = {
    check: stated["default"]
    for check, stated in SCHEMA["properties"]["checks"]["properties"]["severity"]["properties"].items()
}


class DatasetError(ValueError):
    """A dataset file that cannot be used. The message lists all its mistakes, one a line."""


@dataclass(frozen=True, kw_only=True)
class Dataset:
    """One keyed state table to keep balanced, and the events that feed it."""

    name: str
    about: str
    schedule: str  # cron expression; each interval is a window
    start: date  # day of the first window
    key: str  # column
    key_type: str  # Spark's name
    events: str  # path, URI or catalog name; empty where feeds bring them
    feeds: tuple[DeclaredFeed, ...] = ()  # the inputs, where there are many
    loader_capacity: float = 1e6  # rows a loader reads in a window
    feed_strategy: str = "drf_m"
    event_time: str  # column
    event_id: str | None = None  # column that no two events share; None: there is none to look at
    cost: str | None = None  # SQL expression over an event; None: every event costs 1
    state: str  # path, URI or catalog name
    rows_per_key: str = "many"  # "many": the windows' events; "one": upserted by the user's jobs
    keep_windows: int | None = None  # None: rows never expire
    undo_days: int = 7  # how long removed files are kept
    merge: Mapping[str, str] = field(
        default_factory=dict, hash=False
    )  # column → how its partial results combine; empty: results cannot be merged, keys stay whole
    row_id: tuple[str, ...] = ()  # columns that tell two rows of a key apart; empty: all columns
    n_buckets: int
    n_slots: int
    min_file_bytes: int = 1 << 20  # from this size a slot's rows get a file of their own
    max_tracked_keys: int = 5000  # keys profiled one by one
    max_imbalance: float  # θ from which a plan is made
    target_imbalance: float | None = None  # θ that it aims at; None: three fourths of that
    max_routes: int | None
    max_migration: float | None  # a share up to 1, bytes above
    planner: str
    forecast: str = "last"  # what plans are made on
    period: int | None = None  # windows after which the load repeats itself
    forecast_windows: int = 30  # from which forecasts are made
    expect: tuple[DeclaredPeak, ...] = ()  # peaks known in advance
    done_in_minutes: float | None = None  # a window; None: as long as it lasts
    headroom: float = 0.2  # share of a worker's time that is kept free
    load_seconds: float | None = None  # of a row, as declared; so are the next three
    process_seconds: float | None = None
    merge_seconds: float | None = None
    sent_on: float | None = None  # rows a second, from a busy bucket to the mergers
    n_mergers: int = 0
    mover: str = "flip"
    payback_windows: int = 5  # over which a plan must save what moving costs
    pause_after: int = 3  # ineffective plans in a row
    catchup: bool = False  # whether missed windows are run
    deadline_minutes: int | None = None  # after which somebody wants to know
    maintain_schedule: str | None = "@weekly"  # None: by hand only
    audit_schedule: str | None = "@weekly"
    history_days: int = 365  # how long statistics, plans, checks and runs are kept
    min_rows: int  # fewest events of a complete window
    min_share: float = 0.5  # the same, as a share of what earlier windows had
    max_null_keys: float = 0.0  # as a share of the window's events
    severity: Mapping[str, str] = field(
        default_factory=dict, hash=False
    )  # check → severity, where the file says it

    @property
    def events_name(self) -> str:
        """What brings the events, for people."""
        return "the feeds" if self.feeds else self.events

    def severity_of(self, check: str) -> str:
        """What follows when this check of a window fails: ``critical``, ``hold`` or ``warning``."""
        return str(self.severity.get(check, SEVERITIES[check]))


def dataset_files() -> list[Path]:
    """All dataset files, by name: those of the folder EVENKEEL_DATASETS, or of datasets/."""
    folder = Path(os.environ.get("EVENKEEL_DATASETS", ROOT / "datasets"))
    return sorted(folder.glob("*.yaml"))


def dataset_named(name: str) -> Dataset:
    """The dataset of this name, or an error that lists the names there are."""
    paths = {path.stem: path for path in dataset_files()}
    if name not in paths:
        raise DatasetError(
            f"dataset must be one of {', '.join(paths) or 'none yet'}. Got {name!r}. Add datasets/<name>.yaml."
        )
    return read_dataset(paths[name])


def read_dataset(path: Path) -> Dataset:
    """Read and check one file. Raises DatasetError with all its mistakes at once."""
    raw = _parse(path)
    mistakes = list(_mistakes(raw, path))
    if mistakes:
        raise DatasetError("\n".join(f"{path.name}: {mistake}" for mistake in mistakes))
    return _build(raw)


class _UniqueKeys(yaml.SafeLoader):
    """YAML in which a field given twice is an error, not the last one wins."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:  # noqa: FBT001, FBT002  (yaml's own signature)
        names = [self.construct_object(key) for key, _ in node.value]
        for name in names:
            if names.count(name) > 1:
                raise yaml.YAMLError(f"{name} is given twice")
        return super().construct_mapping(node, deep)


# PyYAML's readers of days, numbers and tags let through what Python says of texts that are none.
_UNREADABLE = (yaml.YAMLError, OSError, RecursionError, ValueError, TypeError, LookupError, AttributeError)


def _parse(path: Path) -> dict[str, Any]:
    try:
        raw = yaml.load(path.read_text(encoding="utf-8"), Loader=_UniqueKeys)  # noqa: S506  (a SafeLoader)
        json.dumps(raw, default=str, skipkeys=True)  # refuses what contains itself
    except FileNotFoundError:
        raise DatasetError(f"{path.name}: must be a file. Got none at {path}. Give its path.") from None
    except _UNREADABLE as error:
        said = " ".join(str(error).split())
        raise DatasetError(f"{path.name}: must be readable YAML. Got: {said}. Mend the file.") from None
    if not isinstance(raw, dict):
        raise DatasetError(
            f"{path.name}: must be a YAML mapping of fields. Got {raw!r}. Begin with name: {path.stem}."
        )
    return raw


def _match(_: object, pattern: str, value: object, __: object) -> Iterator[ValidationError]:
    """The whole text: to Python ``$`` ends a line, so that a block of YAML would pass with its line break."""
    if isinstance(value, str) and not re.fullmatch(pattern, value):
        yield ValidationError(f"{value!r} does not match {pattern!r}")


def _is_whole(_: object, value: object) -> bool:
    """To JSON Schema 7.0 is a whole number, to Python no slice's end, and of 1.00 nobody knows what text it was."""
    return isinstance(value, int) and not isinstance(value, bool)


_Validator = validators.extend(  # type: ignore[no-untyped-call]
    Draft202012Validator,
    {"pattern": _match},
    type_checker=Draft202012Validator.TYPE_CHECKER.redefine("integer", _is_whole),
)


def _mistakes(raw: dict[str, Any], path: Path) -> Iterator[str]:
    errors = list(_Validator(SCHEMA, format_checker=FormatChecker()).iter_errors(raw))
    for error in sorted(errors, key=lambda error: [str(part) for part in error.absolute_path]):
        yield from _sentences(error)
    yield from _missing_events(raw)
    yield from _missing_feeds(raw)
    wrong = {tuple(error.absolute_path) for error in errors}
    for place, value in _not_finite(raw):
        if place not in wrong:
            name = ".".join(str(part) for part in place)
            yield f"{name} must be a finite number. Got {value}. Give a number, or leave it out."
            wrong.add(place)
    yield from _cross_checks(lambda *field: None if _is_wrong(field, wrong) else _value(raw, field), path)


def _not_finite(raw: Any, place: tuple[str | int, ...] = ()) -> Iterator[tuple[tuple[str | int, ...], float]]:
    """YAML has .nan and .inf, which few rules of the schema mind: nothing is below or above a NaN."""
    if isinstance(raw, float) and not math.isfinite(raw):
        yield place, raw
    named = raw.items() if isinstance(raw, dict) else enumerate(raw) if isinstance(raw, list) else ()
    for name, value in named:
        yield from _not_finite(value, (*place, name))


def _missing_events(raw: dict[str, Any]) -> Iterator[str]:
    """Events come from a table or from feeds; who names neither has forgotten it."""
    events = raw.get("events")
    if isinstance(events, dict) and "table" not in events and not raw.get("feeds"):
        table = SCHEMA["properties"]["events"]["properties"]["table"]
        yield f"events.table must be given. Got nothing. {_describe(table)}"


def _missing_feeds(raw: dict[str, Any]) -> Iterator[str]:
    """A peak of a feed needs one. Feeds with mistakes of their own are feeds all the same."""
    peaks = raw.get("expect")
    for number, peak in enumerate(peaks if isinstance(peaks, list) and not raw.get("feeds") else ()):
        if isinstance(peak, dict) and "feed" in peak and "key" not in peak:
            yield (
                f"expect.{number}.feed must name one of the feeds. Got {peak['feed']!r}, and there are no feeds. Declare feeds, or"
                " name a key."
            )


def _sentences(error: ValidationError) -> Iterator[str]:
    """`<field> must <rule>. Got <value>. <Remedy>.`, once for each missing or unknown field."""
    field = ".".join(str(part) for part in error.absolute_path)
    prefix = f"{field}." if field else ""
    schema = error.schema if isinstance(error.schema, dict) else {}
    known = schema.get("properties", {})
    if error.validator == "required":
        name = error.message.split("'")[1]
        yield f"{prefix}{name} must be given. Got nothing. {_describe(known[name])}"
    elif error.validator == "dependentRequired":
        needed, name = error.message.split("'")[1::2]
        yield f"{prefix}{needed} must be given where {prefix}{name} is. Got nothing. {_describe(known[needed])}"
    elif error.validator == "additionalProperties":
        for name in sorted(
            (name for name in cast("dict[str, Any]", error.instance) if name not in known), key=str
        ):
            close = difflib.get_close_matches(str(name), known, n=1)
            remedy = f"Did you mean {close[0]}?" if close else f"Known fields: {', '.join(known)}."
            yield f"{prefix}{name} must be a known field. Got {name!r}. {remedy}"
    else:
        yield f"{field} must {_rule(error)}. Got {error.instance!r}. {_describe(schema)}"


def _describe(schema: dict[str, Any]) -> str:
    if "$ref" in schema and "description" not in schema:
        schema = SCHEMA["$defs"][schema["$ref"].rpartition("/")[2]]
    return str(schema.get("description", "See schemas/dataset.schema.json."))


def _rule(error: ValidationError) -> str:
    wanted = error.validator_value
    rules = {
        "type": f"be of type {' or '.join(wanted) if isinstance(wanted, list) else wanted}",
        "enum": f"be one of {wanted}",
        "pattern": f"match {wanted}",
        "minimum": f"be at least {wanted}",
        "maximum": f"be at most {wanted}",
        "minLength": "not be empty",
        "minItems": "not be empty",
        "minProperties": "not be empty",
        "uniqueItems": "not name anything twice",
        "format": f"be a {wanted}",
    }
    return rules.get(str(error.validator), f"satisfy {error.validator} {wanted}")


def _value(raw: Any, field: tuple[str, ...]) -> Any:
    """The value of a nested field, or None where it is not there."""
    for name in field:
        raw = raw.get(name) if isinstance(raw, dict) else None
    return raw


def _is_wrong(field: tuple[str, ...], wrong: set[tuple[str | int, ...]]) -> bool:
    return any(field[: len(path)] == path or path[: len(field)] == field for path in wrong if path)


def _cross_checks(value: Callable[..., Any], path: Path) -> Iterator[str]:
    """Rules that no single field can state, for fields that are right in themselves; ``value`` says None for others."""
    name, schedule = value("name"), value("schedule")
    if name is not None and name != path.stem:
        yield f"name must be the file's name without .yaml. Got {name!r}. Rename one of them."
    for where, cron in {
        "schedule": schedule,
        "schedules.maintain": value("schedules", "maintain"),
        "schedules.audit": value("schedules", "audit"),
    }.items():
        if cron is not None and not _comes(cron):
            yield f"{where} must be a cron expression of moments that come. Got {cron!r}. {_describe(SCHEMA['properties']['schedule'])}"
    yield from _state_checks(value("state", "rows_per_key"), value("state", "keep_windows"))
    yield from _merge_checks(value)
    yield from _budget_checks(value("budgets", "target_imbalance"), value("budgets", "max_imbalance"))
    yield from _slot_checks(value("layout", "slots"), value("layout", "buckets"))
    yield from _forecast_checks(*(value("forecast", name) for name in ("method", "period", "windows")))
    yield from _merger_checks(value("capacity", "merge_seconds"), value("capacity", "sent_on"))
    for number, peak in enumerate(value("expect") or ()):
        yield from peak_mistakes(f"expect.{number}", peak, value("key", "type"))
        if "feed" in peak and "key" not in peak:
            yield from peak_of_a_feed_mistakes(f"expect.{number}", peak["feed"], value("feeds") or ())
    tables = value("events", "table"), value("state", "table")
    yield from feed_mistakes(value("feeds") or None, *tables)
    if None not in tables and place_of(locate(tables[0])) == place_of(locate(tables[1])):
        yield f"state.table must differ from events.table. Got {tables[1]!r} and {tables[0]!r}. Name another table."


def _comes(cron: str) -> bool:
    """Whether this is a cron expression, of moments that there are: no February has 30 days."""
    try:
        interval_end(cron, datetime(2000, 1, 1, tzinfo=UTC))
    except CroniterError:
        return False
    return True


def _state_checks(rows_per_key: str | None, keep_windows: int | None) -> Iterator[str]:
    if rows_per_key == "one" and keep_windows is not None:
        yield (
            f"state.keep_windows must be left out where state.rows_per_key is one. Got {keep_windows}. Such rows are replaced,"
            " they never expire."
        )


def _merge_checks(value: Callable[..., Any]) -> Iterator[str]:
    key, merge, row_id = value("key", "column"), value("merge"), value("row_id")
    if merge is not None:
        time, rows_per_key = value("events", "time"), value("state", "rows_per_key")
        yield from merge_mistakes(merge, key=key, time=time, rows_per_key=rows_per_key)
    if row_id is not None:
        yield from row_id_mistakes(row_id, key=key)


def _budget_checks(target: float | None, limit: float | None) -> Iterator[str]:
    if target is not None and limit is not None and target > limit:
        yield (
            f"budgets.target_imbalance must be at most budgets.max_imbalance. Got {target} and {limit}. Lower it, or leave it"
            " out for three fourths of max_imbalance."
        )


def _forecast_checks(method: str | None, period: int | None, windows: int | None) -> Iterator[str]:
    windows = windows or SCHEMA["properties"]["forecast"]["properties"]["windows"]["default"]
    if period is not None and windows <= 2 * period:
        yield (
            f"forecast.windows must be more than two periods. Got {windows} windows for a period of {period}. Give at least"
            f" {2 * period + 1}: a season that is not seen twice cannot be told from chance."
        )
    if (method or "").startswith("seasonal") and period is None:
        yield (
            f"forecast.period must be given for {method}. Got nothing. Give the windows after which the load repeats itself."
        )


def _merger_checks(merge_seconds: float | None, sent_on: float | None) -> Iterator[str]:
    if (merge_seconds is None) != (sent_on is None):
        given = "sent_on" if merge_seconds is None else "merge_seconds"
        yield (
            f"capacity.merge_seconds and capacity.sent_on must be given together. Got {given} alone. Mergers are sized from both:"
            " give the other, or neither."
        )


def _slot_checks(slots: int | None, buckets: int | None) -> Iterator[str]:
    if slots is not None and slots & (slots - 1):
        yield f"layout.slots must be a power of two. Got {slots}. Take {1 << slots.bit_length()}."
    if slots is not None and buckets is not None and slots < SLOTS_PER_BUCKET * buckets:
        yield (
            f"layout.slots must be at least {SLOTS_PER_BUCKET} times layout.buckets. Got {slots} for {buckets} buckets."
            " Take more slots."
        )


def _build(raw: dict[str, Any]) -> Dataset:
    return Dataset(
        name=raw["name"],
        about=raw.get("about", ""),
        schedule=raw["schedule"],
        start=date.fromisoformat(raw["start"]),
        key=raw["key"]["column"],
        key_type=raw["key"]["type"],
        events=locate(raw["events"]["table"]) if "table" in raw["events"] else "",
        feeds=tuple(declared_feed(number, feed) for number, feed in enumerate(raw.get("feeds", ()))),
        loader_capacity=_optional(raw, "loaders", "capacity"),
        feed_strategy=_optional(raw, "loaders", "strategy"),
        event_time=raw["events"]["time"],
        state=locate(raw["state"]["table"]),
        event_id=raw["events"].get("id"),
        cost=raw["events"].get("cost"),
        rows_per_key=_optional(raw, "state", "rows_per_key"),
        keep_windows=raw["state"].get("keep_windows"),
        undo_days=_optional(raw, "state", "undo_days"),
        merge=raw.get("merge", {}),
        row_id=tuple(raw.get("row_id", ())),
        n_buckets=raw["layout"]["buckets"],
        n_slots=raw["layout"]["slots"],
        min_file_bytes=_optional(raw, "layout", "min_file_bytes"),
        max_tracked_keys=_optional(raw, "layout", "max_tracked_keys"),
        max_imbalance=_optional(raw, "budgets", "max_imbalance"),
        target_imbalance=_optional(raw, "budgets", "target_imbalance"),
        max_routes=_optional(raw, "budgets", "max_routes"),
        max_migration=_optional(raw, "budgets", "max_migration"),
        planner=raw.get("planner", SCHEMA["properties"]["planner"]["default"]),
        forecast=_optional(raw, "forecast", "method"),
        period=_optional(raw, "forecast", "period"),
        forecast_windows=_optional(raw, "forecast", "windows"),
        expect=tuple(declared_peak(peak, raw["key"]["type"]) for peak in raw.get("expect", ())),
        done_in_minutes=_optional(raw, "capacity", "minutes"),
        headroom=_optional(raw, "capacity", "headroom"),
        load_seconds=_optional(raw, "capacity", "load_seconds"),
        process_seconds=_optional(raw, "capacity", "process_seconds"),
        merge_seconds=_optional(raw, "capacity", "merge_seconds"),
        sent_on=_optional(raw, "capacity", "sent_on"),
        n_mergers=_optional(raw, "capacity", "mergers"),
        mover=raw.get("mover", SCHEMA["properties"]["mover"]["default"]),
        payback_windows=_optional(raw, "gate", "payback_windows"),
        pause_after=_optional(raw, "gate", "pause_after"),
        catchup=_optional(raw, "schedules", "catchup"),
        deadline_minutes=_optional(raw, "schedules", "deadline_minutes"),
        maintain_schedule=_optional(raw, "schedules", "maintain"),
        audit_schedule=_optional(raw, "schedules", "audit"),
        history_days=_optional(raw, "schedules", "history_days"),
        min_rows=_optional(raw, "checks", "min_rows"),
        min_share=_optional(raw, "checks", "min_share"),
        max_null_keys=_optional(raw, "checks", "max_null_keys"),
        severity=raw.get("checks", {}).get("severity", {}),
    )


def _optional(raw: dict[str, Any], group: str, field: str) -> Any:
    """The field's value, or the default that the schema states."""
    default = SCHEMA["properties"][group]["properties"][field]["default"]
    return raw.get(group, {}).get(field, default)
