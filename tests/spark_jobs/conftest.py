"""A small dataset with real events, for tests of the jobs."""

import shutil
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import cache, partial
from pathlib import Path
from typing import Any

import pytest

from schemas.dataset import Dataset
from schemas.places import locate

START = datetime(2026, 1, 3, tzinfo=UTC)
DAY = timedelta(days=1)

# Keys that break whoever pastes them into SQL, and a NULL key; bucket loads are skewed by the first.
KEYS = ["it's", 'say "x"', "back`tick", "naïve 🚀", "a\\b", None, *(f"user {i}" for i in range(40))]


def rows_of_day(day: int) -> list[tuple[str | None, datetime, str]]:
    """Key number i clicks about 200 / (i + 1) times; the order of keys turns by 5 a day."""
    turned = KEYS[5 * day :] + KEYS[: 5 * day]
    times = START + day * DAY
    return [
        (key, times + timedelta(seconds=60 * rank + click), f"page {click}")
        for rank, key in enumerate(turned)
        for click in range(1 + 200 // (rank + 1))
    ]


def visits(**changes: Any) -> Dataset:
    """Two days of events by awkward string keys, in a column with an awkward name."""
    fields = {
        "name": "visits", "about": "", "schedule": "@daily", "start": START.date(), "key": 'who`s"it', "key_type": "string",
        "events": locate("visits/events"), "event_time": "at", "state": locate("visits/state"), "keep_windows": 2,
        "n_buckets": 4, "n_slots": 64, "max_imbalance": 0.08, "max_routes": 20, "max_migration": 0.6, "planner": "llfd",
        "min_rows": 1,
    }  # fmt: skip
    return Dataset(**{**fields, **changes})


@pytest.fixture
def dataset(warehouse) -> Dataset:
    return visits()


@pytest.fixture(scope="session")
def templates(spark, tmp_path_factory) -> Callable[[str], Path]:
    """``templates(name)``: a warehouse that is made once, for tests to copy. Copying a Delta table at rest is safe."""
    makers = {"created": _make_created, "planned": _make_planned, "settled": _make_settled}

    @cache
    def template(name: str) -> Path:
        folder = tmp_path_factory.mktemp(name)
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("EVENKEEL_WAREHOUSE", str(folder))
            makers[name](spark)
        return folder

    return template


def _make_created(spark) -> None:
    """Three days of events, and the empty state table."""
    _load_days(spark, visits(), [])


def _make_planned(spark) -> None:
    """Day 0 loaded, profiled and planned on."""
    _load_days(spark, visits(), [0])
    plan_of(visits(), 0)


def _make_settled(spark) -> None:
    """Two days loaded, every slot in files of its own."""
    _load_days(spark, visits(min_file_bytes=1), [0, 1])


@pytest.fixture
def settled(templates, warehouse) -> Dataset:
    """The settled table of two days in a warehouse of the test's own."""
    shutil.copytree(templates("settled"), warehouse, dirs_exist_ok=True)
    return visits(min_file_bytes=1)


def _load_days(spark, dataset, days):
    from spark_jobs.create_layout import create_layout
    from spark_jobs.job import Task
    from spark_jobs.load_window import load_window

    write_events(spark, dataset)
    create_layout(Task(dataset=dataset))
    for day in days:
        load_window(Task(dataset=dataset, given_window=window_of(day)))


def write_events(spark, dataset):
    rows = [row for day in range(3) for row in rows_of_day(day)]
    events = spark.createDataFrame(rows, '`who``s"it` string, at timestamp, page string')
    events.write.format("delta").save(dataset.events)


def window_of(day):
    from spark_jobs.job import Window

    return Window(start=START + day * DAY, end=START + (day + 1) * DAY)


def task_of(dataset, day, plan="", **options):
    from spark_jobs.job import Task

    return Task(dataset=dataset, given_window=window_of(day), plan=plan, options=options)


def plan_of(dataset, day) -> str:
    """Profile the day and plan on it; the plan's name."""
    from spark_jobs.plan_moves import plan_moves
    from spark_jobs.profile_keys import profile_keys

    profile_keys(task_of(dataset, day))
    return str(plan_moves(task_of(dataset, day))["plan"])


@pytest.fixture
def task(templates, dataset, warehouse) -> Callable[..., Any]:
    """``task(day)`` and ``task(day, plan=...)``: what a job is given. Events are there, the state table is made."""
    shutil.copytree(templates("created"), warehouse, dirs_exist_ok=True)
    return partial(task_of, dataset)


@pytest.fixture
def planned(task, templates, dataset, warehouse) -> Callable[[int], str]:
    """``planned(day)``: the day is loaded, profiled and planned on; the plan's name. Begin with day 0."""
    from schemas.tables import PLANS
    from spark_jobs.control_tables import read_rows
    from spark_jobs.load_window import load_window

    def of_day(day: int) -> str:
        if day == 0:
            shutil.rmtree(warehouse)
            shutil.copytree(templates("planned"), warehouse)
            return str(read_rows(PLANS, dataset=dataset.name)["plan"][0])
        load_window(task(day))
        return plan_of(dataset, day)

    return of_day
