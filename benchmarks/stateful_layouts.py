"""
Four ways to give a keyed job its rows, each with what it must do before the job can run.

| name     | where the rows are                                   | how a task gets its users                                  |
| -------- | ---------------------------------------------------- | ---------------------------------------------------------- |
| plain    | a bucketed state table that keeps its plain hash     | one bucket a task, no shuffle                              |
| shuffle  | a Delta table as it comes                            | ``repartition(user_id)``, adaptive execution sizes tasks   |
| salted   | the same                                             | ``repartition(user_id, stretch)``, then merged by user     |
| evenkeel | a bucketed state table, planned and flipped each day | one bucket a task, no shuffle                              |

The two that shuffle get Spark's default of 200 partitions, of which adaptive execution makes about as many tasks as can run at once,
which is as many as there are buckets. All call the same function, once a task.
"""

import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from deltalake import DeltaTable
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from benchmarks.layout_bench import QuietTask
from benchmarks.stateful_job import COLUMNS, RESULT, merge_stretches, sessionise
from schemas.dataset import Dataset, dataset_named
from schemas.tables import PLANS
from spark_jobs.control_tables import read_one, save_function
from spark_jobs.create_layout import create_layout
from spark_jobs.job import Task, Window
from spark_jobs.load_window import load_window, window_events
from spark_jobs.migrate_layout import migrate_layout
from spark_jobs.plan_moves import plan_moves
from spark_jobs.profile_keys import profile_keys
from spark_jobs.state_table import read_table
from spark_jobs.stateful import read_buckets
from spark_jobs.table_log import DATASET, initial_function
from spark_jobs.validate_plan import validate_plan
from spark_jobs.verify_layout import verify_layout

TARGET = 0.01  # θ that a plan aims at
N_STRETCHES = 8  # into which salting cuts the day of every user
PLAIN, SHUFFLE, SALTED, EVENKEEL = NAMES = ("plain", "shuffle", "salted", "evenkeel")
LAID_OUT = (PLAIN, EVENKEEL)
AS_IT_COMES = "as_it_comes"  # the state table of the two that shuffle
BY_BUCKET = {
    "spark.sql.unionOutputPartitioning": "false",  # else Spark puts all buckets that have one task each into one task
}
SHUFFLED = {
    "spark.sql.shuffle.partitions": "200",
    "spark.sql.adaptive.enabled": "true",
    "spark.sql.adaptive.coalescePartitions.minPartitionSize": "1k",  # these windows are small
}

Facts = dict[str, Any]


@dataclass(frozen=True, eq=False)
class StatefulBench:
    """
    The session, the folder of all tables, and how long looking up a click takes.

    The dataset is the demo's, but nothing expires, and no key gets a route: then whole slots move, and no byte is written to move them.
    So nothing speaks against aiming low: where a plan is made it aims at ``TARGET``.
    """

    spark: SparkSession
    folder: Path
    wait: float  # seconds a click

    def dataset(self, name: str) -> Dataset:
        clicks = replace(dataset_named("clicks"), keep_windows=None, max_routes=0, target_imbalance=TARGET)
        return replace(clicks, name=name, events=str(self.folder / "events"), state=str(self.folder / name))

    def task(self, name: str, window: Window, *, plan: str = "", **options: object) -> Task:
        return QuietTask(dataset=self.dataset(name), given_window=window, plan=plan, options=options)

    def begin(self, past: Window) -> None:
        """All state tables, with the clicks of the past. The two that are laid out begin alike: one is a copy."""
        create_layout(self.task(EVENKEEL, past))
        for name in (EVENKEEL, SHUFFLE):
            self.load(name, past)
        shutil.copytree(self.folder / EVENKEEL, self.folder / PLAIN)
        save_function(PLAIN, initial_function(self.dataset(PLAIN)))
        copied = DeltaTable(self.dataset(PLAIN).state)
        copied.alter.set_table_properties({DATASET: PLAIN}, raise_if_not_exists=False)

    # Before the job

    def look_at_events(self, window: Window) -> None:
        """Let Spark read the log and the files of the window's events."""
        window_events(self.task(PLAIN, window)).write.format("noop").mode("overwrite").save()

    def load(self, name: str, window: Window) -> None:
        """Bring the window's events into the state."""
        if name in LAID_OUT:
            load_window(self.task(name, window))
        else:
            events = window_events(self.task(PLAIN, window))
            events.write.format("delta").mode("append").save(str(self.folder / AS_IT_COMES))

    def profile(self, window: Window) -> None:
        profile_keys(self.task(EVENKEEL, window))

    def plan(self, window: Window) -> Facts:
        """The plan as it is stored."""
        made = plan_moves(self.task(EVENKEEL, window))
        return read_one(PLANS, dataset=EVENKEEL, plan=made["plan"])

    def validate(self, window: Window, plan: str) -> None:
        validate_plan(self.task(EVENKEEL, window, plan=plan))

    def migrate(self, window: Window, plan: str) -> Facts:
        return migrate_layout(self.task(EVENKEEL, window, plan=plan))

    def verify(self, window: Window, plan: str) -> None:
        verify_layout(self.task(EVENKEEL, window, plan=plan))

    # The job

    def sessions(self, name: str, window: Window, count: Callable[[int], None]) -> DataFrame:
        """Every user's sessions, those of the window and all; ``count`` hears of each task's clicks of the window."""
        lines = self.spread[name](window).mapInArrow(sessionise(window.start, self.wait, count), RESULT)
        return lines if name != SALTED else lines.repartition("user_id").mapInArrow(merge_stretches, RESULT)

    @property
    def spread(self) -> dict[str, Callable[[Window], DataFrame]]:
        return {
            PLAIN: partial(self._by_bucket, PLAIN),
            SHUFFLE: self._by_user,
            SALTED: self._by_stretch,
            EVENKEEL: partial(self._by_bucket, EVENKEEL),
        }

    def _by_bucket(self, name: str, window: Window) -> DataFrame:
        """One bucket a task: what is grouped inside a task needs no shuffle."""
        return _clicks(read_buckets(self.spark, self.dataset(name)), window)

    def _by_user(self, window: Window) -> DataFrame:
        return _clicks(self._as_it_comes, window).repartition("user_id")

    def _by_stretch(self, window: Window) -> DataFrame:
        return _clicks(self._as_it_comes, window, stretch=_stretch(window)).repartition("user_id", "stretch")

    @property
    def _as_it_comes(self) -> DataFrame:
        return read_table(self.spark, str(self.folder / AS_IT_COMES))


def _clicks(table: DataFrame, window: Window, *, stretch: Column | None = None) -> DataFrame:
    """All clicks, with the columns that the job needs; of those before the window it needs no token."""
    token = F.when(F.col("clicked_at") >= F.lit(window.start), F.col("session"))
    with_stretch = table.withColumn("stretch", F.lit(0) if stretch is None else stretch)
    return with_stretch.withColumn("session", token).select(COLUMNS)


def _stretch(window: Window) -> Column:
    """Which part of the day a click is in; those before the day belong to its first part."""
    share = (F.unix_seconds("clicked_at") - int(window.start.timestamp())) / (
        window.end - window.start
    ).total_seconds()
    return F.greatest(F.floor(share * N_STRETCHES), F.lit(0)).cast("int")
