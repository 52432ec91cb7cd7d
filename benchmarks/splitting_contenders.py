"""
Three ways to an aggregate by key of events of which one key has six tenths, and what it costs to send rows to buckets.

| name             | how                                                                                             |
| ---------------- | ----------------------------------------------------------------------------------------------- |
| plain            | ``groupBy(key)``                                                                                |
| salted           | ``groupBy(key, salt)`` with a random salt of N values on every row, then ``groupBy(key)``       |
| aggregate_window | the job: look at the window, choose a splitter, partial results per bucket, merge               |

All use the same expressions for partial results and write to the same kind of table.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import cached_property, reduce
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from benchmarks.layout_bench import QuietTask
from partitioning.splitter_choice import Choice
from schemas.dataset import Dataset
from spark_jobs.aggregate_window import aggregate_window, results_of, write_results
from spark_jobs.job import Result, Window
from spark_jobs.load_window import window_events
from spark_jobs.two_stages import (
    KEY,
    kinds_of_rows,
    merge_partials,
    named,
    needed_rows,
    partials_by,
    sent_rows,
)

N_BUCKETS = 8
N_KEYS = 400_000  # beside the hot one: too many for shuffle, by the rule of the choice
HOT_KEY, HOT_SHARE = 0, 0.6
PLAIN, SALTED, OURS = CONTENDERS = ("plain groupBy", "salted by hand", "aggregate_window")
START = datetime(2026, 1, 3, tzinfo=UTC)
DAY = Window(start=START, end=START + timedelta(days=1))
# list: its partial result holds every value, so that combining before the shuffle makes nothing smaller.
MERGES: Mapping[str, Mapping[str, str]] = {
    "list": {"amount": "list"},
    "sum, max": {"amount": "sum", "at": "max"},
}


@dataclass(frozen=True, eq=False)
class SplittingBench:
    """The session, the folder of all tables, and how many events there are."""

    spark: SparkSession
    folder: Path
    n_rows: int

    @cached_property
    def dataset(self) -> Dataset:
        return Dataset(
            name="events", about="", schedule="@daily", start=START.date(), key="user_id", key_type="bigint",
            events=str(self.folder / "events"), event_time="at", state=str(self.folder / "state"),
            n_buckets=N_BUCKETS, n_slots=128, max_imbalance=0.08, max_routes=None, max_migration=None, planner="evenkeel",
            min_rows=1, merge=MERGES["list"],
        )  # fmt: skip

    def task(self, dataset: Dataset, **options: object) -> QuietTask:
        return QuietTask(dataset=dataset, given_window=DAY, options=options)

    def build(self) -> None:
        """The events, about in the order of their times: each comes up to an hour late."""
        row, day = F.col("id"), timedelta(days=1) / timedelta(microseconds=1)
        late = F.pmod(F.xxhash64(row, F.lit(1)), F.lit(3_600_000_000))
        micros = F.least((row * F.lit(day / self.n_rows)).cast("long") + late, F.lit(int(day) - 1))
        is_hot = F.pmod(F.xxhash64(row, F.lit(2)), F.lit(1000)) < F.lit(int(1000 * HOT_SHARE))
        other = F.pmod(F.xxhash64(row, F.lit(3)), F.lit(N_KEYS)) + 1
        self.spark.range(self.n_rows, numPartitions=2 * N_BUCKETS).select(
            F.when(is_hot, F.lit(HOT_KEY)).otherwise(other).alias("user_id"),
            F.timestamp_micros(F.lit(int(START.timestamp()) * 1_000_000) + micros).alias("at"),
            F.pmod(F.xxhash64(row, F.lit(4)), F.lit(1000)).alias("amount"),
        ).write.format("delta").save(self.dataset.events)

    # The contenders

    def run(self, contender: str, what: str) -> Result:
        """Write the results of one contender; what the job said, of the one that is a job."""
        dataset = replace(self.dataset, name=f"{contender.split(maxsplit=1)[0]} {what}", merge=MERGES[what])
        if contender == OURS:
            return aggregate_window(self.task(dataset))
        rows = needed_rows(window_events(self.task(dataset)), dataset)
        whole = _plain(rows, dataset) if contender == PLAIN else _salted(rows, dataset)
        write_results(named(whole, dataset), dataset, DAY)
        return {"table": results_of(dataset)}

    def digest(self, table: str) -> tuple[int, int]:
        """How many results there are, and a checksum of all of them: equal where the results are."""
        frame = self.spark.read.format("delta").load(table)
        found = frame.agg(F.count(F.lit(1)), F.bit_xor(F.xxhash64(*sorted(frame.columns)))).collect()[0]
        return int(found[0]), int(found[1] or 0)

    # What sending costs

    @property
    def rows(self) -> DataFrame:
        return needed_rows(window_events(self.task(self.dataset)), self.dataset)

    def hash_repartition(self) -> None:
        _run(self.rows.repartition(N_BUCKETS, KEY))

    def send(self, choice: Choice) -> None:
        kinds = kinds_of_rows(self.rows, choice)
        _run(reduce(DataFrame.union, [sent_rows(*kind, n_buckets=N_BUCKETS) for kind in kinds]))


def _plain(rows: DataFrame, dataset: Dataset) -> DataFrame:
    return partials_by(rows, dataset, KEY)


def _salted(rows: DataFrame, dataset: Dataset) -> DataFrame:
    salt = (F.rand(seed=7) * N_BUCKETS).cast("int")
    return merge_partials(partials_by(rows.withColumn("salt", salt), dataset, "salt", KEY), dataset)


def _run(frame: DataFrame) -> None:
    """Compute everything and keep nothing."""
    frame.write.format("noop").mode("overwrite").save()
