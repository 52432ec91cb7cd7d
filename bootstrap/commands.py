"""The commands of ``python3 -m bootstrap``; the Makefile calls them."""

import argparse
import os
import sys
import time
from collections.abc import Callable

from bootstrap.airflow_home import ensure_database, ensure_secrets
from bootstrap.class_archive import ensure_class_archive
from bootstrap.doctor import examine
from bootstrap.environment import command_environment, write_env_file
from bootstrap.errors import SetupError
from bootstrap.jars import ensure_jars
from bootstrap.java import find_java_home
from bootstrap.packages import ensure_venv
from bootstrap.places import CACHE, TMP


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python3 -m bootstrap", description=__doc__)
    parser.add_argument(
        "command", choices=["setup", "doctor"], help="set this clone up, or say what was found"
    )
    command = parser.parse_args(argv).command
    try:
        return {"setup": set_up, "doctor": examine}[command]()
    except SetupError as error:
        sys.stderr.write(f"{error}\n")
        return 1


def set_up() -> int:
    """Make everything that a run needs. Takes about a second when there is nothing to do."""
    os.environ.update(
        {"XDG_CACHE_HOME": str(CACHE), "TMPDIR": str(TMP)}
    )  # not in the user's home, not in /tmp
    TMP.mkdir(parents=True, exist_ok=True)
    _step("packages", ensure_venv)
    java_home = find_java_home()
    _step("Delta's JARs", lambda: ensure_jars(java_home))
    ensure_secrets()
    write_env_file(java_home)
    _step("archive of Spark's classes", lambda: ensure_class_archive(java_home))
    _step("Airflow's database", lambda: ensure_database(command_environment(java_home)))
    return 0


def _step(what: str, work: Callable[[], str]) -> None:
    """Say what is being done before it takes its time, and how it ended."""
    started = time.monotonic()
    sys.stderr.write(f"set-up: {what} ... ")
    sys.stderr.flush()
    answer = work()
    sys.stderr.write(f"{answer} ({time.monotonic() - started:.0f} s)\n")
