"""Tables at the edge of what a table can be: empty, of one key, of ten thousand routes, in odd places."""

from collections import Counter
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from spark_jobs.audit_layout import audit_layout
from spark_jobs.create_layout import create_layout
from spark_jobs.load_window import load_window
from spark_jobs.migrate_layout import migrate_layout
from spark_jobs.plan_moves import plan_moves
from spark_jobs.profile_keys import profile_keys
from spark_jobs.repair_layout import repair_layout
from spark_jobs.roll_back_layout import roll_back_layout
from spark_jobs.settle_layout import settle_layout
from spark_jobs.stateful import append, read_bucket
from spark_jobs.table_log import current_function, initial_function
from spark_jobs.verify_layout import verify_layout
from tests.faults.scenes import COLUMNS, Scene, change_function, dataset_in, held_by, turned, write_plan
from tests.spark_jobs.conftest import DAY, KEYS, START, rows_of_day
from tests.spark_jobs.oracle import keys_astray

pytestmark = [pytest.mark.spark, pytest.mark.faults]


def scene_with(spark: Any, folder: Any, rows: list[Any], **fields: Any) -> Scene:
    """A dataset with these events and an empty state table."""
    scene = Scene(folder=folder, dataset=dataset_in(folder, **fields))
    spark.createDataFrame(rows, COLUMNS).coalesce(1).write.format("delta").save(scene.dataset.events)
    create_layout(scene.task(0))
    return scene


def planned_by_hand(scene: Scene) -> Scene:
    first = initial_function(scene.dataset)
    return replace(scene, plan=write_plan(scene.task(0), first, turned(first, routes={KEYS[0]: 1, None: 2})))


def test_every_job_can_work_on_a_table_with_no_files(spark, warehouse):
    """The first day of every dataset, and the day after everything expired."""
    scene = planned_by_hand(scene_with(spark, warehouse, []))
    task = scene.task(0)
    assert load_window(task)["rows"] == 0
    assert settle_layout(task)["files_before"] == 0
    assert repair_layout(task)["rows_moved"] == 0
    assert profile_keys(task)["heavy_keys"] == 0
    assert migrate_layout(task)["rows_moved"] == 0
    assert verify_layout(task)["conserved"]
    assert current_function(scene.dataset) != initial_function(scene.dataset)
    assert roll_back_layout(task)["rows_moved"] == 0
    assert audit_layout(task)["rows"] == 0
    assert current_function(scene.dataset) == initial_function(scene.dataset)


def test_table_that_was_emptied_takes_rows_again(spark, scene):
    """A user deletes everything: the function stays, and so do the rules."""
    spark.sql(f"DELETE FROM delta.`{scene.dataset.state}`")
    migrate_layout(scene.task())
    assert append(spark.createDataFrame([(None, START + DAY, "x")], COLUMNS), scene.dataset) == 1

    assert held_by(scene.dataset).rows == Counter([(None, START + DAY, "x")])
    assert audit_layout(scene.task())["rows"] == 1


def test_table_of_one_key_goes_the_whole_way_beside_empty_buckets(spark, warehouse):
    """No plan can divide a key, the NULL key least of all: the loop must say so and go on, and move it when told."""
    key = None
    rows = [(key, START + timedelta(seconds=n), f"{n}") for n in range(30)]
    scene = scene_with(spark, warehouse, rows)
    load_window(scene.task(0))
    profile_keys(scene.task(0))
    plan = plan_moves(scene.task(0))
    migrate_layout(replace(scene, plan=plan["plan"]).task(0))
    home = current_function(scene.dataset).bucket_of(key)
    moved = change_function(
        scene.task(0), current_function(scene.dataset).with_changes(routes={key: (home + 1) % 3})
    )

    assert plan["verdict"] != "reaches the target"
    assert moved["rows_moved"] == 30
    assert held_by(scene.dataset).places == {(key, (home + 1) % 3)}
    assert [read_bucket(spark, scene.dataset, bucket).count() for bucket in range(3)].count(0) == 2
    assert audit_layout(scene.task(0))["rows"] == 30
    roll_back_layout(scene.task(0))
    assert held_by(scene.dataset).places == {(key, home)}
    assert held_by(scene.dataset).rows == Counter(rows)


def test_ten_thousand_routes_are_obeyed_by_load_migration_and_audit(spark, warehouse):
    """Routes are the expensive half of a function: each must hold, in Spark's join and in Python's lookup alike."""
    keys = [f"user {n}" for n in range(12_000)]
    rows = [(key, START + day * DAY, "x") for day in (0, 1) for key in keys]
    scene = scene_with(spark, warehouse, rows)
    load_window(scene.task(0))
    first = initial_function(scene.dataset)
    routed = first.with_changes(routes={key: (first.bucket_of(key) + 1) % 3 for key in keys[:10_000]})
    planned = replace(scene, plan=write_plan(scene.task(0), first, routed))
    moved = migrate_layout(planned.task(0))
    proof = verify_layout(planned.task(0))
    load_window(scene.task(1))

    assert current_function(scene.dataset).n_routes == 10_000
    assert moved["rows_moved"] == 10_000
    assert proof["conserved"]
    assert held_by(scene.dataset).astray(routed) == []
    assert audit_layout(scene.task(1))["rows"] == len(rows)
    assert roll_back_layout(scene.task(1))["rows_moved"] == 20_000
    assert held_by(scene.dataset).rows == Counter(rows)


def test_table_with_a_catalog_name_goes_the_whole_way(spark, warehouse):
    """Many know their tables by name only; nothing may assume a path."""
    folder = warehouse / "schema of ours ü"
    spark.sql(f"CREATE SCHEMA fleet LOCATION '{folder}'")
    try:
        rows = [row for day in (0, 1) for row in rows_of_day(day)]
        scene = scene_with(spark, warehouse, rows, state="fleet.visits", keep_windows=1)
        load_window(scene.task(0))
        load_window(scene.task(1))
        planned = planned_by_hand(scene)
        assert migrate_layout(planned.task())["files_flipped"] > 0
        assert verify_layout(planned.task())["conserved"]
        append(spark.createDataFrame([("late", START + DAY, "x")], COLUMNS), scene.dataset)
        spark.sql("OPTIMIZE fleet.visits")
        settle_layout(scene.task())
        facts = audit_layout(scene.task())
        roll_back_layout(scene.task())

        assert facts["rows"] == len(rows_of_day(1)) + 1
        assert facts["mixed_files"] == 0
        assert audit_layout(scene.task())["rows"] == facts["rows"]
        by_path = replace(scene.dataset, state=str(folder / "visits"))
        assert keys_astray(spark, by_path) == []
    finally:
        spark.sql("DROP SCHEMA fleet CASCADE")
