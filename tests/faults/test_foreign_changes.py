"""What users and their tools do to the table without asking: audit names it, repair and settle mend it, nothing is dropped."""

import pytest

from spark_jobs.audit_layout import audit, audit_layout
from spark_jobs.job import JobError
from spark_jobs.migrate_layout import migrate_layout
from spark_jobs.repair_layout import repair_layout
from spark_jobs.roll_back_layout import roll_back_layout
from spark_jobs.settle_layout import settle_layout
from spark_jobs.table_log import current_function
from tests.faults.scenes import held_by, version_of

pytestmark = [pytest.mark.spark, pytest.mark.faults]


def files_in_trouble(facts):
    return sum(1 for file in facts["examples"] if file["rows_astray"])


@pytest.mark.parametrize("scene", ["astray"], indirect=True)
def test_rows_of_a_stranger_are_named_and_brought_home(scene):
    """A writer that computes buckets by itself splits keys silently: somebody must notice, and nobody may lose rows."""
    before, function = held_by(scene.dataset), current_function(scene.dataset)
    keys = before.astray(function)
    with pytest.raises(
        JobError, match=r"rows astray in \d+ files, .* File part-.* one of key .* Run repair_layout"
    ) as refused:
        audit_layout(scene.task())
    facts = audit(scene.task())
    repaired = repair_layout(scene.task())

    assert keys
    assert any(repr(file["example"]) in str(refused.value) for file in facts["examples"])
    assert {file["example"] for file in facts["examples"]} <= {key for key in keys if key is not None} | {
        None
    }
    assert facts["files_astray"] == files_in_trouble(facts)
    assert repaired["files_flipped"] > 0
    assert repaired["files_rewritten"] > 0
    assert repaired["rows_moved"] == facts["rows_astray"]
    assert held_by(scene.dataset).rows == before.rows
    assert held_by(scene.dataset).astray(function) == []
    assert audit_layout(scene.task())["rows"] == before.rows.total()
    version = version_of(scene.dataset)
    assert repair_layout(scene.task())["rows_moved"] == 0
    assert version_of(scene.dataset) == version, "people who are nervous repair twice"


@pytest.mark.parametrize("scene", ["astray"], indirect=True)
def test_migration_over_a_strangers_rows_drops_none_and_repair_finds_them(scene):
    """The migration may come before anybody audits; what it cannot place by statistics it must carry along."""
    before = held_by(scene.dataset)
    migrate_layout(scene.task())
    assert held_by(scene.dataset).rows == before.rows

    repair_layout(scene.task())
    assert held_by(scene.dataset).rows == before.rows
    assert held_by(scene.dataset).astray(current_function(scene.dataset)) == []


def test_restore_to_before_a_flip_is_named_and_repaired(spark, scene):
    """RESTORE compares paths, so it takes the function back and leaves flipped files where they are."""
    old, version = current_function(scene.dataset), version_of(scene.dataset)
    before = held_by(scene.dataset)
    assert migrate_layout(scene.task())["files_flipped"] > 0
    spark.sql(f"RESTORE TABLE delta.`{scene.dataset.state}` TO VERSION AS OF {version}")

    assert current_function(scene.dataset) == old
    facts = audit(scene.task())
    assert facts["rows_astray"] > 0, "Delta's RESTORE undoes flips now: the documentation may say so"
    with pytest.raises(
        JobError, match=r"[1-9]\d* rows astray in [1-9]\d* files, .* File .* Run repair_layout"
    ):
        audit_layout(scene.task())
    repaired = repair_layout(scene.task())

    assert repaired["files_flipped"] > 0
    assert held_by(scene.dataset).rows == before.rows
    assert held_by(scene.dataset).places == before.places
    assert audit_layout(scene.task())["rows_astray"] == 0


def test_migrating_after_a_restore_reaches_the_function_with_every_row(spark, scene):
    """The natural next step of somebody who restored: run the loop again."""
    version, before = version_of(scene.dataset), held_by(scene.dataset)
    migrate_layout(scene.task())
    spark.sql(f"RESTORE TABLE delta.`{scene.dataset.state}` TO VERSION AS OF {version}")
    migrate_layout(scene.task())
    repair_layout(scene.task())

    assert held_by(scene.dataset).rows == before.rows
    assert held_by(scene.dataset).astray(current_function(scene.dataset)) == []


@pytest.mark.parametrize("scene", ["mixed"], indirect=True)
def test_optimized_files_are_settled_again(scene):
    """OPTIMIZE is what everybody's maintenance does; it must cost a settling, never a row or a later migration's flips."""
    before = held_by(scene.dataset)
    assert audit_layout(scene.task())["mixed_files"] > 0
    settle_layout(scene.task())

    facts = audit_layout(scene.task())
    assert facts["mixed_files"] == 0
    assert held_by(scene.dataset) == before
    version = version_of(scene.dataset)
    settle_layout(scene.task())
    assert version_of(scene.dataset) == version, "what is settled must not be settled again"
    assert migrate_layout(scene.task())["files_flipped"] > 0


@pytest.mark.parametrize("scene", ["mixed"], indirect=True)
def test_optimized_table_migrates_and_rolls_back_without_being_settled(scene):
    """Mixed files cost a rewrite, and no more than that."""
    before = held_by(scene.dataset)
    assert migrate_layout(scene.task())["files_rewritten"] > 0
    assert held_by(scene.dataset).astray(current_function(scene.dataset)) == []
    roll_back_layout(scene.task())

    assert held_by(scene.dataset) == before
