"""The function's Spark face must agree with NumPy's to the last key, or rows and plans part ways."""

import datetime as dt
from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from partitioning.function import PartitioningFunction
from partitioning.grains import grain_of
from spark_jobs.arrow_rows import buckets_of_batch
from spark_jobs.job import JobError
from spark_jobs.routing import with_bucket

pytestmark = pytest.mark.spark

CASES = {
    "bigint": [0, 1, -1, 2**63 - 1, -(2**63), None, *range(100, 160)],
    "int": [0, 1, -1, 2**31 - 1, -(2**31), None, *range(100, 160)],
    "string": ["", "a", "it's", "naïve 🚀", "x" * 10_000, None, *(f"user {i}" for i in range(60))],
}


@pytest.mark.parametrize("key_type", CASES)
@pytest.mark.parametrize("routed", [0, 9])
def test_spark_and_numpy_give_every_key_the_same_bucket(spark, key_type, routed):
    """With and without routes, NULL and extreme keys included; the column's name is awkward on purpose."""
    keys = CASES[key_type]
    plain = PartitioningFunction.initial(key_type=key_type, n_buckets=5, n_slots=128)
    routes = {key: (plain.bucket_of(key) + 1) % 5 for key in keys[:routed]}
    function = plain.with_changes(routes=routes)
    frame = spark.createDataFrame([(key,) for key in keys], f"`a``b` {key_type}")

    rows = with_bucket(frame, function, key="a`b").collect()

    found = {row[0]: row["bucket"] for row in rows}
    assert len(rows) == len(keys)
    assert found == {key: int(bucket) for key, bucket in zip(keys, function.buckets_of(keys), strict=True)}
    assert all(found[key] == bucket for key, bucket in routes.items())


MOMENTS = [dt.datetime(1950, 1, 1, 1, 2, 3, 456789, tzinfo=dt.UTC), dt.datetime(2026, 2, 28, tzinfo=dt.UTC)]
ROW_COLUMNS = {
    "bigint": [2**63 - 1, -(2**63), 0],
    "int": [2**31 - 1, -(2**31), 0],
    "smallint": [-(2**15), 2**15 - 1, 5],
    "tinyint": [-128, 127, 5],
    "boolean": [True, False],
    "double": [0.0, -0.0, float("nan"), float("inf"), 1.5, -1e300],
    "float": [0.0, -0.0, float("nan"), float("-inf"), 1.5],
    "string": ["", "a", "naïve 🚀", "x" * 1000],
    "binary": [b"", b"\x00\xff", b"0" * 40],
    "date": [dt.date(1, 1, 1), dt.date(9999, 12, 31), dt.date(1970, 1, 1)],
    "timestamp": MOMENTS,
    "timestamp_ntz": [moment.replace(tzinfo=None) for moment in MOMENTS],
    "decimal(10,2)": [Decimal("-1.05"), Decimal("99999999.99"), Decimal(0)],
    "decimal(38,10)": [Decimal("-1.05"), Decimal(10**27), Decimal(0)],
}


def test_every_face_gives_a_row_of_a_split_key_the_same_bucket(spark, tmp_path):
    """
    Spark routes, Arrow and NumPy verify, plain Python explains: every type that may tell rows apart, its extremes and NULL, alone and
    behind others, as Spark has it and as a Parquet file of Spark's is read back.
    """
    values = [*(len(values) for values in ROW_COLUMNS.values())]
    types = list(ROW_COLUMNS)
    rows = [
        (i % 3, *(_value(of_type, i, j) for j, of_type in enumerate(types)), i)
        for i in range(4 * max(values))
    ]
    fields = ", ".join(f"`c {j}` {of_type}" for j, of_type in enumerate(types))
    frame = spark.createDataFrame(rows, f"k bigint, {fields}, n int")
    names = [f"c {j}" for j in range(len(types))]
    frame.coalesce(1).write.parquet(str(tmp_path / "rows"))
    stored = pa.Table.from_batches(
        pq.ParquetFile(
            next((tmp_path / "rows").glob("*.parquet")), coerce_int96_timestamp_unit="us"
        ).iter_batches()
    ).combine_chunks()
    plain = PartitioningFunction.initial(key_type="bigint", n_buckets=5, n_slots=128)
    for row_id in [*((name,) for name in names), tuple(sorted(names))]:
        parts = [(0, 1000), (3, 96), (4, 3000)]
        function = plain.with_changes(splits={0: parts, 1: parts[::-1]}, routes={2: 1}, row_id=row_id)

        found = with_bucket(frame, function, key="k").select("n", "bucket").collect()

        wanted = buckets_of_batch(stored.to_batches()[0], function, key="k")
        assert {row["n"]: row["bucket"] for row in found} == dict(
            zip(stored["n"].to_pylist(), wanted.tolist(), strict=True)
        ), row_id
        of_type = dict(zip(names, types, strict=True))
        for row in rows:
            cells = [row[1 + names.index(name)] for name in row_id]
            grain = grain_of(cells, [of_type[name] for name in row_id])
            assert function.bucket_of(row[0], grain) == {r["n"]: r["bucket"] for r in found}[row[-1]]


def _value(of_type, i, j):
    """Each value of the type in turn, each type at its own pace, and NULL."""
    values = [*ROW_COLUMNS[of_type], None]
    return values[(i + j) % len(values)]


def test_frame_without_what_tells_its_rows_apart_is_refused(spark):
    """Its rows would all go to one part."""
    function = PartitioningFunction.initial(key_type="bigint", n_buckets=5, n_slots=128).with_changes(
        splits={0: [(0, 96), (1, 4000)]}, row_id=("id", "tags")
    )
    frame = spark.createDataFrame([(0, ["a"])], "k bigint, tags array<string>")

    with pytest.raises(
        JobError, match=r"columns id, tags, of plain types\. Got id: no such column, tags: array<string>"
    ):
        with_bucket(frame, function, key="k")
