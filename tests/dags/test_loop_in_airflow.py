"""The whole loop as users run it: real Airflow, real spark-submit, real Delta tables, window after window."""

import json
import subprocess
import sys
from pathlib import Path

import deltalake
import pytest

from schemas.dataset import dataset_named
from tests.spark_jobs.conftest import rows_of_day
from tests.spark_jobs.oracle import keys_astray, rows_in, state_of

pytestmark = [pytest.mark.airflow, pytest.mark.spark]

ROOT = Path(__file__).parents[2]
RUN_WINDOWS = """
import json, sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from demo.airflow_runs import run_window
from demo.console import Console
console = Console(Path(sys.argv[1]))
for day in map(int, sys.argv[2:]):
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
    """The dataset with two full days of events, a third of three events, and its empty state table."""
    from spark_jobs.create_layout import create_layout
    from spark_jobs.job import Task

    dataset = dataset_named("visits")
    rows = [*rows_of_day(0), *rows_of_day(1), *rows_of_day(2)[:3]]
    spark.createDataFrame(rows, '`who``s"it` string, at timestamp, page string').write.format("delta").save(
        dataset.events
    )
    create_layout(Task(dataset=dataset))
    return dataset


def test_windows_are_rebalanced_and_a_bad_one_stops_the_run(spark, visits, run_windows):
    """Two good days migrate; on the third `check` fails, is named with its reason, and the state stays as it was."""
    shown, (first, second, third) = run_windows(0, 1, 2)

    for run in (first, second):
        assert run["imbalance_after"] <= run["imbalance_before"]
        assert Path(run["report"]).read_text().startswith("<!doctype html>")
    assert first["rows_moved"] > 0
    assert third is None
    assert "Step check failed: window must pass every critical expectation" in shown
    assert keys_astray(spark, visits) == []
    assert rows_in(state_of(spark, visits)) == rows_in(
        spark.read.format("delta").load(visits.events).where("at < '2026-01-05'")
    )
    runs = deltalake.DeltaTable(f"{visits.state}/../../control/runs").to_pyarrow_table().to_pylist()
    assert sorted(run["plan"] for run in runs) == sorted([first["plan"], second["plan"]])
