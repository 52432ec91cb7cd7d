"""The two-stage aggregate: the results of a plain groupBy, to the last digit, whichever way rows were spread."""

import re
from argparse import Namespace
from collections import Counter
from dataclasses import replace
from datetime import date, timedelta
from decimal import Decimal

import pytest
from pyspark.sql import functions as F
from pyspark.sql.types import LongType, MapType, StringType, StructField, StructType

from cli import aggregate
from cli.console import Console
from partitioning.hashing import hash_key
from partitioning.splitter_choice import Choice
from schemas.places import locate
from spark_jobs import aggregate_window as aggregate_window_module
from spark_jobs.aggregate_window import aggregate_window, results_of
from spark_jobs.job import RefusalError
from spark_jobs.merging import check_columns
from spark_jobs.splitting import split_column
from spark_jobs.two_stages import needed_rows, partial_results, results
from tests.spark_jobs.conftest import DAY, KEYS, START, task_of, visits

MERGE = {
    "amount": "sum", "score": "sum", "day": "min", "size": "max", "note": "count", "page": "first", "say.it": "list", "visitor": "hll",
}  # fmt: skip
SCHEMA = (
    '`who``s"it` string, at timestamp, amount decimal(12,2), score int, day date, size double, note string, page string,'
    " `say.it` string, visitor bigint"
)
N_HOT = 6_000


def event(number, key, at):
    """Times tie, values are NULL now and then, and everything differs from row to row."""
    return (
        key, at + timedelta(seconds=number // 7), Decimal(number) / 100, number % 11 - 5, date(2026, 1, 1 + number % 9),
        float(number % 13), None if number % 3 else "n", None if number % 5 == 0 else f"page {number % 4}",
        None if number % 6 == 0 else f"word {number % 8}", number,
    )  # fmt: skip


@pytest.fixture(scope="module")
def mergeable(spark, tmp_path_factory):
    """Two days of one key with six tenths of all rows and of awkward keys, in several files: several sources."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("EVENKEEL_WAREHOUSE", str(tmp_path_factory.mktemp("ware house")))
        dataset = visits(merge=MERGE, events=locate("visits/events"), n_buckets=8)
        hot = [event(number, "it's", START) for number in range(N_HOT)]
        others = [event(number, KEYS[number % len(KEYS)], START) for number in range(4_000)]
        later = [event(number, "it's", START + DAY) for number in range(50)]
        frame = spark.createDataFrame([*hot, *others, *later], SCHEMA).repartition(6)
        frame.write.format("delta").save(dataset.events)
        yield dataset


def plain(spark, dataset):
    """Day 0 by one groupBy of Spark's own aggregates."""
    events = spark.read.format("delta").load(dataset.events).where(F.col("at") < F.lit(START + DAY))
    timed = F.when(F.col("`say.it`").isNotNull(), F.struct("at", "`say.it`"))
    return events.groupBy('`who``s"it`').agg(
        F.sum("amount").alias("amount"),
        F.sum("score").alias("score"),
        F.min("day").alias("day"),
        F.max("size").alias("size"),
        F.count("note").alias("note"),
        F.min_by("page", F.struct("at", "page")).alias("page"),
        F.sort_array(F.collect_list(timed))["say.it"].alias("say.it"),
    )


@pytest.fixture(scope="module")
def expected(spark, mergeable):
    rows = plain(spark, mergeable).collect()
    assert len(rows) == len(KEYS)
    return Counter(map(str, rows))


def stored(spark, dataset, day=0):
    return (
        spark.read.format("delta").load(results_of(dataset)).where(F.col("window_start") == START + day * DAY)
    )


@pytest.mark.spark
@pytest.mark.parametrize("splitter", ["hash", "shuffle", "pkg", "cam"])
def test_results_are_those_of_a_plain_group_by(spark, mergeable, expected, splitter):
    """Sums, counts, extremes, firsts and lists are equal exactly, NULLs, ties, decimals and all; a sketch within its error."""
    made = aggregate_window(task_of(mergeable, 0, splitter=splitter, choices=5))
    found = stored(spark, mergeable)

    assert Counter(map(str, found.drop("visitor", "window_start", "window_end").collect())) == expected
    assert found.schema["amount"].dataType.simpleString() == "decimal(22,2)"
    visitors = {row[0]: row["visitor"] for row in found.select('`who``s"it`', "visitor").collect()}
    assert visitors["it's"] == pytest.approx(N_HOT, rel=0.05)
    assert (made["rows"], made["keys"], sum(made["bucket_rows"])) == (10_000, len(KEYS), 10_000)
    most = {"hash": len(KEYS), "shuffle": 8 * len(KEYS), "pkg": 5 * len(KEYS), "cam": 5 * len(KEYS)}[splitter]
    assert len(KEYS) <= made["merge_cost"] <= most


@pytest.mark.spark
@pytest.mark.parametrize(
    ("n_buckets", "heavy"),
    [
        pytest.param(8, (hash_key("it's", "string"),), id="one-heavy-key"),
        pytest.param(30, None, id="as-it-chooses-every-key-is-heavy"),
    ],
)
def test_heavy_keys_apart_give_the_same_results(spark, mergeable, expected, monkeypatch, n_buckets, heavy):
    """Rows of heavy keys and the others are worked on side by side; each key must come out once, also where there are no others."""
    if heavy:
        made_up = Choice("shuffle_heavy", "made up", n_buckets, heavy)
        monkeypatch.setattr(aggregate_window_module, "_choice", lambda *_: made_up)
    made = aggregate_window(task_of(replace(mergeable, n_buckets=n_buckets), 0))
    found = stored(spark, mergeable).drop("visitor", "window_start", "window_end")

    assert made["splitter"] == "shuffle_heavy"
    assert Counter(map(str, found.collect())) == expected
    assert (made["rows"], made["keys"], sum(made["bucket_rows"])) == (10_000, len(KEYS), 10_000)
    n_heavy = len(heavy or KEYS)
    assert len(KEYS) < made["merge_cost"] <= len(KEYS) + n_heavy * (n_buckets - 1)
    assert heavy or made["imbalance"] < 0.05


@pytest.mark.spark
def test_heavy_key_is_split_and_the_reason_told(spark, mergeable, monkeypatch, capsys):
    """What it is for: nobody has to know that one key is 4.8 buckets, and whoever asks why at the terminal is told."""
    monkeypatch.setattr(aggregate, "known_dataset", lambda _: mergeable)
    args = Namespace(
        dataset="visits", window_start=START, window_end=START + DAY, splitter=None, choices=None
    )

    assert aggregate.run(args, Console(is_json=False)) == 0

    out, err = capsys.readouterr()
    assert "46 results of 10,000 rows in" in out
    assert "Splitter shuffle: the number of keys is constant and small" in out
    assert re.search(r"Γ \d+ partial results; θ of rows over 8 buckets 0\.00\d\.", out)
    assert "splitter shuffle: the number of keys" in err


@pytest.mark.spark
def test_rerun_replaces_its_window_in_one_commit_and_no_other(spark, mergeable):
    """Airflow retries, and events come late: results are never doubled, and other windows stay."""
    aggregate_window(task_of(mergeable, 1, splitter="pkg"))
    aggregate_window(task_of(mergeable, 0, splitter="pkg"))
    before = history(spark, mergeable)
    late = spark.createDataFrame([event(1, "late", START + timedelta(hours=1))], SCHEMA)
    late.write.format("delta").mode("append").save(mergeable.events)
    try:
        aggregate_window(task_of(mergeable, 0, splitter="pkg"))
    finally:
        spark.sql(f"DELETE FROM delta.`{mergeable.events}` WHERE `who``s\"it` = 'late'")

    assert history(spark, mergeable) == before + 1
    assert stored(spark, mergeable).count() == len(KEYS) + 1
    assert [row["note"] for row in stored(spark, mergeable, day=1).collect()] == [17]


def history(spark, dataset):
    return spark.sql(f"DESCRIBE HISTORY delta.`{results_of(dataset)}`").count()


@pytest.mark.spark
@pytest.mark.parametrize(("splitter", "n_shuffles"), [("hash", 1), ("pkg", 2)])
def test_rows_are_shuffled_once_and_partial_results_once(spark, mergeable, splitter, n_shuffles):
    """A shuffle of raw rows more would cost what splitting saves."""
    choice = Choice(splitter, "", 5)
    rows = needed_rows(spark.read.format("delta").load(mergeable.events), mergeable)
    frame = results(partial_results(rows, mergeable, choice), mergeable, choice)

    assert str(frame._jdf.queryExecution().sparkPlan()).count("Exchange") == 1
    assert str(frame._jdf.queryExecution().executedPlan()).count("Exchange") == n_shuffles


@pytest.mark.spark
def test_sources_begin_with_different_buckets(spark):
    """Shuffle as the papers have it: each source deals its rows in turn, source s from bucket s on."""
    frame = spark.range(0, 12, numPartitions=3)
    bucket = split_column(F.col("id"), Choice("shuffle", ""), n_buckets=5)

    assert [row[0] for row in frame.select(bucket).collect()] == [0, 1, 2, 3, 1, 2, 3, 4, 2, 3, 4, 0]


COLUMNS = StructType(
    [
        StructField("n", LongType()),
        StructField("t", StringType()),
        StructField("m", MapType(StringType(), LongType())),
    ]
)


@pytest.mark.parametrize(
    ("merge", "sentence"),
    [
        ({"x": "sum"}, r"merge\.x must be a column of the events\. Got none .* there are n, t, m\. Correct"),
        ({"t": "sum"}, r"merge\.t must fit the column: sum is for numbers\. Got string\. Take another how"),
        (
            {"m": "list"},
            r"merge\.m must fit .* list is for values that Spark can order\. Got map<string,bigint>",
        ),
        ({"m": "hll"}, r"merge\.m must fit .* hll is for plain values\."),
    ],
)
def test_what_cannot_be_computed_is_refused_before_any_row_is_read(merge, sentence):
    """The type of a column is not known to the dataset file, so the job has to say it."""
    with pytest.raises(RefusalError, match=sentence):
        check_columns(merge, COLUMNS, dataset="d")


def test_choices_without_a_splitter_are_refused(warehouse):
    """They would have no effect: what chooses the splitter chooses them too. Said before anything is read."""
    with pytest.raises(
        RefusalError, match=r"--choices must come with --splitter\. Got 5 alone: .* leave --choices out"
    ):
        aggregate_window(task_of(visits(merge={"page": "first"}), 0, splitter=None, choices=5))


def test_what_fits_is_let_through():
    """Every how has a column that it takes."""
    check_columns({"n": "sum", "t": "list", "m": "count"}, COLUMNS, dataset="d")
