"""A window that is not fit to be planned on stops the run before anything is written to the state."""

from dataclasses import replace

import pytest

from schemas.tables import CHECKS
from spark_jobs.check_window import check_window
from spark_jobs.job import JobError

pytestmark = pytest.mark.spark


def test_good_window_passes_and_its_checks_are_kept(spark, task):
    """The NULL keys are a warning: kept, said, and no reason to stop."""
    facts = check_window(task(0))

    kept = {row["column"]: row for row in spark.read.format("delta").load(CHECKS.path).collect()}
    assert facts["null_keys"] > 0
    assert {name: row["success"] for name, row in kept.items()} == {
        "rows": True,
        "keys": True,
        "null_keys": False,
    }
    assert kept["null_keys"]["severity"] == "warning"


def test_small_window_stops_the_run(task, dataset):
    """A half-loaded day looks like a day without skew."""
    strict = replace(task(0), dataset=replace(dataset, min_rows=10**6))

    with pytest.raises(JobError, match=r"window must pass every critical expectation .* rows is \d+"):
        check_window(strict)


def test_empty_window_stops_the_run(task):
    """No events at all: the events table lags behind the schedule."""
    with pytest.raises(JobError, match=r"rows is 0"):
        check_window(task(9))
