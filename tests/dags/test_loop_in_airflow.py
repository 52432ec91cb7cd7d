"""The whole loop as users run it: real Airflow, real spark-submit, real Delta tables, window after window."""

import json
import subprocess
import sys
from pathlib import Path

import deltalake
import pytest

from schemas.dataset import dataset_named
from spark_jobs.table_log import FUNCTION, properties_of
from tests.spark_jobs.conftest import rows_of_day
from tests.spark_jobs.oracle import keys_astray, rows_in, state_of

pytestmark = [pytest.mark.airflow, pytest.mark.spark]

ROOT = Path(__file__).parents[2]
RUN_WINDOWS = """
import json, sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from demo.airflow_runs import roll_back, run_window
from demo.console import Console
console = Console(Path(sys.argv[1]))
if sys.argv[2:] == ["back"]:
    console.say("RESULT" + json.dumps(roll_back(console, "visits")))
for day in map(int, sys.argv[2:]) if sys.argv[2:] != ["back"] else ():
    start = datetime(2026, 1, 3, tzinfo=UTC) + timedelta(days=day)
    run = run_window(console, "visits", start, start + timedelta(days=1))
    console.say("RESULT" + json.dumps(run, default=str))
"""


@pytest.fixture
def run_windows(airflow_env, datasets, tmp_path):
    """``run_windows(0, 1)`` runs the Dag over these days; what the user sees, and one result a day."""

    def run(*days):
        command = [sys.executable, "-c", RUN_WINDOWS, str(tmp_path / "log"), *map(str, days)]
        done = subprocess.run(command, env=airflow_env, cwd=ROOT, capture_output=True, text=True, check=True)
        results = [json.loads(line[6:]) for line in done.stdout.splitlines() if line.startswith("RESULT")]
        return done.stdout, results

    return run


@pytest.fixture
def visits(spark, airflow_env, datasets):
    """The dataset with a day of events, and its empty state table."""
    from spark_jobs.create_layout import create_layout
    from spark_jobs.job import Task

    dataset = dataset_named("visits")
    arrive(spark, dataset, rows_of_day(0))
    create_layout(Task(dataset=dataset))
    return dataset


def arrive(spark, dataset, rows):
    """Events come in day by day: once tomorrow's are there, today is not the newest window any more."""
    frame = spark.createDataFrame(rows, '`who``s"it` string, at timestamp, page string')
    frame.write.format("delta").mode("append").save(dataset.events)


def runs_of(dataset):
    rows = deltalake.DeltaTable(f"{dataset.state}/../../control/runs").to_pyarrow_table().to_pylist()
    return {f"{row['window_start']:%m-%d}": row for row in rows}


def test_windows_are_rebalanced_held_and_refused_and_rolled_back(spark, visits, run_windows):
    """
    Two good days migrate. A day as even as it can be is held. A bad one fails loudly before anything is loaded, with a report that
    names what was wrong. The last migration is undone. Every row is there all the while.
    """
    _, (first,) = run_windows(0)
    arrive(spark, visits, rows_of_day(1))
    _, (second,) = run_windows(1)
    _, (again,) = run_windows(1)
    arrive(spark, visits, rows_of_day(2)[:3])
    shown, (third,) = run_windows(2)

    assert [run["outcome"] for run in (first, second, again, third)] == ["migrated"] * 3 + ["failed"]
    assert again["plan"] == second["plan"]
    assert first["rows_moved"] > 0
    for run in (first, second):
        assert run["imbalance_after"] < run["imbalance_before"]
        assert Path(run["report"]).read_text().startswith("<!doctype html>")
    assert "Step check failed: checks.min_rows must be reached" in shown
    assert "checks.min_rows must be reached" in Path(third["report"]).read_text()
    check_rows(spark, visits)
    assert {day: row["outcome"] for day, row in runs_of(visits).items()} == {
        "01-03": "migrated", "01-04": "migrated", "01-05": "failed",
    }  # fmt: skip
    before = properties_of(visits)[FUNCTION]
    _, (worked,) = run_windows("back")
    assert worked
    assert properties_of(visits)[FUNCTION] != before
    check_rows(spark, visits)


def check_rows(spark, visits):
    assert keys_astray(spark, visits) == []
    assert rows_in(state_of(spark, visits)) == rows_in(
        spark.read.format("delta").load(visits.events).where("at < '2026-01-05'")
    )
