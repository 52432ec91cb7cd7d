"""A dataset of many inputs: one task a loader reads its feeds, every row comes in once, and what is wrong is said before anything is written."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from deltalake import DeltaTable
from pyspark.sql import functions as F

from schemas.feeds import DeclaredFeed
from schemas.places import locate
from schemas.tables import FEED_ASSIGNMENTS, RUNS
from spark_jobs.check_window import check_window
from spark_jobs.control_tables import read_one, read_rows
from spark_jobs.create_layout import create_layout
from spark_jobs.feed_loading import fed_window
from spark_jobs.feeds import Feed, find_feeds, read_feeds
from spark_jobs.job import JobError, Task
from spark_jobs.load_and_profile import load_and_profile
from spark_jobs.load_window import load_window
from spark_jobs.plan_moves import plan_moves
from spark_jobs.report_run import report_run
from spark_jobs.run_facts import run_facts
from tests.faults.scenes import COLUMNS, held_by
from tests.spark_jobs.conftest import rows_of_day, task_of, visits

pytestmark = pytest.mark.spark

TABLES, FILES = ("asia", "eu", "us"), ("iot", "web.parquet")
SHARES = {"asia": 1, "eu": 8, "us": 4, "iot": 2, "web": 2}  # of 17 rows
OF_ROW = [name for name, n in SHARES.items() for _ in range(n)]


def fed(**changes):
    """The tables by a glob, the files by another, and loaders of 400 rows."""
    feeds = (
        DeclaredFeed(field="feeds.0.table", location=locate("visits/feeds/*")),
        DeclaredFeed(field="feeds.1.files", location=locate("visits/landing/*"), kind="parquet"),
    )
    return visits(**{"events": "", "feeds": feeds, "loader_capacity": 400.0, **changes})


def rows_of(day):
    """The day's rows with the name of their feed in them."""
    return [
        (key, at, f"{OF_ROW[n % len(OF_ROW)]} {page}") for n, (key, at, page) in enumerate(rows_of_day(day))
    ]


def write_feeds(spark):
    rows = [row for day in range(3) for row in rows_of(day)]
    for name in SHARES:
        frame = spark.createDataFrame([row for row in rows if row[2].startswith(name)], COLUMNS)
        if name in TABLES:
            frame.write.format("delta").save(locate(f"visits/feeds/{name}"))
        else:
            frame.write.parquet(locate(f"visits/landing/{'web.parquet' if name == 'web' else name}"))


@pytest.fixture(scope="module")
def story(spark, tmp_path_factory):
    """Feeds of three days, two of them loaded, profiled and reported; the results, and the warehouse."""
    folder = tmp_path_factory.mktemp("ware house ü")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("EVENKEEL_WAREHOUSE", str(folder))
        write_feeds(spark)
        create_layout(Task(dataset=fed()))
        results = []
        for day in (0, 1):
            check_window(task_of(fed(), day))
            results.append(load_and_profile(task_of(fed(), day)))
        yield folder, results


@pytest.fixture
def loaded(story, warehouse):
    """The story's warehouse again, for one test."""
    shutil.copytree(story[0], warehouse, dirs_exist_ok=True)
    return fed()


def test_every_row_of_every_feed_comes_in_once(loaded, story):
    """Tables and files alike; what the control table counts is what came."""
    held = held_by(loaded).rows

    assert held == {row: 1 for day in (0, 1) for row in rows_of(day)}
    rows = read_rows(FEED_ASSIGNMENTS, dataset="visits").to_pylist()
    assert sum(row["rows"] for row in rows) == held.total() == sum(result["rows"] for result in story[1])
    assert [feed.name for feed in find_feeds(task_of(loaded, 0).spark, loaded)] == sorted(SHARES)


def test_one_task_a_loader_reads_its_feeds_and_no_other(loaded):
    """That is what a loader is: a feed that two tasks read is two connections, and a loader of two tasks has no capacity."""
    window = fed_window(task_of(loaded, 2), is_loaded=False)
    events = window.events()
    seen = events.select(F.spark_partition_id().alias("task"), F.split("page", " ")[0].alias("feed")).distinct().collect()  # fmt: skip

    loaders = sorted(set(window.loader_of.values()))
    assert len(loaders) >= 2
    assert events.rdd.getNumPartitions() == len(loaders)
    assert {(row["feed"], loaders[row["task"]]) for row in seen} == set(window.loader_of.items())


def test_assignment_is_written_once_and_reread(loaded):
    """A retry reads by the same loaders, loads nothing twice, and makes no new version."""
    before, version = (
        read_rows(FEED_ASSIGNMENTS, dataset="visits").to_pylist(),
        DeltaTable(loaded.state).version(),
    )
    other = replace(loaded, loader_capacity=50.0)  # would be assigned otherwise

    again = load_window(task_of(other, 1))

    assert again["rows"] == 0
    assert read_rows(FEED_ASSIGNMENTS, dataset="visits").to_pylist() == before
    assert DeltaTable(loaded.state).version() == version


def test_feed_that_comes_between_two_tries_is_read(loaded, spark):
    """The assignment of a window that is not in yet must not hide a feed that has arrived since."""
    fed_window(task_of(loaded, 2), is_loaded=False)
    late = spark.createDataFrame([("late", rows_of(2)[0][1], "late row")], COLUMNS)
    late.write.format("delta").save(locate("visits/feeds/late"))

    result = load_window(task_of(loaded, 2))

    assert result["rows"] == len(rows_of(2)) + 1
    assert result["feeds"]["feeds"] == 6
    assert result["feeds"]["is_loaded"]


def test_fill_redirections_and_stragglers_are_in_the_result_and_the_report(loaded, story):
    """One set of figures: what the load answered is what the run's facts and page say."""
    result = story[1][1]
    task = replace(task_of(loaded, 1), run="r")
    plan = plan_moves(task)["plan"]
    step = {"name": "profile", "state": "success", "result": result}
    page = report_run(replace(task, plan=plan, options={"steps": [step]}))["report"]
    facts = run_facts(loaded, read_one(RUNS, dataset="visits", run="r"))

    ours, round_robin, hashed = result["feeds"]["by"]
    assert facts["feeds"] == result["feeds"]
    assert ours["redirected"] == 0
    assert ours["straggler"] <= min(round_robin["straggler"], hashed["straggler"])
    assert facts["steps"][0]["rows"] == result["rows"]
    assert "Feeds and loaders" in Path(page).read_text()
    present = {line["what"]: line["present"] for line in facts["plan"]["capacity"]["lines"]}
    assert present.get("loaders", result["feeds"]["loaders"]) == result["feeds"]["loaders"]


def test_a_hidden_place_is_a_feed_where_it_is_named(loaded, spark):
    """Globs leave out what stores and engines keep beside the data; who writes its name means it."""
    place = locate("visits/landing/_late")
    spark.createDataFrame(rows_of(2), COLUMNS).write.parquet(place)
    late = DeclaredFeed(field="feeds.2.files", location=place, kind="parquet")
    names = [feed.name for feed in find_feeds(spark, replace(loaded, feeds=(*loaded.feeds, late)))]

    assert names == sorted([*SHARES, "_late"])
    assert read_feeds(spark, loaded, [Feed(name="_late", location=place, kind="parquet")])[
        "_late"
    ].count() == len(rows_of(2))


def nothing_there(spark, dataset):
    return replace(dataset, feeds=(DeclaredFeed(field="feeds.0.table", location=locate("visits/nowhere")),))


def hidden_file(spark, dataset):
    """Spark would read nothing of it, and say that it cannot tell the columns."""
    place = Path(locate("visits/landing/_a.parquet"))
    shutil.copy(next(Path(locate("visits/landing")).glob("*/*.parquet")), place)
    return replace(dataset, feeds=(DeclaredFeed(field="feeds.0.files", location=str(place), kind="parquet"),))


def no_match(spark, dataset):
    files = DeclaredFeed(field="feeds.0.files", location=locate("visits/nowhere/*"), kind="parquet")
    return replace(dataset, feeds=(files,))


def no_table(spark, dataset):
    return replace(dataset, feeds=(DeclaredFeed(field="feeds.0.table", location=locate("visits/landing/*")),))


def other_columns(spark, dataset):
    spark.sql("SELECT 'a' AS `who``s\"it`, 1 AS at, 2 AS more").write.format("delta").save(
        locate("visits/feeds/z")
    )
    return dataset


def same_name(spark, dataset):
    spark.createDataFrame(rows_of(2), COLUMNS).write.parquet(locate("visits/landing/eu"))
    return dataset


def same_place(spark, dataset):
    again = DeclaredFeed(
        field="feeds.2.table", location=f"file:{locate('visits/feeds')}/./eu/", name="europe"
    )
    return replace(dataset, feeds=(*dataset.feeds, again))


@pytest.mark.parametrize(
    ("spoil", "sentence"),
    [
        (nothing_there, r"feeds\.0\.table must lead to events\. Got '.*visits/nowhere', which is not there, or a file hidden"),
        (hidden_file, r"feeds\.0\.files must lead to events\. Got '.*/_a\.parquet', which is not there, or a file hidden by its name\."),
        (no_match, r"feeds\.0\.files must lead to events\. Got '.*nowhere/\*', which matches nothing\."),
        (no_table, r"feed iot must be a Delta table\. Got .*visits/landing/iot, which is none\. Name it by files"),
        (other_columns, r"feed z must have the columns of feed asia\. Got no page, at of type int instead of timestamp, more besides\."),
        (same_place, r"feeds must be in places that differ\. Got .*visits/feeds/eu for eu, europe\. Leave all but one out"),
        (same_name, r"feeds must have names that differ\. Got 'eu' for .*visits/feeds/eu, .*visits/landing/eu\."),
    ],
)  # fmt: skip
def test_bad_feeds_are_refused_before_anything_is_written(loaded, spark, spoil, sentence):
    """Half a window, or a window that hides a feed, is worse than none; the check step says it first."""
    bad = spoil(spark, loaded)
    before, version = (
        read_rows(FEED_ASSIGNMENTS, dataset="visits").to_pylist(),
        DeltaTable(loaded.state).version(),
    )

    for job in (check_window, load_window):
        with pytest.raises(JobError, match=sentence):
            job(task_of(bad, 2))
    assert read_rows(FEED_ASSIGNMENTS, dataset="visits").to_pylist() == before
    assert DeltaTable(loaded.state).version() == version
