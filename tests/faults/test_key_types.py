"""Every type a key may have goes the whole way; every other type is refused by its name, before anything is written."""

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import pytest

from partitioning.errors import FunctionError
from partitioning.function import PartitioningFunction
from schemas.dataset import DatasetError, read_dataset
from spark_jobs.audit_layout import audit_layout
from spark_jobs.create_layout import create_layout
from spark_jobs.job import JobError
from spark_jobs.load_window import load_window
from spark_jobs.migrate_layout import migrate_layout
from spark_jobs.plan_moves import plan_moves
from spark_jobs.profile_keys import profile_keys
from spark_jobs.table_log import current_function
from spark_jobs.verify_layout import verify_layout
from tests.faults.scenes import Scene, dataset_in, held_by
from tests.spark_jobs.conftest import START

pytestmark = [pytest.mark.spark, pytest.mark.faults]

MOMENT = datetime(1969, 12, 31, 23, 59, 59, 999999, tzinfo=UTC)
KEYS_OF = {
    "bigint": [-(2**63), 2**63 - 1, 0, -1, *range(1, 25)],
    "int": [-(2**31), 2**31 - 1, 0, -1, *range(1, 25)],
    "string": [
        "",
        " ",
        "it's",
        'say "x"',
        "back`tick",
        "a\\b",
        "naïve 🚀",
        *["x" * 10_000 + f"{n}" for n in range(20)],
    ],
    "date": [date(1, 1, 1), date(9999, 12, 31), *[date(1969, 12, 20) + timedelta(n) for n in range(24)]],
    "timestamp": [datetime(1900, 1, 1, tzinfo=UTC), *[MOMENT + timedelta(microseconds=n) for n in range(24)]],
    "binary": [b"", b"\x00", b"\xff" * 40, b"'`\"", *[bytes([n, 0, n]) for n in range(24)]],
    "decimal(10,2)": [
        Decimal("-99999999.99"),
        Decimal("99999999.99"),
        *[Decimal(n) / 100 for n in range(24)],
    ],
    "decimal(38,10)": [Decimal("-1e27"), Decimal("1e27"), *[Decimal(n) / 10**10 for n in range(-12, 12)]],
}


@pytest.mark.parametrize("key_type", KEYS_OF)
def test_whole_loop_with_keys_of_each_type(spark, warehouse, key_type):
    """
    Create, load, profile, plan, migrate, verify, audit, with the extremes of each type and the NULL key.

    The hash of a key is computed by Spark, by Python and by whoever verifies; one type on which two of them differ would
    send its rows where nobody looks for them. Strings differ only after 10,000 characters: statistics do not see it.
    """
    dataset = dataset_in(warehouse, key="key", key_type=key_type, max_tracked_keys=2, max_imbalance=0.02)
    scene = Scene(folder=warehouse, dataset=dataset)
    keys = [None, *KEYS_OF[key_type]]
    rows = [
        (key, START + timedelta(seconds=n)) for i, key in enumerate(keys) for n in range(1 + 40 // (i + 1))
    ]
    frame = spark.createDataFrame(rows, f"key {key_type}, at timestamp").coalesce(1)
    frame.write.format("delta").save(dataset.events)
    create_layout(scene.task(0))
    load_window(scene.task(0))
    profile_keys(scene.task(0))
    planned = replace(scene, plan=plan_moves(scene.task(0))["plan"])
    before = held_by(dataset)
    moved = migrate_layout(planned.task(0))
    proof = verify_layout(planned.task(0))

    assert moved["rows_moved"] > 0
    assert moved["files_flipped"] + moved["files_rewritten"] > 0
    assert proof["conserved"]
    held = held_by(dataset)
    assert held.rows == before.rows
    assert {key for key, *_ in held.rows} == set(keys)
    assert held.places != before.places
    assert held.astray(current_function(dataset)) == []
    assert audit_layout(scene.task(0))["rows"] == len(rows)


@pytest.mark.parametrize(
    "key_type", ["double", "float", "boolean", "smallint", "timestamp_ntz", "array<int>"]
)
def test_other_key_types_are_refused_by_name(spark, warehouse, key_type):
    """A float is not equal to itself after a round trip; better a sentence on the first day than a split key later."""
    dataset = dataset_in(warehouse, key="key", key_type="bigint")
    spark.sql(f"SELECT CAST(NULL AS {key_type}) AS key, current_timestamp() AS at").write.format(
        "delta"
    ).save(dataset.events)
    with pytest.raises(
        JobError, match=rf"key.type must be the type of column 'key' .* the column is {key_type}\. Correct"
    ):
        create_layout(Scene(folder=warehouse, dataset=dataset).task())
    with pytest.raises(
        FunctionError, match=rf"key_type must be one of bigint, .* Got '{key_type}'\. Cast the key column"
    ):
        PartitioningFunction.initial(key_type=key_type, n_buckets=3, n_slots=16)

    assert not Path(dataset.state).exists()


def test_dataset_file_with_another_key_type_is_refused(tmp_path):
    """The first thing that anybody writes."""
    path = tmp_path / "visits.yaml"
    path.write_text("name: visits\nkey: {column: key, type: double}\n")

    with pytest.raises(
        DatasetError,
        match=r"key\.type must match .* Got 'double'\. The key's Spark type: bigint, int, string",
    ):
        read_dataset(path)
