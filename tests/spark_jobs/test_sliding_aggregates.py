"""Sliding windows from panes: the same answer as Spark's own windows, with every row aggregated once."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import numpy as np
import pytest
from pyspark.sql import functions as F

from spark_jobs.job import JobError
from spark_jobs.sliding_aggregates import every, sliding_aggregates

pytestmark = pytest.mark.spark

BIG = 2**39 + 1  # sums are above 2^53, from where floats leave out every other whole number
BEGIN = datetime(1969, 12, 31, 22, tzinfo=UTC)  # times before 1970 are times too
COLUMNS = "`who``s` string, at timestamp, amount bigint, price decimal(10,2)"


@pytest.fixture(scope="module")
def rows(spark):
    """A day of uneven times by a few keys, one of them NULL; some without an amount, one without a time."""
    rng = np.random.default_rng(3)
    seconds = rng.integers(0, 86_400, 600)
    made = [
        (f"user {key}" if key else None, BEGIN + timedelta(seconds=int(second), microseconds=int(second) % 7), None if second % 11 == 0 else (int(second) - 40_000) * BIG, Decimal(int(second)) / 100)
        for key, second in zip(rng.integers(0, 5, 600), seconds, strict=True)
    ]  # fmt: skip
    return spark.createDataFrame([*made, ("user 1", None, 5, Decimal(1))], COLUMNS).cache()


def directly(rows, *, value, size, slide):
    """By Spark's own windows, which copy every row into each window it lies in: group, begin and end of the window → figures."""
    window = F.window("at", *(f"{int(length.total_seconds())} seconds" for length in (size, slide)))
    answer = rows.where("at IS NOT NULL").groupBy("`who``s`", window.alias("w")).agg(
        F.count("*").alias("n"), F.sum(value).alias("s"), F.min(value).alias("l"), F.max(value).alias("m"), F.avg(F.col(value).cast("double")).alias("a")
    )  # fmt: skip
    return by_window(answer.select("`who``s`", "w.start", "w.end", "n", "s", "l", "m", "a"))


def by_window(answer):
    return {tuple(row)[:3]: tuple(row)[3:] for row in answer.collect()}


@pytest.mark.parametrize("value", ["amount", "price"])
@pytest.mark.parametrize(
    ("size", "slide"),
    [(timedelta(hours=6), timedelta(hours=1)), (timedelta(minutes=50), timedelta(minutes=20)), (timedelta(hours=1), timedelta(hours=1))],
)  # fmt: skip
def test_panes_give_what_direct_windows_give(rows, value, size, slide):
    """To the last row and digit, windows at the edges included: who switches to panes must see no difference."""
    ours = sliding_aggregates(rows, by=["who`s"], time="at", value=value, windows=every(slide, size=size))
    got, wanted = by_window(ours), directly(rows, value=value, size=size, slide=slide)

    assert got.keys() == wanted.keys()
    assert {window: figures[:4] for window, figures in got.items()} == {
        window: figures[:4] for window, figures in wanted.items()
    }
    for window, (*_, mean) in got.items():
        assert mean == (None if mean is None else pytest.approx(wanted[window][4], rel=1e-12))
        assert (mean is None) == (wanted[window][4] is None)


def test_windows_with_gaps_leave_out_what_lies_between(rows):
    """Ten minutes of every hour: rows of the other fifty lie in no window."""
    windows = every(timedelta(hours=1), size=timedelta(minutes=10))
    ours = sliding_aggregates(rows, by=[], time="at", value="amount", windows=windows)

    wanted = rows.where("at IS NOT NULL AND minute(at) < 10").count()
    assert sum(row["count"] for row in ours.collect()) == wanted > 0


def test_every_row_is_aggregated_before_it_is_copied(rows):
    """What is exploded into windows are panes: 24 windows a row would be 24 times the rows."""
    windows = every(timedelta(hours=1), size=timedelta(hours=24))
    plan = sliding_aggregates(rows, by=["who`s"], time="at", value="amount", windows=windows)._jdf.queryExecution().optimizedPlan().toString()  # fmt: skip

    below = plan[plan.index("Generate") :]
    assert "Aggregate" in below
    assert "Generate" not in below[below.index("Aggregate") :]


@pytest.mark.parametrize(
    ("by", "value", "sentence"),
    [
        (["Count"], "amount", r"by, time and value must leave the names that are used here free\. Got Count\."),
        (["__pane"], "amount", r"by, time and value must leave the names that are used here free\. Got __pane\."),
        (["nobody"], "amount", r"by, time and value must be columns of the rows\. Got 'nobody'; there are 'who`s', 'at'"),
        (["total"], "amount", r"by, time and value must leave the names that are used here free\. Got total\."),
    ],
)  # fmt: skip
def test_wrong_names_are_refused(rows, by, value, sentence):
    """Before a job has run for an hour."""
    frame = rows.withColumns({name: F.lit(1) for name in ("total", "Count", "__pane")})
    with pytest.raises(JobError, match=sentence):
        sliding_aggregates(
            frame, by=by, time="at", value=value, windows=every(timedelta(1), size=timedelta(1))
        )
