"""The audit of everything: a sound dataset passes, each planted fault is named, and the judgements are kept."""

import pytest

from schemas.tables import CHECKS, FUNCTIONS, ITEM_STATS, MOVES, PLANS
from spark_jobs import audit_dataset as module
from spark_jobs.audit_dataset import audit_dataset
from spark_jobs.audit_facts import control_facts, events_facts, function_facts, plans_facts
from spark_jobs.control_tables import read_one, read_rows, replace_rows
from spark_jobs.job import JobError
from spark_jobs.migrate_layout import migrate_layout
from tests.faults.scenes import append_as_a_stranger
from tests.spark_jobs.conftest import START, task_of
from tests.spark_jobs.test_check_window import quick_judge

pytestmark = pytest.mark.spark


@pytest.fixture
def audited(task, planned, monkeypatch):
    """The task of an audit, of a table that was migrated."""
    monkeypatch.setattr(module, "early_judge", quick_judge)
    migrate_layout(task(0, planned(0)))
    return task(0, at=START)


def test_sound_dataset_passes_and_its_judgements_are_kept(audited):
    """Five subjects, each with its suite, under the moment of the audit."""
    facts = audit_dataset(audited)

    kept = read_rows(CHECKS, dataset="visits", window_start=START).to_pylist()
    subjects = {row["subject"] for row in kept if row["subject"].startswith("audit")}
    assert subjects == {f"audit of {name}" for name in ("events", "state", "function", "plans", "control")}
    assert facts["state"]["rows_astray"] == 0
    assert facts["state"]["rows"] > 0


def test_rows_astray_fail_the_audit_after_all_is_judged(spark, audited, dataset):
    """One trouble must not hide another: the control tables are judged too."""
    append_as_a_stranger(spark, dataset)

    with pytest.raises(JobError, match=r"state rows_astray is \d+.*repair_layout"):
        audit_dataset(audited)
    assert read_rows(CHECKS, dataset="visits", subject="audit of control").num_rows


def test_events_without_a_named_column_are_found(audited):
    """The dataset file names what the table no longer has."""
    from dataclasses import replace

    changed = replace(audited, dataset=replace(audited.dataset, event_id="no such"))

    assert events_facts(audited) == {"missing_columns": 0, "key_type_matches": True, "event_times": 0}
    assert events_facts(changed)["missing_columns"] == 1


def test_edited_and_missing_functions_are_found(audited, dataset):
    """A function is never changed: rows would be looked for where they are not."""
    sound = {"unknown_functions": 0, "edited_functions": 0, "slots_match": True, "key_type_matches": True}
    assert sound.items() <= function_facts(audited).items()

    row = read_rows(FUNCTIONS, dataset=dataset.name).to_pylist()[0]
    replace_rows(
        [row | {"n_routes": row["n_routes"] + 1}], FUNCTIONS, dataset="visits", function=row["function"]
    )
    assert function_facts(audited)["edited_functions"] == 1
    replace_rows([], FUNCTIONS, dataset="visits", function=row["function"])
    assert function_facts(audited)["unknown_functions"] == 1


def test_edited_plans_and_stray_moves_are_found(audited, dataset):
    """What was applied must stay readable as it was."""
    assert set(plans_facts(audited).values()) == {0}

    plan = read_rows(PLANS, dataset=dataset.name)["plan"][0].as_py()
    moves = read_rows(MOVES, dataset=dataset.name).to_pylist()
    replace_rows(moves[:1], MOVES, dataset="visits", plan="0" * 16)
    row = read_one(PLANS, dataset="visits", plan=plan)
    replace_rows([row | {"migration": 0.0}], PLANS, dataset="visits", plan=plan)
    assert plans_facts(audited) == {"edited_plans": 1, "stray_moves": 1, "unknown_functions": 0}


def test_torn_window_is_found(audited, dataset):
    """A window of which a slot is missing would be planned on as if that slot were free."""
    assert control_facts(audited)["torn_windows"] == 0

    rows = read_rows(ITEM_STATS, dataset=dataset.name, window_start=START).to_pylist()
    replace_rows(rows[1:], ITEM_STATS, dataset="visits", window_start=START)
    assert control_facts(audited)["torn_windows"] == 1


def test_audit_changes_no_table_but_checks(audited, dataset):
    """It may run beside anything."""
    from tests.faults.scenes import version_of

    before = version_of(dataset)
    audit_dataset(task_of(dataset, 0, at=START))

    assert version_of(dataset) == before
