"""Airflow with a database of its own, so that tests leave no trace in the user's."""

import os
import shutil
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def airflow_env(tmp_path, monkeypatch) -> dict[str, str]:
    """The environment of a program that runs Dags: a copy of the migrated database, a warehouse, a dataset folder."""
    database = tmp_path / "airflow.db"
    shutil.copyfile(ROOT / ".evenkeel" / "airflow" / "airflow.db", database)
    for name in ("datasets", "ware house ü"):
        (tmp_path / name).mkdir()
    monkeypatch.setenv("EVENKEEL_WAREHOUSE", str(tmp_path / "ware house ü"))
    monkeypatch.setenv("EVENKEEL_DATASETS", str(tmp_path / "datasets"))
    monkeypatch.setenv("AIRFLOW__DATABASE__SQL_ALCHEMY_CONN", f"sqlite:///{database}")
    monkeypatch.setenv("AIRFLOW__LOGGING__BASE_LOG_FOLDER", str(tmp_path / "logs"))
    return dict(os.environ)


DATASET = """
name: visits
schedule: "@daily"
start: "2026-01-03"
key: {column: 'who`s"it', type: string}
events: {table: visits/events, time: at}
state: {table: visits/state, keep_windows: 2}
layout: {buckets: 4, slots: 64}
budgets: {max_imbalance: 0.08, max_routes: 20, max_migration: 0.6}
planner: llfd
checks: {min_rows: 100, severity: {min_rows: critical, null_keys: warning}}
schedules: {maintain: null, audit: null}
"""


@pytest.fixture
def datasets(airflow_env) -> Path:
    """The dataset folder, with one good file in it."""
    folder = Path(airflow_env["EVENKEEL_DATASETS"])
    (folder / "visits.yaml").write_text(DATASET)
    return folder
