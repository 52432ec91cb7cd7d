"""Plan, validate, migrate, verify: no row is lost, doubled or split, whatever is repeated, edited or interrupted."""

from dataclasses import replace

import deltalake
import pytest
from delta.tables import DeltaTable

from schemas.tables import MOVES, PLANS
from spark_jobs import merge_mover
from spark_jobs.audit_layout import audit
from spark_jobs.job import JobError
from spark_jobs.load_window import load_window
from spark_jobs.migrate_layout import migrate_layout
from spark_jobs.plan_moves import plan_moves
from spark_jobs.table_log import FUNCTION, MOVING, properties_of
from spark_jobs.validate_plan import validate_plan
from spark_jobs.verify_layout import verify_layout
from tests.spark_jobs.oracle import keys_astray, rows_in, state_of

pytestmark = pytest.mark.spark


def version_of(spark, dataset):
    return DeltaTable.forPath(spark, dataset.state).history(1).first()["version"]


@pytest.mark.parametrize("mover", ["flip", "merge"])
def test_loop_moves_the_plan_and_conserves_every_row(spark, dataset, task, planned, mover):
    """The whole point, on keys with quotes, backticks, backslashes, emoji and NULL; both movers keep one contract."""
    plan = planned(0)
    before = rows_in(state_of(spark, dataset))
    validate_plan(task(0, plan))
    moved = migrate_layout(task(0, plan, mover=mover))
    proof = verify_layout(task(0, plan))

    assert moved["rows_moved"] > 0
    assert proof["conserved"]
    assert rows_in(state_of(spark, dataset)) == before
    assert keys_astray(spark, dataset) == []
    row = spark.read.format("delta").load(PLANS.path).first()
    assert row["imbalance_after"] < row["imbalance_before"]
    loads = {r["bucket"]: r["count"] for r in state_of(spark, dataset).groupBy("bucket").count().collect()}
    assert [loads.get(bucket, 0) for bucket in range(4)] == row["load_after"]


def test_planning_twice_gives_the_same_plan(task, planned):
    """Cleared and run again, the step must not leave a second, different proposal."""
    plan = planned(0)

    assert plan_moves(task(0))["plan"] == plan


def test_migrating_twice_makes_one_commit(spark, dataset, task, planned):
    """A retry after success must see that it had succeeded."""
    plan = planned(0)
    migrate_layout(task(0, plan))
    version = version_of(spark, dataset)
    again = migrate_layout(task(0, plan))

    assert version_of(spark, dataset) == version
    assert again["rows_moved"] > 0


def test_second_window_starts_from_the_first_ones_function(spark, dataset, task, planned):
    """Routes accumulate and are taken back; rows of both windows obey the newest function."""
    for day in (0, 1):
        plan = planned(day)
        validate_plan(task(day, plan))
        migrate_layout(task(day, plan))
        verify_layout(task(day, plan))

    assert keys_astray(spark, dataset) == []
    assert audit(task(1))["rows_astray"] == 0


@pytest.mark.parametrize("commits", [0, 1, 2])
def test_interrupted_merge_blocks_writers_until_it_is_finished(
    spark, dataset, task, planned, monkeypatch, commits
):
    """Stopped before the mark, after the mark, or after the rows: run again, it completes and nothing is lost."""
    plan = planned(0)
    before = rows_in(state_of(spark, dataset))
    steps = iter([None] * commits)

    def or_stop(step):
        def stopping(*args, **kwargs):
            if next(steps, "stop") == "stop":
                raise KeyboardInterrupt
            return step(*args, **kwargs)

        return stopping

    with monkeypatch.context() as patch:
        for name in ("_begin", "_merge", "_end"):
            patch.setattr(merge_mover, name, or_stop(getattr(merge_mover, name)))
        with pytest.raises(KeyboardInterrupt):
            migrate_layout(task(0, plan, mover="merge"))
    if commits:
        finishes = f"this finishes it: evenkeel apply visits {plan} --mover merge"
        with pytest.raises(
            JobError, match=rf"evenkeel.moving must be empty\. Got [0-9a-f]{{64}}: .* {finishes}"
        ):
            load_window(task(1))
        with pytest.raises(JobError, match=r"evenkeel.moving must be empty"):
            migrate_layout(task(0, plan, mover="flip"))

    migrate_layout(task(0, plan, mover="merge"))
    verify_layout(task(0, plan))
    load_window(task(1))

    assert properties_of(dataset).get(MOVING) == ""
    assert rows_in(state_of(spark, dataset).where("at < '2026-01-04'")) == before
    assert keys_astray(spark, dataset) == []


EDITS = [
    (PLANS, {"to_function": "from_function"}),
    (PLANS, {"imbalance_after": "0.0"}),
    (PLANS, {"n_routes": "0"}),
    (PLANS, {"migration": "0.0"}),
    (PLANS, {"verdict": "'reaches the target!'"}),
    (PLANS, {"checksum": "'x'"}),
    (MOVES, {"to_bucket": "3 - to_bucket"}),
    (MOVES, {"from_bucket": "to_bucket"}),
    (MOVES, {"state": "0.0"}),
    (MOVES, {"key": "concat(coalesce(key, ''), 'x')"}),
    (MOVES, {"slot": "slot + 1"}),
    (MOVES, {"kind": "'key '"}),
]


def test_edited_plan_is_rejected_and_the_table_untouched(spark, dataset, task, planned):
    """Anybody with access to the tables could change a plan between the steps; both gates must notice each edit."""
    plan = planned(0)
    version = version_of(spark, dataset)
    for table, change in EDITS:
        stored = deltalake.DeltaTable(table.path)
        whole = stored.version()
        stored.update(change)
        with pytest.raises(JobError, match=r"every critical expectation .* checksum_matches is false"):
            validate_plan(task(0, plan))
        with pytest.raises(JobError, match=r"must have the checksum it was made with\. .* Plan again"):
            migrate_layout(task(0, plan))
        deltalake.DeltaTable(table.path).restore(whole)

    assert version_of(spark, dataset) == version
    validate_plan(task(0, plan))


def test_stale_plan_is_refused(spark, dataset, task, planned):
    """A plan leads from one function to another; once the table has a third one, it would scatter keys."""
    plan = planned(0)
    spark.sql(f"ALTER TABLE delta.`{dataset.state}` SET TBLPROPERTIES ('{FUNCTION}' = '{'0' * 64}')")

    with pytest.raises(
        JobError, match=r"must start from the table's function 000000000000\. .* the table has moved on"
    ):
        migrate_layout(task(0, plan))


def test_plan_of_another_dataset_is_refused(dataset, task, planned):
    """A plan's name is looked up under its dataset."""
    plan = planned(0)
    stranger = replace(task(0, plan), dataset=replace(dataset, name="strangers"))

    with pytest.raises(JobError, match=r"plans must hold one row for dataset strangers, plan .* Got 0"):
        migrate_layout(stranger)
