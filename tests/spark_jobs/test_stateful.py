"""What users' own jobs call: rows come in once, in their bucket, whatever is repeated."""

import pytest

from spark_jobs.audit_layout import audit
from spark_jobs.control_tables import save_function
from spark_jobs.create_layout import create_layout
from spark_jobs.data_files import collected
from spark_jobs.function_change import MIGRATE, FunctionChange
from spark_jobs.job import JobError, Task
from spark_jobs.layout_transaction import LayoutTransaction
from spark_jobs.migrate_layout import make_change
from spark_jobs.stateful import append, read_bucket, read_buckets, upsert, with_bucket
from spark_jobs.table_log import current_function
from tests.spark_jobs.conftest import visits
from tests.spark_jobs.oracle import keys_astray, rows_in, state_of

pytestmark = pytest.mark.spark


def test_appended_batch_comes_in_once(spark, settled):
    """A job that is retried must not double what it delivered."""
    rows = spark.read.format("delta").load(settled.events).limit(50)
    before = state_of(spark, settled).count()
    written = [append(rows, settled, batch="it's 2026-01-06") for _ in range(2)]

    assert written == [50, 0]
    assert state_of(spark, settled).count() == before + 50
    assert keys_astray(spark, settled) == []


def test_a_bucket_holds_all_rows_of_its_keys(spark, settled):
    """What a stateful job relies on when it reads WHERE bucket = 2 and shuffles nothing."""
    key = 'who`s"it'
    routed = with_bucket(state_of(spark, settled).drop("bucket"), settled)

    assert rows_in(read_bucket(spark, settled, 2)) == rows_in(routed.where("bucket = 2"))
    assert routed.where("bucket = 2").select(f"`{key.replace('`', '``')}`").distinct().count() > 1


@pytest.fixture
def unions_apart(spark):
    """What read_buckets asks for, and the session as it was afterwards."""
    name = "spark.sql.unionOutputPartitioning"
    before = spark.conf.get(name)
    spark.conf.set(name, "false")
    yield
    spark.conf.set(name, before)


@pytest.mark.usefixtures("unions_apart")
def test_all_buckets_are_read_at_once_a_bucket_a_task(spark, settled):
    """A job over the whole state needs no shuffle: partition i is bucket i, and rows that were deleted stay so."""
    spark.sql(f"DELETE FROM delta.`{settled.state}` WHERE bucket = 2 AND slot % 3 = 0")
    frame = read_buckets(spark, settled)

    assert frame.rdd.getNumPartitions() == settled.n_buckets
    assert rows_in(frame) == rows_in(state_of(spark, settled))
    assert frame.where("spark_partition_id() != bucket").isEmpty()


@pytest.mark.usefixtures("unions_apart")
def test_a_session_that_would_put_all_buckets_into_one_task_is_refused(spark, settled):
    """One task for the whole state is the worst straggler there is, and no error would say so."""
    spark.conf.set("spark.sql.unionOutputPartitioning", "true")
    with pytest.raises(JobError, match=r"unionOutputPartitioning must be false. Got true"):
        read_buckets(spark, settled)


@pytest.fixture
def balances(spark, warehouse):
    """One row a key, 200 of them and the NULL key, adopted from a Parquet table."""
    dataset = visits(
        name="balances", key="id", key_type="bigint", rows_per_key="one", keep_windows=None, min_file_bytes=1
    )
    source = str(warehouse / "balances.parquet")
    rows = [(None, "null 0"), *((number, f"{number} 0") for number in range(200))]
    spark.createDataFrame(rows, "id bigint, text string").write.format("parquet").save(source)
    create_layout(Task(dataset=dataset, options={"source": source}))
    return dataset


def test_upsert_replaces_rows_by_key_and_leaves_other_files_alone(spark, balances):
    """New, known and NULL keys, twice: one row a key, and files of other slots are the very same."""
    before = current_rows(spark, balances)
    paths = set(collected(LayoutTransaction(spark, balances).file_frame()).paths)
    frame = spark.createDataFrame([(7, "7 1"), (None, "null 1"), (1000, "1000 1")], "id bigint, text string")
    for _ in range(2):
        assert upsert(frame, balances) == 3

    assert current_rows(spark, balances) == {**before, 7: "7 1", None: "null 1", 1000: "1000 1"}
    assert state_of(spark, balances).count() == 202
    assert keys_astray(spark, balances) == []
    kept = paths & set(collected(LayoutTransaction(spark, balances).file_frame()).paths)
    assert len(kept) >= len(paths) - 3
    assert audit(Task(dataset=balances))["doubled_keys"] == 0


def current_rows(spark, dataset):
    return {row["id"]: row["text"] for row in state_of(spark, dataset).collect()}


def test_upsert_finds_a_key_that_was_routed_elsewhere(spark, balances):
    """Its row lies outside its slot's bucket: looked for only there, it would be doubled."""
    before = current_function(balances)
    after = before.with_changes(routes={7: (before.bucket_of(7) + 1) % 4})
    save_function(balances.name, after)
    make_change(Task(dataset=balances), FunctionChange(kind=MIGRATE, before=before, after=after))
    upsert(spark.createDataFrame([(7, "7 1")], "id bigint, text string"), balances)

    assert current_rows(spark, balances)[7] == "7 1"
    assert state_of(spark, balances).count() == 201
    assert keys_astray(spark, balances) == []


@pytest.mark.parametrize(
    ("call", "rows", "schema", "sentence"),
    [
        (upsert, [(1, "a"), (1, "b")], "id bigint, text string", r"one row a key\. Got 2 rows of key 1\."),
        (upsert, [(1,)], "id bigint", r"Got missing: \['text'\], unknown: \[\]"),
        (append, [(1, "a")], "id bigint, text string", r"rows_per_key must be many .* Got one .* Use upsert"),
    ],
)
def test_unfit_rows_are_refused(spark, balances, call, rows, schema, sentence):
    """Before anything is written, with what to do."""
    with pytest.raises(JobError, match=sentence):
        call(spark.createDataFrame(rows, schema), balances)
