"""Who wired a function of their own hears of failures and missed deadlines, from a real Airflow."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from dags.signals import is_told
from tests.dags.running_airflow import Airflow, running_airflow, wait

pytestmark = pytest.mark.airflow

ALERTS = """
from pathlib import Path

def tell(context):
    task = context.get("task_instance") or context.get("ti")
    with (Path(__file__).parent / "alerts.txt").open("a") as alerts:
        alerts.write(f"{task.task_id if task else 'deadline'}\\n")
"""


@pytest.fixture
def airflow(airflow_env, datasets, tmp_path, monkeypatch) -> Iterator[Airflow]:
    """With a function of the user's own, and a dataset whose runs must be done in a minute."""
    (tmp_path / "my_alerts.py").write_text(ALERTS)
    monkeypatch.setenv("PYTHONPATH", f"{os.environ['PYTHONPATH']}{os.pathsep}{tmp_path}")
    monkeypatch.setenv("EVENKEEL_ON_FAILURE", "my_alerts:tell")
    file = datasets / "visits.yaml"
    file.write_text(file.read_text().replace("audit: null}", "audit: null, deadline_minutes: 1}"))
    with running_airflow(tmp_path / "airflow.log", ["rebalance__visits"]) as airflow:
        yield airflow


def alerts_in(folder: Path) -> list[str]:
    file = folder / "alerts.txt"
    return file.read_text().split() if file.exists() else []


def test_failures_and_missed_deadlines_call_the_users_function(airflow, tmp_path):
    """A run of a paused Dag waits, and is late after a minute; then its params are refused, which is a failed task."""
    run = airflow.trigger("rebalance__visits", max_imbalanse=0.5)
    wait(lambda: "deadline" in alerts_in(tmp_path), "the deadline", patience=300)
    assert "window" not in alerts_in(tmp_path)
    airflow.unpause("rebalance__visits")

    assert airflow.wait_for("rebalance__visits", run)["state"] == "failed"
    wait(lambda: "window" in alerts_in(tmp_path), "the failure", patience=60)


def test_an_event_is_sent_for_each_change_and_not_for_each_try():
    """A follower must not go on with a function that the table has left: back and forth again are two changes more."""
    there, back, again = ({"plan": "p", "function": name, "version": n} for n, name in enumerate("aba"))

    assert is_told(there, there | {"bytes_written": 1})
    assert not is_told(back, there)
    assert not is_told(again, back)
    assert not is_told(again, there)  # back was done at a terminal, which sends none
    assert not is_told(there, {"plan": "p", "function": "a"})  # as earlier versions sent it
