"""A window comes into the state table exactly once, every row in its key's bucket."""

import pytest

from spark_jobs.load_window import load_window
from tests.spark_jobs.conftest import rows_of_day
from tests.spark_jobs.oracle import keys_astray, state_of

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
