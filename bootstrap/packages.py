"""The virtual environment: exactly what requirements.txt locks, nothing else."""

import hashlib
import shutil
import subprocess
import sys
import venv

from bootstrap.errors import SetupError
from bootstrap.places import REQUIREMENTS, VENV, VENV_PYTHON

STAMP = VENV / "evenkeel-lock"


def ensure_venv() -> str:
    """Make the environment match the lock. Interrupted or outdated ones are made anew."""
    lock = hashlib.sha256(REQUIREMENTS.read_bytes()).hexdigest()
    if STAMP.exists() and STAMP.read_text() == lock and VENV_PYTHON.exists():
        return "there already"
    if VENV.exists():
        shutil.rmtree(VENV)
    venv.create(VENV, with_pip=True)
    _install()
    STAMP.write_text(lock)
    return "installed"


def _install() -> None:
    command = [
        str(VENV_PYTHON), "-m", "pip", "install",
        "--quiet", "--disable-pip-version-check", "--no-cache-dir", "--no-input",
        "--require-hashes",  # what was locked, or nothing
        "--no-deps",  # the lock is complete; pyspark-client must not come in through the Spark provider
        "-r", str(REQUIREMENTS),
    ]  # fmt: skip
    done = subprocess.run(command, stdout=sys.stderr, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        raise SetupError(
            "The packages of requirements.txt could not be installed. pip said:"
            f" {last_line(done.stderr)!r}. The first set-up needs a network: connect, then run it again."
        )


def last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "nothing"
