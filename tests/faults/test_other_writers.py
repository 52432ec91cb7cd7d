"""Others write while we move: nothing is lost or doubled, nothing ends where an old function said."""

import json
import re
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import pytest
from pyspark.sql import functions as F

from spark_jobs import layout_transaction, merge_mover
from spark_jobs.audit_layout import audit
from spark_jobs.control_tables import load_function
from spark_jobs.job import JobError
from spark_jobs.layout_transaction import CONFLICTS, TRIES, LayoutTransaction
from spark_jobs.migrate_layout import migrate_layout
from spark_jobs.roll_back_layout import roll_back_layout
from spark_jobs.routing import with_bucket
from spark_jobs.stateful import append, upsert
from spark_jobs.table_log import current_function, note_of, state_log
from tests.faults.children import child, settings, wait_until, write_order
from tests.faults.killed_job import READY, order_of
from tests.faults.other_writer import rows_of
from tests.faults.scenes import COLUMNS, change_function, delivered, held_by, turned, upserted, version_of
from tests.spark_jobs.conftest import DAY, KEYS, START

pytestmark = [pytest.mark.spark, pytest.mark.faults]

ROUNDS = 50


@pytest.mark.parametrize("scene", ["small"], indirect=True)
def test_fifty_migrations_beside_another_process_lose_and_double_nothing(scene, home, tmp_path):
    """
    A table is never quiet: another process appends, deletes and updates all the while.

    Both count what they committed. In the end the table holds just that, each row where the last function says, and no
    migration gave up. Every fifth function also routes keys, so that files are rewritten and not only flipped.
    """
    first_function = current_function(scene.dataset)
    flipped = turned(first_function, every=2)
    routed = turned(first_function, every=2, routes={KEYS[0]: 1, None: 1})
    before, first = held_by(scene.dataset).rows, version_of(scene.dataset)
    order = write_order(tmp_path / "order.json", {"task": order_of(scene.task())})
    stop, log = tmp_path / "stop", tmp_path / "writer.log"
    with child("tests.faults.other_writer", order, stop, env=settings(home, scene.folder), log=log) as writer:
        assert writer.stdout.readline().strip() == READY, log.read_text()[-2000:]
        for number in range(ROUNDS):
            there = (routed if number % 10 == 0 else flipped) if number % 2 == 0 else first_function
            change_function(scene.task(), there)
            let_others_write(scene, longest=30.0 if number % 5 == 4 else 0.3)
        stop.touch()
        said = [json.loads(line) for line in writer.stdout.read().splitlines()]
        assert writer.wait() == 0, log.read_text()[-2000:]

    assert {what for what, _ in said} == {"append", "delete", "update"}
    held = held_by(scene.dataset)
    assert held.rows == before + written(said)
    assert held.astray(there) == []
    assert audit(scene.task())["rows_astray"] == 0
    commits = history(scene, since=first)
    ours = Counter(note_of(commit).get("evenkeel") for commit in commits)
    assert (ours["migrate"], ours["append"]) == (ROUNDS, sum(what == "append" for what, _ in said))
    assert {"DELETE", "UPDATE"} <= {commit["operation"] for commit in commits}


def let_others_write(scene, *, longest):
    """Wait for somebody else's commit: fifty migrations without a pause leave a slow machine no moment to begin and end one in."""
    version = version_of(scene.dataset)
    with suppress(TimeoutError):
        wait_until(lambda: version_of(scene.dataset) > version, what="a commit", longest=longest)


def written(said: list[Any]) -> Counter[Any]:
    """The rows that the other process left behind, from what it said it did."""
    rows = {(what, number) for what, number in said}
    left: Counter[Any] = Counter()
    for number in (number for what, number in rows if what == "append"):
        for i, (key, at, page) in enumerate(rows_of(number)):
            if i == 0 and ("delete", number) in rows:
                continue
            is_changed = i == 1 and ("update", number) in rows
            left[key, at, f"{page}!" if is_changed else page] += 1
    return left


def history(scene, *, since):
    return [commit for commit in state_log(scene.dataset).history() if commit["version"] > since]


@dataclass
class Commits:
    """What happens around commits of ours."""

    acts: list[Callable[[], object]] = field(
        default_factory=list
    )  # the next one is done just before the next commit
    refusals: list[str] = field(default_factory=list)  # how Delta refused commits, in order


@pytest.fixture
def commits(monkeypatch) -> Commits:
    """Others act between the reads and the commit of a layout transaction: the worst moment there is."""
    found, original = Commits(), LayoutTransaction.commit

    def commit(transaction, note):
        if found.acts:
            act, later = found.acts[0], found.acts[1:]
            found.acts = []  # what the act itself commits is not disturbed
            act()
            found.acts = later
        try:
            return original(transaction, note)
        except CONFLICTS as refusal:
            found.refusals.append(type(refusal).__name__)
            raise

    monkeypatch.setattr(LayoutTransaction, "commit", commit)
    monkeypatch.setattr(layout_transaction, "LONGEST_WAIT", 0.01)
    return found


def append_plainly(spark, dataset, function, page):
    """A user's own append by plain Delta, rightly routed: a row for each key, so that every bucket has one."""
    frame = spark.createDataFrame([(key, START + DAY, page) for key in KEYS], COLUMNS).coalesce(1)
    routed = with_bucket(frame, function, key=dataset.key)
    routed.write.format("delta").mode("append").save(dataset.state)


def test_mover_gives_up_after_the_stated_number_of_tries_and_says_so(spark, scene, commits):
    """A mover that tries for ever hides a table that has too many writers; one that gives up early never moves it."""
    before, here = held_by(scene.dataset), current_function(scene.dataset)
    there = turned(here, every=5)
    setting = f"ALTER TABLE delta.`{scene.dataset.state}` SET TBLPROPERTIES ('theirs' = 'changed')"
    commits.acts = [partial(spark.sql, setting)] * TRIES
    sentence = rf"must get through within {TRIES} tries\. Got a conflict each time, .* Nothing of it was committed\. Run"
    with pytest.raises(JobError, match=re.compile(sentence, re.DOTALL)):
        change_function(scene.task(), there)

    assert commits.refusals == ["MetadataChangedException"] * TRIES
    assert held_by(scene.dataset) == before
    assert current_function(scene.dataset) == here

    change_function(scene.task(), there)
    assert held_by(scene.dataset).rows == before.rows
    assert held_by(scene.dataset).astray(there) == []


def test_mover_gets_through_on_its_last_try_with_all_appends_in_between(spark, scene, commits, monkeypatch):
    """Giving up one try too early would be as wrong as one too late; and what others brought meanwhile must move along."""
    before, here = held_by(scene.dataset), current_function(scene.dataset)
    monkeypatch.setattr(layout_transaction.retrying, "__kwdefaults__", {"tries": 3})
    commits.acts = [partial(append_plainly, spark, scene.dataset, here, page) for page in ("one", "two")]
    migrate_layout(scene.task())

    held = held_by(scene.dataset)
    assert commits.refusals == ["ConcurrentAppendException"] * 2
    assert held.rows == before.rows + Counter(
        (key, START + DAY, page) for page in ("one", "two") for key in KEYS
    )
    assert held.astray(current_function(scene.dataset)) == []


def test_merge_mover_tries_again_when_an_append_gets_in_between(spark, scene, tmp_path, monkeypatch):
    """
    A MERGE that is refused leaves the table marked as being moved, closed to our writers: it must not end there.

    The keys to move pass through a gate while the MERGE's transaction is open; the append is made there.
    """
    started, go = tmp_path / "started", tmp_path / "go"
    before, here = held_by(scene.dataset), current_function(scene.dataset)
    original = merge_mover._moving_keys

    def gate(bucket):
        started.touch()
        while not go.exists():
            time.sleep(0.01)
        return bucket

    def gated(*arguments):
        return original(*arguments).withColumn("from_bucket", F.udf(gate, "int")("from_bucket"))

    def append_once_it_runs():
        wait_until(started.exists, what="the MERGE")
        append_plainly(spark, scene.dataset, here, "in between")
        go.touch()

    monkeypatch.setattr(merge_mover, "_moving_keys", gated)
    with ThreadPoolExecutor(1) as pool:
        appended = pool.submit(append_once_it_runs)
        migrate_layout(scene.task(mover="merge"))
        appended.result()

    held = held_by(scene.dataset)
    assert held.rows == before.rows + Counter((key, START + DAY, "in between") for key in KEYS)
    assert held.astray(current_function(scene.dataset)) == []
    assert audit(scene.task())["rows_astray"] == 0


def test_append_that_read_the_function_before_a_flip_is_routed_again(spark, scene, commits):
    """The dangerous writer: it asked for the function, a migration got in between, and then it commits."""
    before, old = held_by(scene.dataset), current_function(scene.dataset)
    commits.acts = [lambda: migrate_layout(scene.task())]
    assert append(delivered(spark), scene.dataset, batch="late") == len(KEYS)

    new = current_function(scene.dataset)
    held = held_by(scene.dataset)
    assert new != old
    assert commits.refusals == ["MetadataChangedException"]
    assert held.rows == before.rows + Counter((key, START + DAY, "delivered") for key in KEYS)
    assert held.astray(new) == []
    assert append(delivered(spark), scene.dataset, batch="late") == 0


@pytest.mark.parametrize("scene", ["balances"], indirect=True)
def test_upsert_that_read_the_function_before_a_flip_is_done_again(spark, scene, commits):
    """An upsert replaces rows: with the old function it would miss the old row and leave the key twice."""
    old = current_function(scene.dataset)
    commits.acts = [lambda: change_function(scene.task(), turned(old, every=2, routes={KEYS[3]: 1}))]
    upsert(upserted(spark), scene.dataset)

    held = held_by(scene.dataset)
    assert commits.refusals == ["MetadataChangedException"]
    assert sorted(map(str, Counter(key for key, *_ in held.rows.elements()).values())) == ["1"] * (
        len(KEYS) + 1
    )
    assert sum(page == "changed" for *_, page in held.rows) == len(KEYS[::3]) + 1
    assert held.astray(current_function(scene.dataset)) == []


def test_roll_back_beside_an_append_keeps_the_append(spark, scene, commits):
    """Who rolls back is in a hurry, and the appends go on."""
    before = held_by(scene.dataset).rows
    commits.acts = [lambda: append(delivered(spark), scene.dataset)]
    result = roll_back_layout(scene.task())

    held = held_by(scene.dataset)
    assert commits.refusals == ["ConcurrentAppendException"]
    assert held.rows == before + Counter((key, START + DAY, "delivered") for key in KEYS)
    assert held.astray(load_function(scene.dataset.name, result["function"])) == []
