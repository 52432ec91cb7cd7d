"""Seeded events, made by Spark itself: every value is a function of the row's number, so any size is the same on every machine."""

from datetime import UTC, datetime, timedelta

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from spark_jobs.job import Window

SEED = 20_260_103
ZIPF = 0.85  # as in the planners' benchmark
START = datetime(2026, 1, 3, tzinfo=UTC)
DAY = Window(start=START, end=START + timedelta(days=1))
EIGHTH = Window(start=START, end=START + timedelta(hours=3))
N_FILES = 8


def zipf_events(spark: SparkSession, *, n_rows: int, n_keys: int) -> DataFrame:
    """A day of events in the order of time, about 70 bytes each on disk; the key of rank r has a share like r^-0.85."""
    return _events(spark, n_rows=n_rows, key=_zipf_rank(n_keys))


def distinct_events(spark: SparkSession, *, n_keys: int, n_heavy: int, n_rows: int) -> DataFrame:
    """A day of events in which each of ``n_keys`` keys occurs, and a tenth of the rows belong to some heavy ones of them."""
    even = n_rows * 9 // 10
    key = F.when(F.col("id") < even, F.col("id") % n_keys).otherwise(_zipf_rank(n_heavy))
    return _events(spark, n_rows=n_rows, key=key)


def _events(spark: SparkSession, *, n_rows: int, key: Column) -> DataFrame:
    microseconds = F.floor(F.col("id") * ((DAY.end - DAY.start) / timedelta(microseconds=1) / n_rows))
    hexadecimal = F.md5(F.concat_ws("/", F.lit(SEED), "id"))
    return spark.range(0, n_rows, 1, N_FILES).select(
        key.alias("user_id"),
        F.timestamp_micros(F.lit(int(START.timestamp()) * 1_000_000) + microseconds).alias("clicked_at"),
        F.substring(hexadecimal, 1, 16).alias("page"),
        F.md5(hexadecimal).alias("session"),
    )


def _zipf_rank(n_keys: int) -> Column:
    """A rank from 1 to ``n_keys``, by the inverse of the continuous distribution with density r^-z."""
    uniform = F.pmod(F.xxhash64("id", F.lit(SEED)), F.lit(1 << 53)) / F.lit(float(1 << 53))
    span = n_keys ** (1 - ZIPF) - 1
    return F.floor(F.pow(1 + uniform * span, F.lit(1 / (1 - ZIPF)))).cast("bigint")
