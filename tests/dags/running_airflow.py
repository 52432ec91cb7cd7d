"""A real Airflow for tests: API server, scheduler and Dag processor, spoken to through the REST API alone."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

import httpx

from bootstrap.places import PASSWORDS

ROOT = Path(__file__).parents[2]
PATIENCE = 1800.0  # seconds for what a run has to do, on a machine that has other things to do
DONE = ("success", "failed")


class Airflow:
    """What a user's script would call."""

    def __init__(self, port: int, pid: int) -> None:
        self.pid = pid  # of the process that all others descend from
        self._client = httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60)

    def log_in(self) -> None:
        password = json.loads(PASSWORDS.read_text())["admin"]
        answer = self._client.post("/auth/token", json={"username": "admin", "password": password})
        self._client.headers["Authorization"] = f"Bearer {answer.raise_for_status().json()['access_token']}"

    def ask(self, method: str, path: str, body: Any = None, **query: Any) -> httpx.Response:
        """Any call, whatever it answers; the token is fetched anew when it has run out."""
        answer = self._client.request(method, f"/api/v2{path}", json=body, params=query)
        if answer.status_code == httpx.codes.UNAUTHORIZED:
            self.log_in()
            answer = self._client.request(method, f"/api/v2{path}", json=body, params=query)
        return answer

    def get(self, path: str, **query: Any) -> Any:
        return self.ask("GET", path, **query).raise_for_status().json()

    def unpause(self, dag: str) -> None:
        self.ask("PATCH", f"/dags/{dag}", {"is_paused": False}).raise_for_status()

    def trigger(self, dag: str, **conf: Any) -> str:
        """Start a run by hand; its id."""
        answer = self.ask("POST", f"/dags/{dag}/dagRuns", {"logical_date": None, "conf": conf})
        return str(answer.raise_for_status().json()["dag_run_id"])

    def backfill(self, dag: str, first: datetime, last: datetime) -> list[dict[str, Any]]:
        """Airflow's own backfill over all windows from first to last, those done already included; its runs, once done."""
        command = ["airflow", "backfill", "create", "--dag-id", dag, "--from-date", first.isoformat(),
                   "--to-date", last.isoformat(), "--max-active-runs", "1", "--reprocess-behavior", "completed"]  # fmt: skip
        subprocess.run(command, check=True, capture_output=True)
        return self.runs(dag)

    def runs(self, dag: str) -> list[dict[str, Any]]:
        """By window."""
        runs = self.get(f"/dags/{dag}/dagRuns", limit=100)["dag_runs"]
        return sorted(runs, key=lambda run: (run["logical_date"] or "", run["run_after"]))

    def run(self, dag: str, run_id: str) -> dict[str, Any]:
        return dict(self.get(f"/dags/{dag}/dagRuns/{run_id}"))

    def tasks(self, dag: str = "~", run_id: str = "~") -> list[dict[str, Any]]:
        path = f"/dags/{dag}/dagRuns/{run_id}/taskInstances"
        return list(self.get(path, limit=1000)["task_instances"])

    def states(self, dag: str, run_id: str) -> dict[str, str]:
        return {task["task_id"]: task["state"] for task in self.tasks(dag, run_id)}

    def answer(self, dag: str, run_id: str, task: str) -> Any:
        """What the task left for others."""
        path = f"/dags/{dag}/dagRuns/{run_id}/taskInstances/{task}/xcomEntries/return_value"
        value = self.get(path, deserialize=False)["value"]
        return json.loads(value) if isinstance(value, str) else value

    def wait_for(self, dag: str, run_id: str) -> dict[str, Any]:
        """The run, once it is done."""
        return dict(wait(lambda: _if_done(self.run(dag, run_id)), f"{dag} {run_id}"))

    def clear(self, dag: str, run_id: str, task: str) -> None:
        """This task alone, as an operator would to try it again; returns when the run is done."""
        body = {
            "dag_run_id": run_id, "task_ids": [task], "dry_run": False, "only_failed": False,
        }  # fmt: skip
        self.ask("POST", f"/dags/{dag}/clearTaskInstances", body).raise_for_status()
        self.wait_for(dag, run_id)

    def approve(self, dag: str, run_id: str, choice: str) -> dict[str, Any]:
        """
        The run, once it is done; whenever it asks, it gets this answer, as from a person in the UI, who takes a moment.

        Where the scheduler has not yet noticed that the task stopped to wait, the answer finds it as if it had died, and Airflow
        tries it once more: it asks again.
        """
        return dict(wait(lambda: self._done_or_answered(dag, run_id, choice), f"{dag} {run_id}"))

    def _done_or_answered(self, dag: str, run_id: str, choice: str) -> dict[str, Any] | None:
        if self.states(dag, run_id).get("approve") == "awaiting_input":
            time.sleep(5)
            path = f"/dags/{dag}/dagRuns/{run_id}/taskInstances/approve/-1/hitlDetails"
            answer = self.ask("PATCH", path, {"chosen_options": [choice]})
            if answer.status_code != httpx.codes.CONFLICT:  # it has this answer already
                answer.raise_for_status()
        return _if_done(self.run(dag, run_id))


def _if_done(run: dict[str, Any]) -> dict[str, Any] | None:
    return run if run["state"] in DONE else None


def wait(look: Callable[[], Any], what: str, *, patience: float = PATIENCE) -> Any:
    """The first answer that is something; fails when patience is over."""
    until = time.monotonic() + patience
    while time.monotonic() < until:
        found = look()
        if found:
            return found
        time.sleep(1)
    raise TimeoutError(f"{what} must come within {patience:.0f} s")


@contextmanager
def running_airflow(log: Path, dags: list[str]) -> Iterator[Airflow]:
    """Start it as ``make airflow`` does, with this process's environment; ended with all it started. ``dags`` must be there."""
    port, log_port = _free_port(), _free_port()
    env = os.environ | {"AIRFLOW__LOGGING__WORKER_LOG_SERVER_PORT": str(log_port)}
    with log.open("w") as out:
        command = [sys.executable, "-m", "bootstrap.airflow_server", str(port)]
        server = subprocess.Popen(command, env=env, cwd=ROOT, stdout=out, stderr=out)
    try:
        airflow = Airflow(port, server.pid)
        wait(lambda: _is_up(airflow, server, log), "Airflow", patience=240)
        wait(lambda: _knows(airflow, dags), f"{dags}", patience=240)
        yield airflow
    finally:
        server.send_signal(signal.SIGTERM)
        server.wait(90)


def _is_up(airflow: Airflow, server: subprocess.Popen[bytes], log: Path) -> bool:
    if server.poll() is not None:
        raise RuntimeError(f"Airflow ended with {server.returncode}: {log.read_text()[-2000:]}")
    try:
        airflow.log_in()
    except httpx.HTTPError:
        return False
    return True


def _knows(airflow: Airflow, dags: list[str]) -> bool:
    known = {dag["dag_id"] for dag in airflow.get("/dags", limit=100)["dags"]}
    return set(dags) <= known


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
