"""A small dataset with real events, for tests of the jobs."""

import shutil
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from schemas.dataset import Dataset, locate

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
def settled_template(spark, tmp_path_factory) -> Path:
    """A warehouse with two days loaded, every slot in files of its own; made once, for tests to copy."""
    folder = tmp_path_factory.mktemp("settled")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("EVENKEEL_WAREHOUSE", str(folder))
        _load_days(spark, visits(min_file_bytes=1), [0, 1])
    return folder


@pytest.fixture
def settled(settled_template, warehouse) -> Dataset:
    """The settled table of two days in a warehouse of the test's own."""
    shutil.copytree(settled_template, warehouse, dirs_exist_ok=True)
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


@pytest.fixture
def task(spark, dataset) -> Callable[..., Any]:
    """``task(day)`` and ``task(day, plan=...)``: what a job is given. Events are there, the state table is made."""
    from spark_jobs.job import Task

    def of_day(day: int, plan: str = "", **options: Any) -> Task:
        return Task(dataset=dataset, given_window=window_of(day), plan=plan, options=options)

    _load_days(spark, dataset, [])
    return of_day


@pytest.fixture
def planned(task) -> Callable[[int], str]:
    """``planned(day)``: load and profile the day, and plan on it; the plan's name."""
    from spark_jobs.load_window import load_window
    from spark_jobs.plan_moves import plan_moves
    from spark_jobs.profile_keys import profile_keys

    def plan_of(day: int) -> str:
        load_window(task(day))
        profile_keys(task(day))
        return str(plan_moves(task(day))["plan"])

    return plan_of
