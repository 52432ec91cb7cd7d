"""What a key cost and what it holds: the planner believes every number of it."""

import pytest

from spark_jobs.profile_keys import count_per_key

pytestmark = pytest.mark.spark


def test_each_key_has_the_rows_it_caused_and_the_bytes_it_holds(spark):
    """Keys of the window only, of the state only, of both, and the NULL key, which must not vanish in a join."""
    events = spark.createDataFrame([("a",), ("a",), ("new",), (None,)], "`k``y` string")
    state = spark.createDataFrame([("a",), ("old",), ("old",), (None,)], "`k``y` string")

    rows = count_per_key(events, state, key="k`y", row_bytes=2.5).collect()

    assert {row["key"]: (row["cost"], row["state"]) for row in rows} == {
        "a": (2.0, 2.5), "new": (1.0, 0.0), "old": (0.0, 5.0), None: (1.0, 2.5),
    }  # fmt: skip
    assert len(rows) == 4
