"""The function's Spark face must agree with NumPy's to the last key, or rows and plans part ways."""

import pytest

from partitioning.function import PartitioningFunction
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
