"""A dataset whose tables are made by delta-rs: what reads and plans needs no Spark, so neither do its tests."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import yaml
from deltalake import DeltaTable

from cli.main import main
from partitioning.function_json import text_of_key
from partitioning.hashing import slot_of
from schemas.dataset import Dataset, dataset_named
from schemas.tables import ITEM_STATS
from spark_jobs.control_tables import replace_rows, save_function
from spark_jobs.table_log import FUNCTION, initial_function
from tests.spark_jobs.conftest import templates  # noqa: F401  (a fixture)

START = datetime(2026, 1, 3, tzinfo=UTC)
DAY = timedelta(days=1)
# One key that would clear the screen, one that is wide, one that looks like a bucket, the NULL key, and plain ones.
KEYS = ["\x1b[2J\x1b[31mred", "大阪 🚀", "bucket:1", None, *(f"user {i}" for i in range(12))]


def dataset_file(folder: Path, **changes: Any) -> Path:
    """A dataset file of string keys; ``changes`` replace whole fields."""
    fields = {
        "name": "visits",
        "schedule": "@daily",
        "start": "2026-01-03",
        "key": {"column": "who", "type": "string"},
        "events": {"table": "visits/events", "time": "at"},
        "state": {"table": "visits/state"},
        "layout": {"buckets": 4, "slots": 64},
        "budgets": {"max_imbalance": 0.08, "max_routes": 20, "max_migration": 0.6},
    }
    fields |= changes
    path = folder / f"{fields['name']}.yaml"
    path.write_text(yaml.safe_dump(fields))
    return path


@pytest.fixture
def datasets(tmp_path, warehouse, monkeypatch) -> Path:
    """A folder of dataset files with one in it, ``visits``; nothing is created yet."""
    folder = tmp_path / "datasets"
    folder.mkdir()
    monkeypatch.setenv("EVENKEEL_DATASETS", str(folder))
    dataset_file(folder)
    return folder


@pytest.fixture
def created(datasets) -> Dataset:
    """The same, with its state table under the plain hash, and no window profiled."""
    dataset = dataset_named("visits")
    function = initial_function(dataset)
    save_function(dataset.name, function)
    schema = pa.schema([("who", pa.string()), ("slot", pa.int32()), ("bucket", pa.int32())])
    DeltaTable.create(
        dataset.state,
        schema=schema,
        partition_by=["bucket"],
        configuration={FUNCTION: function.digest},
        raise_if_key_not_exists=False,
    )
    return dataset


@pytest.fixture
def profiled(created) -> Dataset:
    """The same, with a profiled window in which a few keys are hot."""
    write_window(created, START)
    return created


def write_window(dataset: Dataset, start: datetime, heat: float = 1.0) -> None:
    """Slots cost a little each, key number i costs 200 / (i + 1), ``heat`` times over."""
    rng = np.random.default_rng(5)
    times = {"window_end": start + DAY}
    slots = [
        {
            **times,
            "kind": "slot",
            "slot": slot,
            "key": None,
            "cost": float(rng.integers(5, 15)),
            "state": 100.0,
        }
        for slot in range(dataset.n_slots)
    ]
    keys = [
        {
            **times,
            "kind": "key",
            "slot": slot_of(key, "string", dataset.n_slots),
            "key": text_of_key(key),
            "cost": heat * 200.0 / (rank + 1),
            "state": 50.0,
        }
        for rank, key in enumerate(KEYS)
    ]
    replace_rows([*slots, *keys], ITEM_STATS, dataset=dataset.name, window_start=start)


@pytest.fixture
def evenkeel(capsys):
    """``evenkeel(*words)``: exit code, standard output and standard error of the command."""

    def call(*words: str) -> tuple[int, str, str]:
        code = main(list(words))
        said = capsys.readouterr()
        return code, said.out, said.err

    return call


@pytest.fixture
def answer(evenkeel):
    """``answer(*words)``: the one document of the command with --json, which must succeed."""

    def call(*words: str) -> Any:
        code, out, err = evenkeel(*words, "--json")
        assert code == 0, err
        return json.loads(out)

    return call
