"""The Arrow face: what verification reads. That it is Spark's, bit for bit, is held by test_routing.py."""

from datetime import UTC, datetime

import numpy as np
import pyarrow as pa
import pytest

from partitioning.function import PartitioningFunction
from spark_jobs.arrow_rows import buckets_of_batch, grains_of_batch, plain_columns

FUNCTION = PartitioningFunction.initial(key_type="string", n_buckets=4, n_slots=64).with_changes(
    splits={"hot": [(1, 2048), (2, 2048)]}, row_id=("id", "at")
)
BATCH = pa.record_batch(
    {
        "k": ["hot", "hot", "cold", None],
        "id": pa.array([1, None, 3, 4], pa.int64()),
        "at": pa.array([datetime(2026, 1, 1, tzinfo=UTC), None, None, None], pa.timestamp("us", "UTC")),
        "tags": [["a"], [], None, None],
    }
)


def test_rows_of_split_keys_go_by_their_grain():
    """Others go by their key alone."""
    grains = grains_of_batch(BATCH, ("at", "id"))

    buckets = buckets_of_batch(BATCH, FUNCTION, key="k")

    assert buckets.tolist() == [
        FUNCTION.bucket_of(key, int(grain)) for key, grain in zip(BATCH["k"].to_pylist(), grains, strict=True)
    ]


def test_column_that_a_file_does_not_have_is_null():
    """Files written before a column was added hold the same rows as Spark shows them."""
    older = BATCH.drop_columns(["at"])
    nulls = older.append_column("at", pa.nulls(4, pa.timestamp("us", "UTC")))

    assert grains_of_batch(older, ("at", "id")).tolist() == grains_of_batch(nulls, ("at", "id")).tolist()


@pytest.mark.parametrize(
    "of_type", [pa.int32(), pa.int16(), pa.bool_(), pa.float32(), pa.date32(), pa.string()]
)
def test_nulls_change_nothing_of_other_rows(of_type):
    """NumPy has no NULL: what stands in for it must not leak."""
    values = pa.array([1, 0, 1], pa.int32()).cast(of_type, safe=False)
    holed = pa.array([value.as_py() if i else None for i, value in enumerate(values)], of_type)

    whole, with_null = (grains_of_batch(pa.record_batch({"x": column}), ("x",)) for column in (values, holed))

    assert whole[1:].tolist() == with_null[1:].tolist()
    assert with_null[0] == 42 >> 52
    assert whole.dtype == np.int64


def test_only_plain_columns_tell_rows_apart():
    """In the order of their names, whatever order the table has."""
    assert plain_columns(BATCH.schema) == ["at", "id", "k"]
