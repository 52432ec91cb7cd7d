"""A real cluster of two workers, whose executors die while they write: the same result as embedded."""

import os
import re
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

from spark_jobs.audit_layout import audit
from spark_jobs.table_log import FUNCTION, properties_of
from tests.faults.children import LONGEST, child, kill_group, settings, wait_until, write_order
from tests.faults.killed_job import READY, order_of
from tests.faults.scenes import held_by
from tests.faults.works import WORKS

pytestmark = [pytest.mark.spark, pytest.mark.faults]

EXECUTOR = "CoarseGrainedExecutorBackend"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Cluster:
    """A master and two workers, started from the installed package; each in a process group of its own."""

    def __init__(self, home: Path, folder: Path, stack: ExitStack) -> None:
        self.url = f"spark://127.0.0.1:{free_port()}"
        self.env = settings(home, folder) | {"SPARK_DAEMON_MEMORY": "256m"}
        self.folder, self.stack = folder, stack
        port = self.url.rpartition(":")[2]
        self._start("master.Master", "--port", port, "--webui-port", str(free_port()))
        wait_until(lambda: is_listening(int(port)), what="the master")
        self.workers = [
            self._start(
                "worker.Worker", "--cores", "1", "--memory", "1g", "--webui-port", str(free_port()),
                "--work-dir", str(folder / f"work_{n}"), self.url,
            )
            for n in range(2)
        ]  # fmt: skip

    def _start(self, kind: str, *arguments: str) -> "subprocess.Popen[bytes]":
        spark_class = Path(os.environ["SPARK_HOME"]) / "bin" / "spark-class"
        command = [str(spark_class), f"org.apache.spark.deploy.{kind}", "--host", "127.0.0.1", *arguments]
        log = self.stack.enter_context((self.folder / f"{kind}.{time.monotonic_ns()}.log").open("w"))
        process = self.stack.enter_context(
            subprocess.Popen(command, env=self.env, stdout=log, stderr=log, start_new_session=True)
        )
        self.stack.callback(kill_group, process)
        return process

    def executors(self) -> list[int]:
        """The executors that run now: children of our workers, and nobody else's."""
        listed = subprocess.run(
            ["ps", "-A", "-ww", "-o", "pid=,pgid=,stat=,args="], capture_output=True, text=True, check=True
        )
        found = re.findall(r"^\s*(\d+)\s+(\d+)\s+([^Z]\S*)\s.*" + EXECUTOR, listed.stdout, re.MULTILINE)
        groups = {worker.pid for worker in self.workers}
        return [int(pid) for pid, group, _ in found if int(group) in groups]

    def kill_executors(self) -> int:
        """SIGKILL to all of them; how many there were."""
        pids = self.executors()
        for pid in pids:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        return len(pids)


def is_listening(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@pytest.fixture
def cluster(home, tmp_path) -> Iterator[Cluster]:
    if shutil.which("ps") is None:
        pytest.skip("the executors are found with ps, which this machine lacks")
    with ExitStack() as stack:
        yield Cluster(home, tmp_path, stack)


def data_files(scene) -> set[Path]:
    return {path for path in Path(scene.dataset.state).rglob("*.parquet") if "_delta_log" not in path.parts}


def test_executors_killed_while_writing_give_the_same_table_as_embedded(
    scenes, scene, home, cluster, tmp_path
):
    """
    Executors are taken away every day: preempted, out of memory, on a machine that is gone.

    A driver loads, migrates and settles on the cluster. As soon as a job has put down its first new data file, and again a
    moment later, all executors are killed. Their tasks run again elsewhere; no row may be there twice because two tries of a
    task both wrote, and none may be missing.
    """
    order = write_order(
        tmp_path / "order.json", {"task": order_of(scene.task(2)), "work": "chain", "step": None}
    )
    arguments = (
        f"--master {cluster.url} --driver-memory 600m --conf spark.executor.memory=512m --conf spark.cores.max=2"
        " --conf spark.task.maxFailures=20 pyspark-shell"
    )
    env = settings(home, scene.folder) | {"PYSPARK_SUBMIT_ARGS": arguments}
    log, n_killed = tmp_path / "driver.log", []
    with child("tests.faults.killed_job", order, env=env, log=log) as driver:
        assert driver.stdout.readline().strip() == READY, log.read_text()[-2000:]
        for _ in range(2):
            seen = data_files(scene)
            wait_until(
                lambda seen=seen: driver.poll() is not None or data_files(scene) - seen,
                what="a new data file",
            )
            n_killed.append(cluster.kill_executors())
            wait_until(lambda: driver.poll() is not None or cluster.executors(), what="a new executor")
        driver.wait(LONGEST)
        assert driver.returncode == 0, log.read_text()[-3000:]

    assert sum(n_killed) >= 2, "the driver was done before anything could be killed"
    with scenes("settled").copied_to(tmp_path / "embedded").entered() as embedded:
        WORKS["chain"](embedded.task(2))
        wanted, function = held_by(embedded.dataset), properties_of(embedded.dataset)[FUNCTION]
    with scene.entered():
        assert held_by(scene.dataset) == wanted
        assert properties_of(scene.dataset)[FUNCTION] == function
        facts = audit(scene.task(2))
        assert (facts["rows_astray"], facts["false_files"], facts["rows"]) == (0, 0, wanted.rows.total())
