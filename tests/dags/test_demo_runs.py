"""The demo's way of running a Dag: in its own process, with each step shown as it goes."""

import json
import subprocess
import sys
from pathlib import Path

import deltalake
import pyarrow as pa
import pytest

from schemas.dataset import dataset_named
from schemas.tables import RUNS
from spark_jobs.control_tables import read_rows
from tests.spark_jobs.conftest import rows_of_day

pytestmark = [pytest.mark.airflow, pytest.mark.spark]

ROOT = Path(__file__).parents[2]
RUN_WINDOW = """
import json, sys
from datetime import UTC, datetime
from pathlib import Path
from demo.airflow_runs import run_window
from demo.console import Console
console = Console(Path(sys.argv[1]))
run = run_window(console, "visits", datetime(2026, 1, 3, tzinfo=UTC), datetime(2026, 1, 4, tzinfo=UTC))
console.say("RESULT" + json.dumps(run, default=str))
"""


@pytest.fixture
def visits(airflow_env, datasets):
    """A day with three events, where a hundred must be."""
    dataset = dataset_named("visits")
    keys, times, pages = zip(*rows_of_day(0)[:3], strict=True)
    events = pa.table({dataset.key: keys, "at": pa.array(times, pa.timestamp("us", "UTC")), "page": pages})
    deltalake.write_deltalake(dataset.events, events)
    return dataset


def test_failed_step_is_shown_with_its_sentence_and_reported(visits, airflow_env, tmp_path):
    """Nothing was loaded, the steps after it are not run, and the report says why."""
    command = [sys.executable, "-c", RUN_WINDOW, str(tmp_path / "log")]
    done = subprocess.run(command, env=airflow_env, cwd=ROOT, capture_output=True, text=True, check=True)
    run = json.loads(done.stdout.partition("RESULT")[2])

    steps = [line.split()[0] for line in done.stdout.splitlines() if line.startswith("  ")]
    assert steps == ["window", "check", "report"]
    assert "Step check failed: checks.min_rows must be reached" in done.stdout
    assert run["outcome"] == "failed"
    assert "checks.min_rows must be reached" in Path(run["report"]).read_text()
    assert read_rows(RUNS, dataset="visits")["outcome"].to_pylist() == ["failed"]
    assert not Path(visits.state).exists()
