"""Shared by all tests: one Spark session, and a warehouse of its own for each test that writes."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


LONGEST = "test_running_airflow.py"  # a quarter of an hour, nearly all of it waiting for Airflow


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest file begins first: files are shared out in this order, and nobody should have to wait for it at the end."""
    items.sort(key=lambda item: item.path.name != LONGEST)


@pytest.fixture(scope="session")
def spark() -> "Iterator[SparkSession]":
    """Real Spark with real Delta, started once, with the settings of conf/."""
    if "SPARK_CONF_DIR" not in os.environ:
        pytest.fail(
            "Spark's settings must be in the environment. Run `make test`, or source .evenkeel/env.sh first."
        )
    from pyspark.sql import SparkSession

    session = SparkSession.builder.appName("tests").getOrCreate()
    yield session
    session.stop()


@pytest.fixture
def warehouse(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty warehouse whose path has a space and an umlaut, as users' paths do."""
    folder = tmp_path / "ware house ü"
    folder.mkdir()
    monkeypatch.setenv("EVENKEEL_WAREHOUSE", str(folder))
    return folder
