"""Shared by all tests: one Spark session, and a warehouse of its own for each test that writes."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


# Over a few hundred rows Spark spends more on compiling a query than on running it. Jobs that tests start as users do, through
# Airflow, the command line or spark-submit, keep Spark's own way.
INTERPRETED = {"spark.sql.codegen.wholeStage": "false", "spark.sql.codegen.factoryMode": "NO_CODEGEN"}
LONGEST = "test_running_airflow.py"  # a quarter of an hour, nearly all of it waiting for Airflow


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest file begins first: files are shared out in this order, and nobody should have to wait for it at the end."""
    items.sort(key=lambda item: item.path.name != LONGEST)


def interpreting(*options: str) -> dict[str, str]:
    """The environment of another process whose Spark does not compile queries either, started with these options."""
    settings = [word for name, value in INTERPRETED.items() for word in ("--conf", f"{name}={value}")]
    return {**os.environ, "PYSPARK_SUBMIT_ARGS": " ".join([*options, *settings, "pyspark-shell"])}


@pytest.fixture(scope="session")
def spark() -> "Iterator[SparkSession]":
    """Real Spark with real Delta, started once, with the settings of conf/ but for compiled queries."""
    if "SPARK_CONF_DIR" not in os.environ:
        pytest.fail(
            "Spark's settings must be in the environment. Run `make test`, or source .evenkeel/env.sh first."
        )
    from pyspark.sql import SparkSession

    session = SparkSession.builder.appName("tests").config(map=INTERPRETED).getOrCreate()
    yield session
    session.stop()


@pytest.fixture
def warehouse(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty warehouse whose path has a space and an umlaut, as users' paths do."""
    folder = tmp_path / "ware house ü"
    folder.mkdir()
    monkeypatch.setenv("EVENKEEL_WAREHOUSE", str(folder))
    return folder
