"""A window comes into the state table exactly once, every row in its key's bucket."""

from dataclasses import replace
from datetime import timedelta

import pytest
from pyspark.sql import functions as F

from spark_jobs.appending import append_rows
from spark_jobs.job import Window
from spark_jobs.layout_transaction import CONFLICTS, LayoutTransaction
from spark_jobs.load_window import load_window, window_events
from spark_jobs.loaded_windows import mark_loaded
from tests.spark_jobs.conftest import DAY, START, rows_of_day
from tests.spark_jobs.oracle import keys_astray, rows_in, state_of

pytestmark = pytest.mark.spark


def test_window_is_loaded_once_however_often_it_is_retried(spark, dataset, task):
    """Airflow retries: a second append would double every load of the window."""
    load_window(task(0))
    load_window(task(0))

    assert state_of(spark, dataset).count() == len(rows_of_day(0))


def test_every_row_lies_in_the_bucket_of_its_key(spark, dataset, task):
    """What all later steps rely on."""
    load_window(task(0))

    assert keys_astray(spark, dataset) == []


def test_windows_expire_and_others_stay_to_the_row(spark, dataset, task):
    """keep_windows = 2: loading the third day drops the first, and nothing else."""
    for day in range(3):
        load_window(task(day))

    pages = sorted((row[0] or "", row["at"]) for row in state_of(spark, dataset).collect())
    wanted = [row for day in (1, 2) for row in rows_of_day(day)]
    assert pages == sorted((key or "", at.replace(tzinfo=None)) for key, at, _ in wanted)


def test_an_older_window_can_be_loaded_after_a_newer_one(spark, dataset, task):
    """Backfills come late; each window has an identity of its own, so that none is taken for done."""
    load_window(task(1))
    load_window(task(0))

    assert state_of(spark, dataset).count() == len(rows_of_day(0)) + len(rows_of_day(1))


def test_overlapping_windows_bring_every_row_once(spark, dataset, task):
    """Six hours by hand, then the day they lie in, then hours that reach into the next one: each moment comes once."""
    hour = timedelta(hours=1)
    for first, last in ((6, 12), (0, 24), (3, 5), (18, 30), (24, 48)):
        window = Window(start=START + first * hour, end=START + last * hour)
        load_window(replace(task(0), given_window=window))

    assert rows_in(state_of(spark, dataset)) == rows_in(
        spark.read.format("delta").load(dataset.events).where(F.col("at") < F.lit(START + 2 * DAY))
    )


def test_a_short_window_by_hand_leaves_the_days_before(spark, dataset, task):
    """keep_windows = 2: the first hour of the third day drops the first day, and not the second with it."""
    load_window(task(0))
    load_window(task(1))
    start = START + 2 * DAY
    load_window(replace(task(2), given_window=Window(start=start, end=start + timedelta(hours=1))))

    assert state_of(spark, dataset).where(F.col("at") < F.lit(start)).count() == len(rows_of_day(1))


def test_a_window_longer_than_what_is_kept_brings_the_rest_of_it(spark, dataset, task):
    """keep_windows = 2, three days at once by hand: the first has expired before it comes, and a retry changes nothing."""
    window = Window(start=START, end=START + 3 * DAY)
    loaded = [load_window(replace(task(0), given_window=window)) for _ in range(2)]

    assert rows_in(state_of(spark, dataset)) == rows_in(
        window_events(replace(task(0), given_window=Window(start=START + DAY, end=START + 3 * DAY)))
    )
    assert [(one["rows"], one["rows_expired"]) for one in loaded] == [
        (len(rows_of_day(1)) + len(rows_of_day(2)), 0),
        (0, 0),
    ]


def test_of_two_loads_at_once_the_second_looks_again(spark, dataset, task):
    """Both saw an empty table, and their windows overlap: the one that commits last must not bring the shared hours again."""
    day, noon = task(0).window, START + timedelta(hours=12)
    late = LayoutTransaction(spark, dataset)
    load_window(task(0))
    append_rows(late, window_events(task(0)))
    mark_loaded(late, Window(start=day.start, end=noon))

    with pytest.raises(CONFLICTS):
        late.commit({"evenkeel": "load"})


def test_events_that_come_late_are_told(spark, dataset, task):
    """They are in the table of events and not in the state: who clears the task must hear of it."""
    assert load_window(task(0))["rows_late"] == 0
    events = spark.read.format("delta").load(dataset.events)
    first_day = events.where(F.col("at") < F.lit(START + DAY))
    first_day.limit(3).write.format("delta").mode("append").save(dataset.events)

    assert load_window(task(0))["rows_late"] == 3
    assert state_of(spark, dataset).count() == len(rows_of_day(0))
