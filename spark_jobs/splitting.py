"""
Rows get a bucket by a splitter, in Spark: each input partition is a source that knows what it sent itself.

Where a row's key or position says it all (hash, shuffle), the bucket is a native expression. The others remember what they sent:
Arrow batches of the key's hash go to Python, eight bytes a row, and a bucket comes back; no other column leaves the JVM.
"""

from collections.abc import Iterator

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.pandas.functions import arrow_udf

from partitioning.splitter_choice import SIGNIFICANT, Choice, WindowStatistics
from partitioning.splitters.sources import send_gathered, source_of

_SOURCE_BITS = (
    33  # monotonically_increasing_id: the partition's number above them, the row's position in it below
)

MOST_HEAVY = 1_000  # heavy keys that are looked for


def split_column(key: Column, choice: Choice, *, n_buckets: int) -> Column:
    """The bucket of each row, an int from 0 on. The same input partitions give the same buckets."""
    if choice.splitter == "hash":
        bucket = F.pmod(F.xxhash64(key), F.lit(n_buckets))
    elif choice.splitter == "shuffle":
        bucket = F.pmod(_position(), F.lit(n_buckets))
    else:
        return _sent_by_sources(F.xxhash64(key), choice, n_buckets)
    return bucket.cast("int")


def _position() -> Column:
    """The row's place in its partition, counted from the partition's number on, so that sources do not all begin with bucket 0."""
    row = F.monotonically_increasing_id()
    return F.shiftright(row, _SOURCE_BITS) + row.bitwiseAND(F.lit((1 << _SOURCE_BITS) - 1))


def _sent_by_sources(key_hash: Column, choice: Choice, n_buckets: int) -> Column:
    splitter, n_choices = choice.splitter, choice.n_choices

    def send(batches: Iterator[pa.Array]) -> Iterator[pa.Array]:
        source = source_of(splitter, n_buckets=n_buckets, n_choices=n_choices)
        hashes = (batch.to_numpy(zero_copy_only=False) for batch in batches)
        for bucket in send_gathered(source, hashes):  # Spark counts the rows that come back, not the batches
            yield pa.array(bucket, pa.int32())

    # Asked twice for a row, a source would count it twice: Spark must not.
    sent: Column = arrow_udf(send, "int").asNondeterministic()(key_hash)  # type: ignore[call-overload]  # its kind is in the hints
    return sent


def measure_window(rows: DataFrame, key: Column, *, n_buckets: int) -> WindowStatistics:
    """
    What the choice of a splitter needs to know of these rows, in one pass over the key that shuffles a few kilobytes a task.

    Rows are counted; keys and the heavy keys' rows are estimates by sketches, within a few percent.
    """
    hashed = rows.select(F.xxhash64(key).alias("key_hash"))
    found = hashed.agg(
        F.count(F.lit(1)).alias("rows"),
        F.approx_count_distinct("key_hash").alias("keys"),
        F.expr(f"approx_top_k(key_hash, {min(SIGNIFICANT * n_buckets, MOST_HEAVY)})").alias("top"),
    ).collect()[0]
    n_rows, top = int(found["rows"]), found["top"] or []
    least = n_rows / n_buckets / SIGNIFICANT
    return WindowStatistics(
        n_rows=n_rows,
        n_keys=min(int(found["keys"]), n_rows),
        n_buckets=n_buckets,
        hottest_rows=min(int(top[0]["count"]), n_rows) if top else 0,
        heavy=tuple(int(one["item"]) for one in top if one["count"] > least),
    )
