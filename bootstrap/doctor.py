"""What this machine has, and what to do about what is missing."""

import os
import platform
import shutil
import socket
import sys
from collections.abc import Iterator
from configparser import ConfigParser

from bootstrap.airflow_home import STAMP
from bootstrap.errors import SetupError
from bootstrap.jars import missing_jars
from bootstrap.java import ask_java, find_java_home
from bootstrap.places import ROOT, SPARK_HOME, VENV, WAREHOUSE

NEEDED_GB_DISK = 3
NEEDED_GB_MEMORY = 4
SET_UP = "run `make setup`"


def examine() -> int:
    """Print one line a part: what was found, and a remedy where it will not do. Returns 1 if one will not do."""
    findings = list(_findings())
    for part, found, remedy in findings:
        sys.stdout.write(
            f"{'ok ' if not remedy else '!! '} {part:<10} {found}{f'  → {remedy}' if remedy else ''}\n"
        )
    return int(any(remedy for _, _, remedy in findings))


def _findings() -> Iterator[tuple[str, str, str]]:
    yield "Python", f"{platform.python_version()} at {sys.executable}", ""
    yield "packages", *_there(VENV.joinpath("evenkeel-lock").exists(), f"in {VENV}")
    yield "Java", *_java()
    yield "Spark", *_there(SPARK_HOME.exists(), f"at {SPARK_HOME}")
    lost = missing_jars()
    yield "JARs", "missing: " + ", ".join(lost) if lost else "Delta's, as locked", SET_UP if lost else ""
    yield "Airflow", *_there(STAMP.exists(), "database and secrets made")
    yield "cores", str(os.cpu_count()), ""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    yield (
        "memory",
        f"{memory:.1f} GB",
        "" if memory > NEEDED_GB_MEMORY * 0.9 else f"{NEEDED_GB_MEMORY} GB are needed",
    )
    free = shutil.disk_usage(ROOT).free / 2**30
    yield "disk", f"{free:.1f} GB free", "" if free > NEEDED_GB_DISK else f"free {NEEDED_GB_DISK} GB"
    yield "warehouse", *_warehouse()
    yield "port", *_port()


def _there(is_there: bool, where: str) -> tuple[str, str]:  # noqa: FBT001  (a finding, not a switch)
    return (where, "") if is_there else ("missing", SET_UP)


def _java() -> tuple[str, str]:
    try:
        home = find_java_home()
    except SetupError as error:
        return "not usable", str(error)
    return f"{ask_java(home / 'bin' / 'java').get('java.version', '?')} at {home}", ""


def _warehouse() -> tuple[str, str]:
    folder = os.environ.get("EVENKEEL_WAREHOUSE", str(WAREHOUSE))
    if "://" in folder:
        return folder, ""
    nearest = next(path for path in (WAREHOUSE, ROOT) if path.exists())
    return folder, "" if os.access(nearest, os.W_OK) else f"make {nearest} writable"


def _port() -> tuple[str, str]:
    port = api_port()
    return str(port), "" if is_port_free(port) else f"it is taken: run `make airflow PORT={port + 1}`"


def api_port() -> int:
    """The port of Airflow's pages and API."""
    config = ConfigParser(interpolation=None)
    config.read(ROOT / "airflow.cfg")
    return int(os.environ.get("AIRFLOW__API__PORT", config["api"]["port"]))


def is_port_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True
