"""Airflow for real on this machine: API server, scheduler and Dag processor, started and ended together."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import FrameType

from bootstrap.doctor import api_port, is_port_free
from bootstrap.places import PASSWORDS

PROCESSES = ("api-server", "dag-processor", "scheduler")  # ended in the reverse order


def main(argv: list[str]) -> int:
    if argv:
        os.environ["AIRFLOW__API__PORT"] = argv[0]
    port = api_port()
    if not is_port_free(port):
        sys.stderr.write(
            f"Port {port} must be free. Got one in use. Stop what uses it, or run `make airflow PORT={port + 1}`.\n"
        )
        return 1
    os.environ["AIRFLOW__API__BASE_URL"] = f"http://127.0.0.1:{port}"
    os.environ["AIRFLOW__CORE__EXECUTION_API_SERVER_URL"] = f"http://127.0.0.1:{port}/execution/"
    if subprocess.run([sys.executable, "-m", "dags.pools"], check=False).returncode:
        return 1
    sys.stdout.write(
        f"Airflow at http://127.0.0.1:{port}  user admin  password {_password()}\nCtrl-C ends it.\n"
    )
    sys.stdout.flush()
    return _run_all()


def _password() -> str:
    return str(json.loads(PASSWORDS.read_text())["admin"])


def _run_all() -> int:
    """Run until one process ends or a signal comes; then end the others. 0 only if the user ended it."""
    _on_signals(_interrupt)  # a shell may have told us to ignore the first
    processes = [subprocess.Popen(["airflow", name], start_new_session=True) for name in PROCESSES]
    try:
        while all(process.poll() is None for process in processes):
            time.sleep(0.5)
    except KeyboardInterrupt:
        return 0
    finally:
        _on_signals(signal.SIG_IGN)  # whoever is impatient must not leave half of it running
        for process in reversed(processes):
            _end(process)
    return 1


def _on_signals(action: Callable[[int, FrameType | None], None] | signal.Handlers) -> None:
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, action)


def _interrupt(_signal: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _end(process: subprocess.Popen[bytes], *, patience: float = 20) -> None:
    """Ask, wait, then insist; its whole session, so that no task is left behind: each is a process group of its own."""
    process.terminate()
    with suppress(subprocess.TimeoutExpired):
        process.wait(patience)
    for pid in _all_pids():
        with suppress(ProcessLookupError, PermissionError):
            if os.getsid(pid) == process.pid:
                os.kill(pid, signal.SIGKILL)
    process.wait()


def _all_pids() -> list[int]:
    """By Linux's own list, where small images may lack `ps`; macOS has that and no such list."""
    if Path("/proc/self").exists():
        return [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]
    listed = subprocess.run(["ps", "-A", "-o", "pid="], capture_output=True, text=True, check=True)
    return [int(pid) for pid in listed.stdout.split()]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
