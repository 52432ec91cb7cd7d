"""Dags are thin: they parse fast, import nothing heavy, and one broken dataset file hurts no other."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.airflow

ROOT = Path(__file__).parents[2]
LOAD_ALL = """
import json, sys
from airflow.dag_processing.dagbag import DagBag
bag = DagBag(dag_folder=sys.argv[1])
print("RESULT" + json.dumps({
    "dags": {name: {task.task_id: sorted(task.upstream_task_ids) for task in dag.tasks} for name, dag in bag.dags.items()},
    "errors": {path.rpartition("/")[2]: text for path, text in bag.import_errors.items()},
    "heavy": sorted({"pyspark", "great_expectations", "delta", "numpy"} & set(sys.modules)),
    "pools": sorted({task.pool for dag in bag.dags.values() for task in dag.tasks}),
}))
"""


def load_dags(env):
    """What Airflow's own loader finds, in a fresh process."""
    command = [sys.executable, "-c", LOAD_ALL, str(ROOT / "dags")]
    done = subprocess.run(command, env=env, cwd=ROOT, capture_output=True, text=True, check=True)
    return json.loads(done.stdout.partition("RESULT")[2])


@pytest.fixture
def loaded(airflow_env, datasets):
    return load_dags(airflow_env)


DAGS = ["audit__visits", "maintain__visits", "rebalance__visits", "roll_back__visits"]


def test_every_dataset_has_its_dags(loaded):
    """One file, four Dags, and no import errors."""
    assert sorted(loaded["dags"]) == DAGS
    assert loaded["errors"] == {}


def test_nothing_migrates_before_the_plan_is_validated(loaded):
    """The one edge that protects users' data; the others follow the loop."""
    upstream = loaded["dags"]["rebalance__visits"]

    assert upstream == {
        "window": [], "check": ["window"], "profile": ["check"], "plan": ["profile"], "gate": ["plan"],
        "approve": ["gate"], "validate": ["approve"], "migrate": ["validate"], "verify": ["migrate"],
        "report": ["verify", "window"],
    }  # fmt: skip


def test_roll_back_is_verified_before_it_is_listed(loaded):
    """Whoever reads the list may rely on it."""
    assert loaded["dags"]["roll_back__visits"] == {
        "asked": [], "roll_back": ["asked"], "verify": ["roll_back"], "list_runs": ["verify"],
    }  # fmt: skip


def test_parsing_imports_neither_spark_nor_great_expectations(loaded):
    """The Dag processor parses every 30 seconds, for ever."""

    assert loaded["heavy"] == []


def test_broken_dataset_file_hurts_no_other(airflow_env, datasets):
    """It shows as one import error with all its mistakes; the other dataset's Dag lives on."""
    (datasets / "broken.yaml").write_text("name: Broken\nschedule: sometimes\nbudget: {}\n")

    loaded = load_dags(airflow_env)

    assert sorted(loaded["dags"]) == DAGS
    assert list(loaded["errors"]) == ["dataset_errors.py"]
    for sentence in (
        "name must match",
        "schedule must match",
        "budget must be a known field",
        "state must be given",
    ):
        assert f"broken.yaml: {sentence}" in loaded["errors"]["dataset_errors.py"]


def test_datasets_that_share_a_state_table_hurt_no_other(airflow_env, datasets):
    """Neither gets a Dag, for each would load into the other's table; both are told, and the others run on."""
    for name in ("one", "two"):
        text = (datasets / "visits.yaml").read_text()
        shared = text.replace("name: visits", f"name: {name}").replace("visits/state", "shared/state")
        (datasets / f"{name}.yaml").write_text(shared)

    loaded = load_dags(airflow_env)

    assert sorted(loaded["dags"]) == DAGS
    said = loaded["errors"]["dataset_errors.py"]
    assert "one.yaml: state.table must belong to one dataset." in said
    assert "two.yaml: state.table must belong to one dataset." in said


def test_all_steps_that_touch_tables_share_one_pool(loaded):
    """One writer a dataset; only waiting for a person needs no slot."""
    assert loaded["pools"] == ["default_pool", "evenkeel_visits"]
