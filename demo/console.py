"""What the user sees, apart from what programs log."""

import os
import re
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
        self._log_before = 0  # bytes in the log when the step began

    def say(self, text: str) -> None:
        self._out.write(f"{text}\n")
        self._out.flush()

    def begin_step(self, name: str) -> None:
        self._step_started = time.monotonic()
        self._log_before = self.log.stat().st_size
        self._out.write(f"  {name:<10}")
        self._out.flush()

    def end_step(self, outcome: str) -> None:
        self.say(f"{time.monotonic() - self._step_started:6.1f} s  {outcome}")

    def reason(self) -> str:
        """Why the last step failed: its job's own sentence, or the first exception since it began."""
        since = self.log.read_bytes()[self._log_before :].decode(errors="replace")
        sentences = re.findall(r"ERROR: (.+?)(?: \[airflow\.|$)", since, flags=re.MULTILINE)
        exceptions = re.findall(
            r"\b(\w*(?:Error|Exception): .+?)(?: \[airflow\.|$)", since, flags=re.MULTILINE
        )
        return next(iter([*sentences, *exceptions]), "no reason was left; see the log")
