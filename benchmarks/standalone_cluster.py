"""A standalone Spark cluster on this machine: a master and workers, from the installed package."""

import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

LONGEST = 60.0  # seconds to wait for the master to listen, and for a process to end


@contextmanager
def standalone_cluster(folder: Path, *, n_workers: int, cores: int) -> Iterator[str]:
    """The master's URL; each worker runs ``cores`` tasks at once, whatever the machine has. Logs and work folders are below ``folder``; no process outlives the block."""
    folder.mkdir(parents=True)
    port = _free_port()
    url = f"spark://127.0.0.1:{port}"
    with ExitStack() as stack:
        master = ("master.Master", "--port", str(port), "--webui-port", "0")
        stack.enter_context(_daemon(folder / "master.log", *master))
        _wait_for(port)
        for n in range(n_workers):
            work = folder / f"worker_{n}"
            size = ("--cores", str(cores), "--memory", "2g", "--webui-port", "0", "--work-dir", str(work))
            stack.enter_context(_daemon(folder / f"worker_{n}.log", "worker.Worker", *size, url))
        yield url


@contextmanager
def _daemon(log: Path, kind: str, *arguments: str) -> Iterator[None]:
    """One of Spark's own programs, in a process group of its own: its executors end with it."""
    spark_class = Path(os.environ["SPARK_HOME"]) / "bin" / "spark-class"
    command = [str(spark_class), f"org.apache.spark.deploy.{kind}", "--host", "127.0.0.1", *arguments]
    env = os.environ | {"SPARK_DAEMON_MEMORY": "256m"}
    with (
        log.open("w") as said,
        subprocess.Popen(command, env=env, stdout=said, stderr=said, start_new_session=True) as process,
    ):
        try:
            yield
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait(LONGEST)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait_for(port: int) -> None:
    end = time.monotonic() + LONGEST
    while not _is_listening(port):
        if time.monotonic() > end:
            raise TimeoutError(
                f"the master must listen on port {port} within {LONGEST:.0f} seconds. Got nothing. Read its log."
            )
        time.sleep(0.1)


def _is_listening(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
