"""
The classes of Spark and Delta in an archive that every driver maps instead of loading, checking and linking them one by one.

Java calls it class data sharing. It is made once, by a run of the loop on a toy table, and used only as long as Java and all JARs are
those it was made with: Java checks that itself and otherwise starts as it always did. ``conf/spark-env.sh`` hands it to Spark.
"""

import hashlib
import shutil
import subprocess
from pathlib import Path

from bootstrap.environment import command_environment
from bootstrap.places import CLASS_ARCHIVE, JARS_LOCK, NO_SETTINGS, REQUIREMENTS, ROOT, TMP, VENV_PYTHON

_STAMP = CLASS_ARCHIVE.with_suffix(".stamp")


def ensure_class_archive(java_home: Path) -> str:
    """Make the archive unless it is there; without one Spark starts more slowly, and that is all."""
    made_of = _made_of(java_home)
    if _STAMP.exists() and _STAMP.read_text() == made_of:
        return "there already"
    CLASS_ARCHIVE.unlink(missing_ok=True)
    NO_SETTINGS.mkdir(exist_ok=True)
    said = _run_toy(java_home)
    if not CLASS_ARCHIVE.exists():
        NO_SETTINGS.rmdir()
    _STAMP.write_text(made_of)
    return "made" if CLASS_ARCHIVE.exists() else f"none, Spark starts more slowly: {said}"


def _made_of(java_home: Path) -> str:
    """What the archive must be made anew for: another place, Java, Delta or Spark."""
    java = (java_home / "bin" / "java").resolve()
    parts = [
        str(ROOT),
        str(java),
        str(java.stat().st_mtime_ns),
        JARS_LOCK.read_text(),
        REQUIREMENTS.read_text(),
    ]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def _run_toy(java_home: Path) -> str:
    """Its last line."""
    warehouse = TMP / "toy"
    env = {
        **command_environment(java_home),
        "EVENKEEL_WAREHOUSE": str(warehouse),
        "SPARK_SUBMIT_OPTS": f'-XX:ArchiveClassesAtExit="{CLASS_ARCHIVE}"',
    }
    command = [str(VENV_PYTHON), "-m", "demo.toy_loop"]
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    shutil.rmtree(warehouse, ignore_errors=True)
    return (done.stderr.strip().splitlines() or ["nothing was said"])[-1]
