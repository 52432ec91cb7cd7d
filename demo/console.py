"""What the user sees, apart from what programs log."""

import os
import sys
import time
from pathlib import Path


class Console:
    """Lines for the user on the real standard output; everything else that is printed goes to a log file."""

    def __init__(self, log: Path) -> None:
        log.parent.mkdir(parents=True, exist_ok=True)
        self.log = log
        self._out = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
        sys.stdout.flush()
        sys.stderr.flush()
        descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND, 0o600)
        os.dup2(descriptor, 1)  # Airflow, spark-submit and all they start write here
        os.dup2(descriptor, 2)
        self._step_started = 0.0

    def say(self, text: str) -> None:
        self._out.write(f"{text}\n")
        self._out.flush()

    def begin_step(self, name: str) -> None:
        self._step_started = time.monotonic()
        self._out.write(f"  {name:<10}")
        self._out.flush()

    def end_step(self, outcome: str) -> None:
        self.say(f"{time.monotonic() - self._step_started:6.1f} s  {outcome}")

    def last_error(self) -> str:
        """The newest sentence that a job failed with, or where to look."""
        errors = [line for line in self.log.read_text(errors="replace").splitlines() if "ERROR: " in line]
        return errors[-1].partition("ERROR: ")[2] if errors else "no sentence was left; see the log"
