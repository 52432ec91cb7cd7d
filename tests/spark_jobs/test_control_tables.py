"""Control tables: every write replaces its own rows and nothing else, and functions never change."""

from datetime import UTC, datetime, timedelta

import pytest
from deltalake import DeltaTable

from partitioning.function import PartitioningFunction
from schemas.tables import FUNCTIONS, ITEM_STATS, RUNS, Table
from spark_jobs.control_tables import load_function, read_one, read_rows, replace_rows, save_function
from spark_jobs.job import JobError

MONDAY = datetime(2026, 1, 5, tzinfo=UTC)


def stats(*keys):
    return [{"window_end": MONDAY + timedelta(days=1), "key": key, "cost": 1.0, "state": 2.0} for key in keys]


def keys_of(dataset, window):
    return read_rows(ITEM_STATS, dataset=dataset, window_start=window)["key"].to_pylist()


def test_writing_again_replaces_the_same_identity_only(warehouse):
    """A retried profile must not double its rows, and must not touch other windows or datasets."""
    tuesday = MONDAY + timedelta(days=1)
    replace_rows(stats("a", None), ITEM_STATS, dataset="x", window_start=MONDAY)
    replace_rows(stats("b"), ITEM_STATS, dataset="x", window_start=tuesday)
    replace_rows(stats("c"), ITEM_STATS, dataset="it's", window_start=MONDAY)
    replace_rows(stats("d"), ITEM_STATS, dataset="x", window_start=MONDAY)

    assert keys_of("x", MONDAY) == ["d"]
    assert keys_of("x", tuesday) == ["b"]
    assert keys_of("it's", MONDAY) == ["c"]


def test_no_rows_replace_what_was_there(warehouse):
    """A plan without moves, after a plan with the same name that had some."""
    replace_rows(stats("a"), ITEM_STATS, dataset="x", window_start=MONDAY)
    replace_rows([], ITEM_STATS, dataset="x", window_start=MONDAY)

    assert keys_of("x", MONDAY) == []


def test_reading_a_table_that_is_not_there_gives_no_rows(warehouse):
    """The first run of the first dataset."""
    assert read_rows(ITEM_STATS, dataset="x").num_rows == 0


def test_missing_row_is_named(warehouse):
    """Which table, which row, and what to do."""
    with pytest.raises(
        JobError, match=r"functions must hold one row for dataset x, function y\. Got 0\. Run the step"
    ):
        read_one(FUNCTIONS, dataset="x", function="y")


def test_function_is_written_once_and_read_back_equal(warehouse):
    """The state table names it for as long as it exists."""
    function = PartitioningFunction.initial(key_type="string", n_buckets=4, n_slots=64)
    function = function.with_changes(routes={"it's": (function.bucket_of("it's") + 1) % 4})
    save_function("x", function)
    version = DeltaTable(FUNCTIONS.path).version()
    save_function("x", function)

    assert DeltaTable(FUNCTIONS.path).version() == version
    assert load_function("x", function.digest) == function


def test_function_row_changed_by_hand_is_refused(warehouse):
    """A body under another's name would route rows by a function that nobody planned."""
    function = PartitioningFunction.initial(key_type="string", n_buckets=4, n_slots=64)
    other = PartitioningFunction.initial(key_type="string", n_buckets=5, n_slots=128)
    row = {"n_buckets": 4, "n_slots": 64, "n_routes": 0, "body": other.to_json()}
    replace_rows([row], FUNCTIONS, dataset="x", function=function.digest)

    with pytest.raises(JobError, match=r"functions\.body must have the digest"):
        load_function("x", function.digest)


def test_older_table_gets_new_columns(warehouse):
    """An upgrade finds tables that were written before a column existed: they are read as NULL, and grow when written."""
    older = Table(
        name=RUNS.name, identity=RUNS.identity, columns={name: RUNS.columns[name] for name in ("dataset", "run", "outcome")},
        comments={},
    )  # fmt: skip
    replace_rows([{"outcome": "held"}], older, dataset="x", run="old")

    assert read_one(RUNS, dataset="x", run="old")["steps"] is None
    row = {name: None for name in RUNS.columns if name not in RUNS.identity} | {"steps": "[]"}
    replace_rows([row], RUNS, dataset="x", run="new")
    assert read_one(RUNS, dataset="x", run="new")["steps"] == "[]"
    assert read_one(RUNS, dataset="x", run="old")["outcome"] == "held"
