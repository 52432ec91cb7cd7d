"""The layout on real tables: settled files flip without a byte being written, and every other way to change it keeps every row."""

import json
from dataclasses import replace

import numpy as np
import pytest
from delta.tables import DeltaTable
from pyspark.sql import functions as F

from partitioning.hashing import slot_of
from spark_jobs import layout_transaction
from spark_jobs.audit_layout import audit, audit_layout
from spark_jobs.commit_files import read_commit
from spark_jobs.control_tables import save_function
from spark_jobs.data_files import collected
from spark_jobs.function_change import MIGRATE, FunctionChange, Moved
from spark_jobs.job import JobError, Task
from spark_jobs.layout_transaction import LayoutTransaction, in_transaction
from spark_jobs.load_window import load_window
from spark_jobs.migrate_layout import make_change
from spark_jobs.purge_layout import purge_layout
from spark_jobs.repair_layout import repair_layout
from spark_jobs.roll_back_layout import roll_back_layout
from spark_jobs.settle_layout import settle_layout
from spark_jobs.settling import rewrite_buckets
from spark_jobs.table_log import FUNCTION, current_function, layout_commit, properties_of
from spark_jobs.verify_layout import verify_layout
from tests.spark_jobs.conftest import KEYS, START, rows_of_day, window_of
from tests.spark_jobs.oracle import keys_astray, rows_in, state_of

pytestmark = pytest.mark.spark


def files_of(spark, dataset):
    return collected(LayoutTransaction(spark, dataset).file_frame())


def first_slots(dataset):
    return [slot for slot, bucket in enumerate(current_function(dataset).slot_list) if bucket == 0][:8]


def slot_change(dataset):
    """A change of function that moves whole slots of bucket 0, and no key of its own."""
    before = current_function(dataset)
    after = before.with_changes(slots={slot: 1 + slot % 3 for slot in first_slots(dataset)})
    save_function(dataset.name, after)
    return FunctionChange(kind=MIGRATE, before=before, after=after)


def key_change(dataset, key="it's"):
    """A change that routes one key of a slot to another bucket: its file must be divided."""
    before = current_function(dataset)
    after = before.with_changes(routes={key: (before.bucket_of(key) + 1) % 4})
    save_function(dataset.name, after)
    return FunctionChange(kind=MIGRATE, before=before, after=after)


def test_whole_slots_move_without_a_byte_being_written(spark, settled):
    """The point of the layout: same files, other bucket, one commit, and readers see every row in its new bucket."""
    before, files = rows_in(state_of(spark, settled)), set(files_of(spark, settled).paths)
    version = LayoutTransaction(spark, settled).version
    change = slot_change(settled)
    foreseen = make_change(Task(dataset=settled, options={"dry_run": True}), change)
    assert LayoutTransaction(spark, settled).version == version
    moved = make_change(Task(dataset=settled), change)
    proof = verify_layout(Task(dataset=settled))

    assert (moved["bytes_written"], moved["files_rewritten"]) == (0, 0)
    assert moved["files_flipped"] == foreseen["files_flipped"] == proof["files_flipped"] > 0
    assert moved["bytes_flipped"] == foreseen["bytes_flipped"] > 0
    assert set(files_of(spark, settled).paths) == files
    assert LayoutTransaction(spark, settled).version == version + 1
    assert rows_in(state_of(spark, settled)) == before
    assert keys_astray(spark, settled) == []
    note = DeltaTable.forPath(spark, settled.state).history(1).first()["userMetadata"]
    assert json.loads(note)["to_function"] == properties_of(settled)[FUNCTION]


def test_a_routed_key_leaves_its_slots_file_and_nothing_else_is_rewritten(spark, settled):
    """Rewriting is for the files of that slot only; the key then has files of its own and flips home for free."""
    before = rows_in(state_of(spark, settled))
    change = key_change(settled)
    moved = make_change(Task(dataset=settled), change)
    back = roll_back_layout(Task(dataset=settled))

    assert 0 < moved["files_rewritten"] <= 2  # two days, one file of the slot each
    assert moved["rows_moved"] == sum(row[0] == "it's" for day in (0, 1) for row in rows_of_day(day))
    assert (back["bytes_written"], back["function"]) == (0, change.before.digest)
    assert rows_in(state_of(spark, settled)) == before
    assert keys_astray(spark, settled) == []


def test_deleted_rows_stay_deleted_when_their_file_flips(spark, settled):
    """A deletion vector belongs to its file: dropped on the way, deleted rows would come back."""
    spark.sql(f"DELETE FROM delta.`{settled.state}` WHERE page = 'page 0'")
    before = rows_in(state_of(spark, settled))
    make_change(Task(dataset=settled), slot_change(settled))
    verify_layout(Task(dataset=settled))

    assert rows_in(state_of(spark, settled)) == before


def forge(spark, dataset, damage, change):
    """A commit that says it makes the change, and does damage instead."""
    transaction = LayoutTransaction(spark, dataset)
    transaction.set_properties(change.properties)
    damage(transaction, transaction.read_files(range(4)))
    transaction.commit(change.note(Moved(), mover="flip"))


def do_nothing(transaction, files):
    pass


def flip_to_the_wrong_bucket(transaction, files):
    stranger = files.take((files.bucket == 3).nonzero()[0][:1])
    transaction.flip(stranger, [2])


def double_what_was_not_deleted(transaction, files):
    """The same path with other deleted rows is another file to Delta: readers see both."""
    worn = files.take((files.deleted_rows > 0).nonzero()[0][:1])
    worn.action[0] = json.dumps(
        {name: value for name, value in json.loads(worn.action[0]).items() if name != "deletionVector"}
    )
    transaction.flip(worn, worn.bucket)


def forget_what_was_deleted(transaction, files):
    transaction.remove(files.take((files.deleted_rows > 0).nonzero()[0][:1]), is_data_lost=False)
    double_what_was_not_deleted(transaction, files)


def lose_a_row(transaction, files):
    one = files.take((files.rows > 1).nonzero()[0][:1])
    transaction.write(transaction.rows_of(one).limit(int(one.rows[0]) - 1), is_new_data=False)
    transaction.remove(one, is_data_lost=False)


def lose_one_and_double_another(transaction, files):
    one = files.take((files.rows > 1).nonzero()[0][:1])
    rows = transaction.rows_of(one).orderBy("page", "at")
    transaction.write(rows.limit(1).union(rows.limit(int(one.rows[0]) - 1)), is_new_data=False)
    transaction.remove(one, is_data_lost=False)


@pytest.mark.parametrize(
    "damage",
    [
        flip_to_the_wrong_bucket,
        double_what_was_not_deleted,
        forget_what_was_deleted,
        lose_a_row,
        lose_one_and_double_another,
    ],
)
def test_verify_notices_each_kind_of_damage(spark, settled, damage):
    """
    A proof that cannot fail proves nothing; counts alone would miss the last of these.

    The change is of a key that nobody has: without the damage all is well, though the key's slot is in a file that stays.
    """
    spark.sql(f"DELETE FROM delta.`{settled.state}` WHERE page = 'page 1'")
    forge(spark, settled, do_nothing, key_change(settled, "nobody"))
    assert verify_layout(Task(dataset=settled))["rows_astray"] == 0
    forge(spark, settled, damage, key_change(settled, "nobody either"))

    with pytest.raises(JobError, match=r"must keep every row, once, in its bucket\. Got .*history"):
        verify_layout(Task(dataset=settled))


def flip_all_but_one(transaction, files):
    leaving = [
        file
        for file, slot in enumerate(files.low_slot)
        if files.bucket[file] == 0 and slot in first_slots(transaction.dataset)
    ]
    flipped = files.take(np.array(leaving[1:]))
    transaction.flip(flipped, [1 + slot % 3 for slot in flipped.low_slot])


@pytest.mark.parametrize(
    ("damage", "change"),
    [(flip_all_but_one, slot_change), (do_nothing, slot_change), (do_nothing, key_change)],
)
def test_verify_notices_what_was_left_behind(spark, settled, damage, change):
    """Files that the commit does not name are the same as before, which is just what is wrong with those that had to move."""
    forge(spark, settled, damage, change(settled))
    n_astray = len(keys_astray(spark, settled))

    with pytest.raises(JobError, match=r"must keep every row, once, in its bucket\. Got .*'conserved': True"):
        verify_layout(Task(dataset=settled))
    assert n_astray > 0


def test_verify_raises_no_alarm_over_a_mixed_file_that_a_merge_left(spark, settled):
    """The file spans the slot that moved, and none of its rows is of that slot: its statistics cannot tell, so its rows must."""
    before = current_function(settled)
    slots = {slot_of(key, "string", 64): key for key in KEYS if before.bucket_of(key) == 0}
    low, middle, *_, high = sorted(slots)
    around = [(slots[slot], START, "around") for slot in (low, high)]
    frame = spark.createDataFrame(around, '`who``s"it` string, at timestamp, page string').coalesce(1)
    frame.withColumn("bucket", F.lit(0)).write.format("delta").mode("append").save(settled.state)
    after = before.with_changes(slots={middle: 1})
    save_function(settled.name, after)
    change = FunctionChange(kind=MIGRATE, before=before, after=after)
    make_change(Task(dataset=settled, options={"mover": "merge"}), change)
    commit = read_commit(settled, layout_commit(settled)["version"])

    assert [entry.rows for entry in commit.untouched_over(np.array([middle]))] == [2]
    assert verify_layout(Task(dataset=settled))["rows_compared"] > 0
    assert keys_astray(spark, settled) == []


@pytest.mark.parametrize("end", ["from_function", "to_function"])
def test_verify_refuses_a_commit_that_did_not_lead_where_it_says(spark, settled, end):
    """The rows may be right for a function that the table does not have."""
    noted, true = slot_change(settled), key_change(settled)
    note = true.note(Moved(), mover="flip") | {end: noted.after.digest}
    transaction = LayoutTransaction(spark, settled)
    transaction.set_properties(true.properties)
    transaction.commit(note)

    with pytest.raises(
        JobError, match=r"must lead from function \w{12} to \w{12}, as it notes\. Got .*repair"
    ):
        verify_layout(Task(dataset=settled))


def test_settling_turns_mixed_files_into_files_of_one_slot(spark, settled):
    """What loads and OPTIMIZE leave behind; rows keep their buckets, and there is nothing to do twice."""
    spark.sql(f"OPTIMIZE delta.`{settled.state}`")
    before = rows_in(state_of(spark, settled))
    mixed = (~files_of(spark, settled).is_settled).sum()
    settle_layout(Task(dataset=settled))
    again = settle_layout(Task(dataset=settled))

    assert mixed == 4
    assert files_of(spark, settled).is_settled.all()
    assert again == {"files_before": 0, "files_after": 0, "bytes_written": 0}
    assert rows_in(state_of(spark, settled)) == before
    assert keys_astray(spark, settled) == []


def test_small_slots_share_a_file_however_often_it_is_settled(spark, settled):
    """Files that are not worth it cost more than they save: one mixed file a bucket is the end of it."""
    big = replace(settled, min_file_bytes=1 << 20)
    spark.sql(f"OPTIMIZE delta.`{settled.state}`")
    load_window(Task(dataset=big, given_window=window_of(2)))
    settle_layout(Task(dataset=big))
    files = files_of(spark, big)

    assert sorted(files.bucket.tolist()) == [0, 1, 2, 3]
    assert settle_layout(Task(dataset=big))["files_before"] == 0


def test_foreign_rows_and_false_statistics_are_named_and_mended(spark, settled):
    """Another tool wrote past us: rows in a wrong bucket, and a file that lies about its slots. Nothing may be dropped."""
    audit_layout(Task(dataset=settled))
    columns = '`who``s"it`, at, page, bucket'
    spark.sql(
        f"INSERT INTO delta.`{settled.state}` ({columns}) VALUES ('it\\'s', timestamp'2026-01-04', 'x', 0),"
        " ('naïve 🚀', timestamp'2026-01-04', 'x', 0), ('user 1', timestamp'2026-01-04', 'x', 0), ('user 2',"
        " timestamp'2026-01-04', 'x', 0), ('user 3', timestamp'2026-01-04', 'x', 0)"
    )
    in_transaction(spark, settled, _lie_about_slots)
    before = rows_in(state_of(spark, settled))
    n_astray = len(keys_astray(spark, settled))

    with pytest.raises(
        JobError, match=rf"Got {n_astray} rows astray in \d files, 1 files with false .* Run repair"
    ):
        audit_layout(Task(dataset=settled))
    repaired = repair_layout(Task(dataset=settled))

    assert repaired["rows_moved"] == n_astray > 0
    assert audit(Task(dataset=settled))["false_files"] == 0
    assert keys_astray(spark, settled) == []
    assert rows_in(state_of(spark, settled)) == before
    assert repair_layout(Task(dataset=settled))["rows_moved"] == 0


@pytest.mark.parametrize("n_claimed", [1000, 0], ids=["more", "fewer"])
def test_false_number_of_rows_is_mended_with_every_row(spark, settled, n_claimed):
    """The statistic that proves a rewrite may be the one that is false: others refuse, repair counts the rows themselves."""
    in_transaction(spark, settled, lambda change: _claim(change, {"numRecords": n_claimed}, bucket=1))
    before = rows_in(state_of(spark, settled))

    with pytest.raises(JobError, match=r"1 files with false statistics.* Run repair_layout"):
        audit_layout(Task(dataset=settled))
    with pytest.raises(JobError, match=r"a rewrite must keep every row\. Got .* Run repair_layout"):
        rewrite_buckets(Task(dataset=settled), lambda files, *_: files.bucket == 1, kind="test")
    repaired = repair_layout(Task(dataset=settled))

    assert (repaired["rows_moved"], repaired["files_rewritten"]) == (0, 1)
    assert audit_layout(Task(dataset=settled))["rows"] == len(before)
    assert rows_in(state_of(spark, settled)) == before


def test_rows_of_a_file_without_statistics_are_counted_when_it_comes_home(spark, settled):
    """An unknown number is not a number of rows: what repair says that it moved is what the audit found astray."""
    before = rows_in(state_of(spark, settled))
    in_transaction(spark, settled, lambda change: _claim(change, {}, bucket=2))
    astray = audit(Task(dataset=settled))["rows_astray"]
    repaired = repair_layout(Task(dataset=settled))

    assert (repaired["files_flipped"], repaired["files_rewritten"]) == (1, 0)
    assert repaired["rows_moved"] == astray > 0
    assert rows_in(state_of(spark, settled)) == before


def _claim(transaction, claims, *, bucket):
    """The first file of bucket 1, in this bucket and with these for its statistics; without any it has none."""
    file = transaction.read_files([1]).take([0])
    entry = json.loads(file.action[0])
    stats = json.dumps(json.loads(entry["stats"]) | claims) if claims else None
    file.action[0] = json.dumps({**entry, "stats": stats})
    transaction.flip(file, [bucket])
    transaction.commit({})


def _lie_about_slots(transaction):
    file = transaction.read_files([1]).take([0])
    entry = json.loads(file.action[0])
    stats = json.loads(entry["stats"])
    stats["minValues"]["slot"] = stats["maxValues"]["slot"] = 63 - stats["minValues"]["slot"]
    file.action[0] = json.dumps({**entry, "stats": json.dumps(stats)})
    transaction.flip(file, [1])
    transaction.commit({})


def test_rolling_back_undoes_the_last_migration_for_rows_that_came_later_too(spark, settled):
    """A new window has come in since; run again it changes nothing, and --to leads forward again."""
    with pytest.raises(JobError, match=r"evenkeel.previous must name a function .* never migrated"):
        roll_back_layout(Task(dataset=settled))
    change = slot_change(settled)
    make_change(Task(dataset=settled), change)
    load_window(Task(dataset=settled, given_window=window_of(2)))
    before = rows_in(state_of(spark, settled))
    for _ in range(2):
        roll_back_layout(Task(dataset=settled))
    verify_layout(Task(dataset=settled))

    assert properties_of(settled)[FUNCTION] == change.before.digest
    assert rows_in(state_of(spark, settled)) == before
    assert keys_astray(spark, settled) == []
    roll_back_layout(Task(dataset=settled, options={"to": change.after.digest}))
    assert properties_of(settled)[FUNCTION] == change.after.digest


def test_expired_windows_leave_as_whole_files(spark, settled):
    """keep_windows = 2: the third day drops the first without reading a row of it; a window before that is not loaded."""
    result = load_window(Task(dataset=settled, given_window=window_of(2)))
    late = load_window(Task(dataset=settled, given_window=window_of(0)))

    assert result["files_expired"] > 0
    assert result["rows_expired"] == 0
    assert late["rows"] == 0
    assert state_of(spark, settled).count() == len(rows_of_day(1)) + len(rows_of_day(2))


def test_purging_leaves_no_deleted_row_and_keeps_the_undo_promise(spark, settled):
    """Deleted rows cost every reader; removed files stay as long as the dataset promises."""
    spark.sql(f"DELETE FROM delta.`{settled.state}` WHERE page = 'page 0'")
    before = rows_in(state_of(spark, settled))
    version = LayoutTransaction(spark, settled).version
    purge_layout(Task(dataset=settled))

    assert files_of(spark, settled).deleted_rows.sum() == 0
    assert rows_in(state_of(spark, settled)) == before
    past = spark.read.format("delta").option("versionAsOf", version).load(settled.state)
    assert rows_in(past) == before


def test_another_version_of_delta_is_refused(spark, settled, monkeypatch):
    """Internals may mean something else there; better no commit than a wrong one."""
    monkeypatch.setattr(layout_transaction, "TESTED_WITH", "4.3.9")

    with pytest.raises(
        JobError, match=r"Delta must be version 4\.3\.9.* Got 4\.4\.0\. Install delta-spark 4\.3\.9\.$"
    ):
        LayoutTransaction(spark, settled)
