"""A plan is applied once or refused with a reason, whoever else applies it, edits it or lends it."""

from dataclasses import replace

import deltalake
import pytest

from schemas.tables import FUNCTIONS, PLANS
from spark_jobs.audit_layout import audit
from spark_jobs.control_tables import literal, read_one, replace_rows
from spark_jobs.job import JobError
from spark_jobs.layout_transaction import LayoutTransaction
from spark_jobs.migrate_layout import migrate_layout
from spark_jobs.roll_back_layout import roll_back_layout
from spark_jobs.table_log import current_function, note_of, state_log
from tests.faults.children import child, settings, write_order
from tests.faults.killed_job import READY, order_of
from tests.faults.scenes import held_by, turned, version_of, write_plan

pytestmark = [pytest.mark.spark, pytest.mark.faults]


def commits_of(scene):
    """How many commits carry the plan's name."""
    return sum(note_of(commit).get("plan") == scene.plan for commit in state_log(scene.dataset).history())


def test_two_migrations_from_one_version_make_one_commit(scene, monkeypatch):
    """Two Dag runs, or a person and a Dag run: the slower one finds the work done, and says what it took."""
    original, others = LayoutTransaction.commit, []

    def commit(transaction, note):
        if not others:
            others.append(None)
            others[0] = migrate_layout(scene.task())
        return original(transaction, note)

    monkeypatch.setattr(LayoutTransaction, "commit", commit)
    before = held_by(scene.dataset).rows
    result = migrate_layout(scene.task())

    assert result == others[0]
    assert result["rows_moved"] > 0
    assert commits_of(scene) == 1
    assert held_by(scene.dataset).rows == before


def test_two_processes_that_migrate_at_once_make_one_commit(scene, home, tmp_path):
    """The same with nothing staged: two drivers race for the next entry of the log."""
    before = held_by(scene.dataset).rows
    order = {"task": order_of(scene.task()), "work": "migrate", "step": None}
    path, log = write_order(tmp_path / "order.json", order), tmp_path / "child.log"
    with child("tests.faults.killed_job", path, env=settings(home, scene.folder), log=log) as other:
        assert other.stdout.readline().strip() == READY, log.read_text()[-2000:]
        migrate_layout(scene.task())
        assert other.wait() == 0, log.read_text()[-2000:]

    assert commits_of(scene) == 1
    assert held_by(scene.dataset).rows == before
    assert audit(scene.task())["rows_astray"] == 0


def test_two_plans_from_one_function_cannot_both_be_applied(scene):
    """The second one was made for a table that no longer is; it must not scatter what the first one placed."""
    here = current_function(scene.dataset)
    rival = replace(scene, plan=write_plan(scene.task(), here, turned(here, every=5)))
    migrate_layout(scene.task())
    version = version_of(scene.dataset)

    with pytest.raises(
        JobError, match=rf"plan {rival.plan} must start from .* the table has moved on\. Plan again"
    ):
        migrate_layout(rival.task())
    assert version_of(scene.dataset) == version


def test_plan_that_was_rolled_back_can_be_applied_again(scene):
    """Rolling back is not a verdict for ever: the same plan, from the same function, moves the same rows again."""
    before = held_by(scene.dataset)
    first = migrate_layout(scene.task())
    after = held_by(scene.dataset)
    roll_back_layout(scene.task(to=read_one(PLANS, dataset="visits", plan=scene.plan)["from_function"]))
    assert held_by(scene.dataset) == before

    second = migrate_layout(scene.task())
    assert held_by(scene.dataset) == after
    assert second["rows_moved"] == first["rows_moved"]


def test_plan_lent_to_another_dataset_is_refused(scene):
    """Somebody copies a good plan's row under another name; its checksum was made for the first."""
    row = read_one(PLANS, dataset="visits", plan=scene.plan)
    replace_rows([row], PLANS, dataset="strangers", plan=scene.plan)
    for name in (row["from_function"], row["to_function"]):
        replace_rows(
            [read_one(FUNCTIONS, dataset="visits", function=name)],
            FUNCTIONS,
            dataset="strangers",
            function=name,
        )
    stranger = replace(scene, dataset=replace(scene.dataset, name="strangers"))
    version = version_of(scene.dataset)

    with pytest.raises(JobError, match=r"must have the checksum it was made with\. .* Plan again"):
        migrate_layout(stranger.task())
    assert version_of(scene.dataset) == version


def test_edited_function_is_refused_by_every_reader(scene):
    """A function row is never changed. One that was would send rows where nobody looks for them."""
    here = current_function(scene.dataset)
    body = turned(here, every=7).to_json()
    table = deltalake.DeltaTable(FUNCTIONS.path)
    table.update({"body": literal(body)}, predicate=f"function = '{here.digest}'")
    version = version_of(scene.dataset)

    for work in (migrate_layout, audit):
        with pytest.raises(JobError, match=r"functions\.body must have the digest .* changed by hand"):
            work(scene.task())
    assert version_of(scene.dataset) == version
