"""
Tables at rest, built once and copied for each fault; and what a table holds, read by delta-rs, which no mover uses.

| scene      | the state table                                                                                  |
| ---------- | ------------------------------------------------------------------------------------------------ |
| settled    | two days of events, one file a slot and day, migrated once; a plan to a third function is made   |
| mixed      | the same after a user's OPTIMIZE                                                                  |
| astray     | the same after a writer that did not ask for the function: rows and whole files in wrong buckets |
| split      | the settled table with two keys split, one of them the NULL key; a plan cuts one anew, joins one, cuts another |
| balances   | one row a key, migrated once                                                                     |
| fed        | one day of events that came from three feeds, two tables and a folder of files                    |
| small      | a day of eight keys in four slots and two buckets, for tests of many rounds                      |
"""

import shutil
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import DeltaTable, QueryBuilder

from partitioning.function import PartitioningFunction
from partitioning.grains import grain_of
from schemas.dataset import Dataset
from schemas.feeds import DeclaredFeed
from schemas.tables import NUMBER, PLANS, WHOLE
from spark_jobs.control_tables import replace_rows, save_function
from spark_jobs.create_layout import create_layout
from spark_jobs.function_change import MIGRATE, FunctionChange
from spark_jobs.job import Task, Window
from spark_jobs.load_window import load_window
from spark_jobs.migrate_layout import make_change
from spark_jobs.plan_record import plan_checksum, plan_name_of
from spark_jobs.routing import slot_column, with_bucket
from spark_jobs.stateful import upsert
from spark_jobs.table_log import OURS, current_function, initial_function
from tests.spark_jobs.conftest import DAY, KEYS, START, rows_of_day

COLUMNS = '`who``s"it` string, at timestamp, page string'
ROW_ID = ("at", "page")  # what tells rows of a split key apart


@dataclass(frozen=True, kw_only=True)
class Scene:
    """A warehouse with one dataset, and the plan that is ready for it."""

    folder: Path
    dataset: Dataset
    plan: str = ""

    def task(self, day: int = 1, **options: Any) -> Task:
        window = Window(start=START + day * DAY, end=START + (day + 1) * DAY)
        return Task(dataset=self.dataset, given_window=window, plan=self.plan, options=options)

    def copied_to(self, folder: Path) -> "Scene":
        """Everything again elsewhere: no table's log names an absolute path."""
        shutil.copytree(self.folder, folder)
        moved = {
            name: getattr(self.dataset, name).replace(str(self.folder), str(folder))
            for name in ("events", "state")
        }
        feeds = tuple(
            replace(feed, location=feed.location.replace(str(self.folder), str(folder)))
            for feed in self.dataset.feeds
        )
        return replace(self, folder=folder, dataset=replace(self.dataset, feeds=feeds, **moved))

    @contextmanager
    def entered(self) -> "Iterator[Scene]":
        """Inside, this is the warehouse that jobs find their control tables in."""
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("EVENKEEL_WAREHOUSE", str(self.folder))
            yield self


def dataset_in(folder: Path, **fields: Any) -> Dataset:
    """A small dataset of awkward string keys, in which every slot is worth a file."""
    usual: dict[str, Any] = {
        "name": "visits", "about": "", "schedule": "@daily", "start": START.date(), "key": 'who`s"it',
        "key_type": "string", "events": f"{folder}/visits/events", "event_time": "at", "state": f"{folder}/visits/state",
        "keep_windows": 2, "n_buckets": 3, "n_slots": 8, "min_file_bytes": 1, "max_imbalance": 0.1, "max_routes": 20,
        "max_migration": None, "planner": "llfd", "min_rows": 1,
    }  # fmt: skip
    return Dataset(**{**usual, **fields})


# Functions and plans of our choice


def turned(
    function: PartitioningFunction, *, every: int = 3, routes: Mapping[Any, int] | None = None
) -> PartitioningFunction:
    """Every third slot one bucket further; with ``routes``, these keys a number of buckets further than their slot."""
    slots = {
        slot: (int(function.slots[slot]) + 1) % function.n_buckets
        for slot in range(0, function.n_slots, every)
    }
    changed = function.with_changes(slots=slots)
    return changed.with_changes(
        routes={key: (changed.bucket_of(key) + by) % function.n_buckets for key, by in (routes or {}).items()}
    )


def write_plan(task: Task, before: PartitioningFunction, after: PartitioningFunction) -> str:
    """A plan from one function to the other, as if a planner had made it; its name."""
    dataset, window = task.dataset, task.window
    save_function(dataset.name, after)
    name = plan_name_of(dataset.name, before.digest, after.digest)
    numbers = {
        column: 0.0 if kind == NUMBER else 0
        for column, kind in PLANS.columns.items()
        if kind in (NUMBER, WHOLE)
    }
    row = numbers | {
        "dataset": dataset.name, "plan": name, "window_start": window.start, "window_end": window.end,
        "from_function": before.digest, "to_function": after.digest, "planner": dataset.planner, "planned_on": "last", "load_before": [],
        "load_after": [], "verdict": "reaches the target", "reasons": [], "explanation": "{}",
    }  # fmt: skip
    row["checksum"] = plan_checksum(row, [], after.to_json())
    replace_rows([row], PLANS, dataset=dataset.name, plan=name)
    return name


def change_function(task: Task, after: PartitioningFunction) -> dict[str, Any]:
    """Migrate to this function, whatever the table has now."""
    save_function(task.dataset.name, after)
    return make_change(task, FunctionChange(kind=MIGRATE, before=current_function(task.dataset), after=after))


# The scenes


def build_settled(spark: Any, folder: Path) -> Scene:
    scene = Scene(folder=folder, dataset=dataset_in(folder))
    rows = [row for day in range(3) for row in rows_of_day(day)]
    spark.createDataFrame(rows, COLUMNS).coalesce(1).write.format("delta").save(scene.dataset.events)
    create_layout(scene.task())
    for day in (0, 1):
        load_window(scene.task(day))
    second = turned(initial_function(scene.dataset), routes={KEYS[0]: 1, None: 2})
    change_function(scene.task(), second)
    third = turned(second, every=2, routes={KEYS[0]: 2, KEYS[3]: 1, KEYS[9]: 1})
    return replace(scene, plan=write_plan(scene.task(), second, third))


def build_mixed(spark: Any, scene: Scene) -> Scene:
    spark.sql(f"OPTIMIZE delta.`{scene.dataset.state}`")
    return scene


def build_astray(spark: Any, scene: Scene) -> Scene:
    append_as_a_stranger(spark, scene.dataset)
    return scene


def build_split(spark: Any, scene: Scene) -> Scene:
    plain = initial_function(scene.dataset)
    halves = {KEYS[0]: [(0, 2048), (1, 2048)], None: [(2, 96), (0, 4000)]}
    second = turned(plain).with_changes(splits=halves, row_id=ROW_ID)
    change_function(scene.task(), second)
    third = second.with_changes(
        slots={1: (int(second.slots[1]) + 1) % 3},
        routes={None: 1},
        splits={KEYS[0]: [(0, 1000), (2, 1096), (1, 2000)], KEYS[9]: [(0, 2048), (2, 2048)]},
    )
    return replace(scene, plan=write_plan(scene.task(), second, third))


def build_balances(spark: Any, folder: Path) -> Scene:
    dataset = dataset_in(folder, name="balances", rows_per_key="one", keep_windows=None)
    scene = Scene(folder=folder, dataset=dataset)
    rows = [(key, START, "opened") for key in KEYS]
    frame = spark.createDataFrame(rows, COLUMNS).coalesce(1)
    frame.limit(0).write.format("delta").save(dataset.events)
    create_layout(scene.task())
    upsert(frame, dataset)
    change_function(scene.task(), turned(initial_function(dataset), routes={KEYS[0]: 1, None: 2}))
    return scene


def build_fed(spark: Any, folder: Path) -> Scene:
    feeds = (
        DeclaredFeed(field="feeds.0.table", location=f"{folder}/visits/feeds/*"),
        DeclaredFeed(field="feeds.1.files", location=f"{folder}/visits/landing", kind="parquet"),
    )
    scene = Scene(folder=folder, dataset=dataset_in(folder, events="", feeds=feeds, loader_capacity=500.0))
    rows = [row for day in range(3) for row in rows_of_day(day)]
    frames = [spark.createDataFrame(rows[part::3], COLUMNS).coalesce(1) for part in range(3)]
    for frame, name in zip(frames, ("one", "two"), strict=False):
        frame.write.format("delta").save(f"{folder}/visits/feeds/{name}")
    frames[2].write.parquet(f"{folder}/visits/landing")
    create_layout(scene.task())
    load_window(scene.task(1))
    return scene


def build_small(spark: Any, folder: Path) -> Scene:
    scene = Scene(folder=folder, dataset=dataset_in(folder, n_buckets=2, n_slots=4))
    rows = [(key, START, f"{n}") for key in KEYS[:8] for n in range(5)]
    spark.createDataFrame(rows, COLUMNS).coalesce(1).write.format("delta").save(scene.dataset.events)
    create_layout(scene.task())
    load_window(scene.task(0))
    return scene


def append_as_a_stranger(spark: Any, dataset: Dataset) -> int:
    """
    Append by plain Delta with buckets of the plain hash, which the table has left behind; how many rows.

    One file a slot, so that some of the files are astray as a whole, and one of all slots, so that one is astray in part.
    """
    rows = [(key, START + DAY, f"strange {n}") for n in range(3) for key in KEYS]
    frame = spark.createDataFrame(rows, COLUMNS)
    routed = with_bucket(frame, initial_function(dataset), key=dataset.key)
    slot = slot_column(dataset.key, dataset.n_slots)
    spread = routed.where("page <> 'strange 2'").repartitionById(dataset.n_slots, slot)
    spread.write.format("delta").mode("append").save(dataset.state)
    together = routed.where("page = 'strange 2'").coalesce(1)
    together.write.format("delta").mode("append").save(dataset.state)
    return len(rows)


# What a table holds


@dataclass(frozen=True)
class Held:
    """The user's rows, each as often as it is there, and where each key lies."""

    rows: Counter[tuple[Any, ...]]
    places: frozenset[tuple[Any, int]]
    grains: frozenset[tuple[Any, int, int]]  # key, grain and bucket, by ROW_ID

    @property
    def split_keys(self) -> set[Any]:
        """Keys that lie in more than one bucket."""
        return {key for key, n in Counter(key for key, _ in self.places).items() if n > 1}

    def astray(self, function: PartitioningFunction) -> list[Any]:
        """Keys with a row outside the bucket that plain Python, row by row, gives them."""
        return [key for key, grain, bucket in self.grains if function.bucket_of(key, grain) != bucket]


def held_by(dataset: Dataset, version: int | None = None) -> Held:
    table = DeltaTable(dataset.state, version=version)
    found = pa.table(QueryBuilder().register("held", table).execute("SELECT * FROM held").read_all())
    theirs = [name for name in found.column_names if name not in OURS]
    rows = zip(*(found[name].to_pylist() for name in theirs), strict=True)
    keys, buckets = found[dataset.key].to_pylist(), found["bucket"].to_pylist()
    return Held(
        rows=Counter(rows),
        places=frozenset(zip(keys, buckets, strict=True)),
        grains=frozenset(zip(keys, _grains(found), buckets, strict=True)),
    )


def _grains(found: pa.Table) -> list[int]:
    """By plain Python, row by row; 0 where the table has other columns and nothing is split."""
    if not set(ROW_ID) <= set(found.column_names):
        return [0] * found.num_rows
    rows = zip(*(found[name].to_pylist() for name in ROW_ID), strict=True)
    return [grain_of(row, ["timestamp", "string"]) for row in rows]


def version_of(dataset: Dataset) -> int:
    return DeltaTable(dataset.state).version()


def upserted(spark: Any) -> Any:
    """New balances for a third of the keys, and one key that was not there."""
    rows = [(key, START + DAY, "changed") for key in [*KEYS[::3], "newcomer"]]
    return spark.createDataFrame(rows, COLUMNS).coalesce(1)


def delivered(spark: Any) -> Any:
    """A delivery for ``append``."""
    return spark.createDataFrame([(key, START + DAY, "delivered") for key in KEYS], COLUMNS).coalesce(1)
