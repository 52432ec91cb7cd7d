"""Other processes: each with a JVM of its own, in a session of its own, gone when the test is."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from schemas.dataset import ROOT
from tests.conftest import interpreting

LONGEST = 600.0  # seconds; a child that takes longer hangs
SMALL = ("--master", "local[1]", "--driver-memory", "600m")

QUICK = "-XX:+UnlockDiagnosticVMOptions -XX:-BytecodeVerificationRemote"  # classes load faster unverified


def own_home(folder: Path) -> Path:
    """A folder that Spark takes for the clone: the same settings and JARs, but its left-overs end here."""
    (folder / ".evenkeel" / "tmp").mkdir(parents=True)
    (folder / "conf").symlink_to(ROOT / "conf")
    for shared in ("jars", "classes.jsa", "no_settings"):
        (folder / ".evenkeel" / shared).symlink_to(ROOT / ".evenkeel" / shared)
    return folder


def settings(home: Path, warehouse: Path) -> dict[str, str]:
    """The environment of a child that works in this warehouse."""
    return {
        **interpreting(*SMALL),
        "EVENKEEL_WAREHOUSE": str(warehouse),
        "SPARK_CONF_DIR": str(home / "conf"),
        "SPARK_SUBMIT_OPTS": QUICK,
        "PYTHONPATH": str(ROOT),
    }


@contextmanager
def child(
    module: str, *arguments: object, env: Mapping[str, str], log: Path
) -> "Iterator[subprocess.Popen[str]]":
    """A Python program of ours in a process group of its own, which does not outlive the block."""
    command = [sys.executable, "-m", module, *map(str, arguments)]
    with (
        log.open("w") as errors,
        subprocess.Popen(
            command,
            cwd=ROOT,
            env=env,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            start_new_session=True,
        ) as process,
    ):
        try:
            yield process
        finally:
            kill_group(process)


def kill_group(process: "subprocess.Popen[Any]") -> None:
    """SIGKILL to all of the group; returns when none of it runs any more."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    wait_until(lambda: not is_group_alive(process.pid), what="the end of a killed process group")


def is_group_alive(group: int) -> bool:
    """Whether a process of this group runs; a dead one that nobody has fetched does not."""
    listed = subprocess.run(["ps", "-A", "-o", "pgid=,stat="], capture_output=True, text=True, check=True)
    found = (line.split() for line in listed.stdout.splitlines())
    return any(int(number) == group and not state.startswith("Z") for number, state in found)


def wait_until(is_true: Callable[[], bool], *, what: str, longest: float = LONGEST) -> None:
    end = time.monotonic() + longest
    while not is_true():
        if time.monotonic() > end:
            raise TimeoutError(f"{what} must come within {longest:.0f} seconds. Got nothing.")
        time.sleep(0.02)


def write_order(path: Path, order: dict[str, Any]) -> Path:
    path.write_text(json.dumps(order))
    return path
