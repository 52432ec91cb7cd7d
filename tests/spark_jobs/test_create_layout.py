"""An existing table becomes a state table: a bucketed copy, the source untouched."""

from pathlib import Path

import pytest

from spark_jobs.create_layout import create_layout
from spark_jobs.data_files import collected
from spark_jobs.job import JobError, Task
from spark_jobs.layout_transaction import LayoutTransaction
from tests.spark_jobs.conftest import visits, write_events
from tests.spark_jobs.oracle import keys_astray, rows_in, state_of

pytestmark = pytest.mark.spark


@pytest.mark.parametrize("kind", ["delta", "parquet"])
def test_existing_table_is_copied_once_into_settled_files(spark, warehouse, kind):
    """The source is only read; a second run finds that all is done."""
    dataset = visits(min_file_bytes=1)
    write_events(spark, dataset)
    source = str(warehouse / f"old {kind}")
    spark.read.format("delta").load(dataset.events).write.format(kind).save(source)
    before = sorted((str(path), path.stat().st_mtime_ns) for path in Path(source).rglob("*"))
    results = [create_layout(Task(dataset=dataset, options={"source": source})) for _ in range(2)]

    assert [result["rows"] > 0 for result in results] == [True, False]
    assert rows_in(state_of(spark, dataset)) == rows_in(spark.read.format(kind).load(source))
    assert keys_astray(spark, dataset) == []
    assert collected(LayoutTransaction(spark, dataset).file_frame()).is_settled.all()
    assert sorted((str(path), path.stat().st_mtime_ns) for path in Path(source).rglob("*")) == before


@pytest.mark.parametrize(
    ("schema", "changes", "sentence"),
    [
        ("who string, at timestamp, Bucket int", {}, r"must leave the names slot and bucket .* Got Bucket"),
        ("who double, at timestamp", {}, r"key\.type must be the type of column 'who' .* column is double"),
        ("who string collate UTF8_LCASE, at timestamp", {}, r"column is a string of collation UTF8_LCASE"),
        ("whom string, at timestamp", {}, r"Got string, but the column is missing"),
        ("who string, moment timestamp", {}, r"events\.time must be a column .* Got 'at'"),
    ],
)
def test_unfit_source_is_refused_before_anything_is_written(spark, warehouse, schema, changes, sentence):
    """Which column, what it must be, what it was."""
    dataset = visits(key="who", **changes)
    source = str(warehouse / "source")
    spark.createDataFrame([], schema).write.format("parquet").save(source)

    with pytest.raises(JobError, match=sentence):
        create_layout(Task(dataset=dataset, options={"source": source}))
    assert not Path(dataset.state).exists()


@pytest.mark.parametrize("source", ["none", "empty"])
def test_source_that_is_no_table_is_named(spark, warehouse, source):
    """Mistyped more often than not: the sentence says where it was looked for, and nothing else."""
    (warehouse / "empty").mkdir()
    sentence = rf"--source must be a Delta table or a folder of Parquet files\. Got neither at .*/{source}\."

    with pytest.raises(JobError, match=sentence):
        create_layout(Task(dataset=visits(), options={"source": source}))


def test_table_with_rows_takes_over_no_other(spark, settled, warehouse):
    """Adopting into a table that is in use would mix two histories."""
    other = str(warehouse / "other")
    spark.read.format("delta").load(settled.events).write.format("delta").save(other)
    with pytest.raises(JobError, match=r"state\.table must be empty to take over .* Name another"):
        create_layout(Task(dataset=settled, options={"source": other}))


def test_events_are_not_taken_over(spark, warehouse):
    """The Dag loads them window by window: each row would be there twice."""
    dataset = visits()
    write_events(spark, dataset)

    with pytest.raises(JobError, match=r"--source must be another table than events\.table"):
        create_layout(Task(dataset=dataset, options={"source": f"{dataset.events}/"}))
    assert not Path(dataset.state).exists()


def test_rows_without_a_bucket_are_refused_by_the_table_itself(spark, settled):
    """Constraints hold for every writer, also for one that knows nothing of us."""
    columns = '`who``s"it`, at, page, bucket'
    for bucket in ("-1", "NULL"):
        with pytest.raises(Exception, match=r"bucket_is_a_number|NOT NULL constraint|NOT_NULL"):
            spark.sql(f"INSERT INTO delta.`{settled.state}` ({columns}) VALUES ('a', now(), 'x', {bucket})")
