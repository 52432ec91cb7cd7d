"""The merge mover takes three commits: whatever others commit in between, rows and function agree, or it says why it stopped."""

import re
from functools import partial

import pytest
from delta.tables import DeltaTable
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from spark_jobs import merge_mover
from spark_jobs.control_tables import save_function
from spark_jobs.flip_mover import flip_rows
from spark_jobs.function_change import MIGRATE, ROLL_BACK, FunctionChange
from spark_jobs.job import JobError, Task
from spark_jobs.layout_transaction import LayoutTransaction
from spark_jobs.merge_mover import merge_rows
from spark_jobs.migrate_layout import make_change
from spark_jobs.sql_names import quoted
from spark_jobs.table_log import MOVING, current_function, layout_commit, properties_of, state_log
from spark_jobs.verify_layout import verify_layout
from tests.spark_jobs.oracle import keys_astray, rows_in, state_of

pytestmark = pytest.mark.spark


def change_of(dataset, bucket, *, plan):
    """All slots of this bucket go to the next one."""
    before = current_function(dataset)
    slots = {slot: (bucket + 1) % 4 for slot, there in enumerate(before.slot_list) if there == bucket}
    after = before.with_changes(slots=slots)
    save_function(dataset.name, after)
    return FunctionChange(kind=MIGRATE, before=before, after=after, plan=plan)


def back(change):
    return FunctionChange(kind=ROLL_BACK, before=change.after, after=change.before)


@pytest.fixture
def act_before(monkeypatch):
    """``act_before(owner, name, act)``: just before this function is called for the first time, somebody else acts."""

    def arrange(owner, name, act):
        original = getattr(owner, name)

        def acting(*args, **kwargs):
            monkeypatch.setattr(owner, name, original)
            act()
            return original(*args, **kwargs)

        monkeypatch.setattr(owner, name, acting)

    return arrange


def test_function_that_changes_before_the_first_commit_stops_the_merge(spark, settled, act_before):
    """It read the old function, then a flip commits: a merge that goes on leaves rows where no function says."""
    before = rows_in(state_of(spark, settled))
    ours, theirs = change_of(settled, 0, plan="a" * 16), change_of(settled, 1, plan="b" * 16)
    act_before(LayoutTransaction, "commit", partial(flip_rows, spark, settled, theirs))

    with pytest.raises(JobError, match=r"plan a{16} must start from the table's function .* has moved on"):
        merge_rows(spark, settled, ours)

    assert current_function(settled) == theirs.after
    assert rows_in(state_of(spark, settled)) == before
    assert keys_astray(spark, settled) == []


def test_second_merge_to_another_function_is_told_how_to_finish_the_first(spark, settled, act_before):
    """It comes while the first one is at work, or after it died; a roll back has no plan to name."""
    ours, theirs = change_of(settled, 0, plan=""), change_of(settled, 1, plan="b" * 16)
    finishes = f"evenkeel roll-back visits --to {ours.after.digest[:12]} --mover merge"
    refused = re.escape(f"{MOVING} must be empty. Got {ours.after.digest}") + f".*{finishes}"
    act_before(merge_mover, "_merge", partial(expect_refusal, spark, settled, theirs, refused))
    merge_rows(spark, settled, ours)

    assert current_function(settled) == ours.after
    assert keys_astray(spark, settled) == []


def expect_refusal(spark, dataset, change, sentence):
    with pytest.raises(JobError, match=sentence):
        merge_rows(spark, dataset, change)


@pytest.mark.parametrize("step", ["_begin", "_merge", "_moving_keys", "_end"])
def test_two_processes_that_make_the_same_merge_end_with_it_made_once(spark, settled, act_before, step):
    """A retry whose first try still lives. Whichever step the other one gets ahead at, one MERGE moves the rows and tells of it."""
    before, change = rows_in(state_of(spark, settled)), change_of(settled, 0, plan="a" * 16)
    act_before(merge_mover, step, partial(merge_rows, spark, settled, change))
    merge_rows(spark, settled, change)

    assert (current_function(settled), properties_of(settled)[MOVING]) == (change.after, "")
    assert rows_in(state_of(spark, settled)) == before
    assert keys_astray(spark, settled) == []
    operations = [commit["operation"] for commit in state_log(settled).history()]
    assert operations.count("MERGE") == 1
    assert layout_commit(settled, plan="a" * 16)["rows_moved"] > 0


@pytest.mark.parametrize(
    ("step", "sentence"),
    [
        ("_merge", r"must stay .* Got nothing: another process ended this move and the table went back"),
        (
            "_moving_keys",
            r"must stay .* Got nothing: another process ended this move and the table went back",
        ),
        ("_end", r"must stay .* Got nothing: another process ended this move and the table went back"),
    ],
)
def test_merge_that_slept_through_the_end_of_its_move_changes_nothing(
    spark, settled, act_before, step, sentence
):
    """Another process ended the move, and it was rolled back: the MERGE that was about to start must not move rows again."""
    before, change = rows_in(state_of(spark, settled)), change_of(settled, 0, plan="a" * 16)

    def end_it_and_roll_back():
        merge_rows(spark, settled, change)
        flip_rows(spark, settled, back(change))

    act_before(merge_mover, step, end_it_and_roll_back)
    with pytest.raises(JobError, match=sentence):
        merge_rows(spark, settled, change)

    assert current_function(settled) == change.before
    assert rows_in(state_of(spark, settled)) == before
    assert keys_astray(spark, settled) == []
    merge_rows(spark, settled, change)
    assert current_function(settled) == change.after
    assert keys_astray(spark, settled) == []


@pytest.mark.parametrize("step", ["_merge", "_moving_keys", "_end"])
def test_merge_that_slept_into_a_later_move_to_the_same_function_does_not_end_it(
    spark, settled, act_before, step
):
    """The move was ended and rolled back, and somebody has just begun it again: the function must not come before the rows."""
    before, change = rows_in(state_of(spark, settled)), change_of(settled, 0, plan="a" * 16)

    def end_it_roll_back_and_begin_again():
        merge_rows(spark, settled, change)
        flip_rows(spark, settled, back(change))
        transaction = LayoutTransaction(spark, settled)
        merge_mover._begin(transaction, change)

    act_before(merge_mover, step, end_it_roll_back_and_begin_again)
    with pytest.raises(JobError, match=r"must stay .* Got a later move: another process ended this move"):
        merge_rows(spark, settled, change)

    assert properties_of(settled)[MOVING] == change.after.digest
    merge_rows(spark, settled, change)
    assert current_function(settled) == change.after
    assert rows_in(state_of(spark, settled)) == before
    assert keys_astray(spark, settled) == []


def test_merge_leaves_nothing_behind_in_the_session(spark, settled):
    """What tells Delta to write once must not meet anything that is written later: Delta would leave that out, silently."""
    before, of_key = current_function(settled), F.col(quoted(settled.key))
    key = state_of(spark, settled).where(of_key.isNotNull()).select(of_key.alias("key")).first()["key"]
    after = before.with_changes(routes={key: (before.bucket_of(key) + 1) % 4})
    save_function(settled.name, after)
    merge_rows(spark, settled, FunctionChange(kind=MIGRATE, before=before, after=after, plan="a" * 16))

    assert SparkSession.getActiveSession() is spark
    assert not [name for name in spark.conf.getAll if "txnAppId" in name or "txnVersion" in name]
    there = state_of(spark, settled).where(of_key == key).select("bucket").distinct().collect()
    assert [row["bucket"] for row in there] == [after.bucket_of(key)]
    DeltaTable.forPath(spark, settled.state).delete(of_key == key)
    assert state_of(spark, settled).where(of_key == key).isEmpty()


def test_merge_that_moves_no_row_is_told_as_such(spark, settled):
    """A route of a key without rows: the change is a commit of its own, or the one before would be told, and proved, in its place."""
    ours = change_of(settled, 0, plan="a" * 16)
    flip_rows(spark, settled, ours)
    after = ours.after.with_changes(routes={"nobody": (ours.after.bucket_of("nobody") + 1) % 4})
    save_function(settled.name, after)
    change = FunctionChange(kind=ROLL_BACK, before=ours.after, after=after)

    moved = make_change(Task(dataset=settled, options={"mover": "merge"}), change)

    assert current_function(settled) == after
    assert (moved["rows_moved"], moved["version"]) == (0, state_log(settled).version())
    verify_layout(Task(dataset=settled))


def test_preview_of_a_merge_is_about_rows(spark, settled):
    """It flips no file, so the flip's figures would be of something that will not happen."""
    change, said = change_of(settled, 0, plan=""), []
    version = state_log(settled).version()
    task = Task(dataset=settled, options={"dry_run": True, "mover": "merge"})
    object.__setattr__(task, "say", said.append)
    found = make_change(task, change)
    assert state_log(settled).version() == version
    moved = make_change(Task(dataset=settled, options={"mover": "merge"}), change)

    assert "files_flipped" not in found
    assert 0 < found["rows_at_least"] <= moved["rows_moved"] <= found["rows_at_most"]
    assert said == [
        f"would write {found['rows_at_least']} to {found['rows_at_most']} rows anew and flip no file; nothing was changed"
    ]
    verify_layout(Task(dataset=settled))
