"""Delta's JARs, fetched once by Spark itself and checked against conf/jars.sha256."""

import hashlib
import os
import shutil
import subprocess
from pathlib import Path

from bootstrap.errors import SetupError
from bootstrap.places import JARS, JARS_LOCK, PRIVATE, SPARK_HOME, TMP, VENV_PYTHON
from bootstrap.trust_store import trust_options

PACKAGE = "io.delta:delta-spark_4.1_2.13:4.4.0"


def locked_jars() -> dict[str, str]:
    """File name → SHA-256, as conf/jars.sha256 lists them."""
    lines = JARS_LOCK.read_text().splitlines()
    return {
        name: digest for digest, name in (line.split() for line in lines if line and not line.startswith("#"))
    }


def missing_jars() -> list[str]:
    """The locked JARs that are not here, or not what was locked."""
    return [name for name, digest in locked_jars().items() if _digest(JARS / name) != digest]


def ensure_jars(java_home: Path) -> str:
    """Bring the locked JARs into the repository."""
    if not missing_jars():
        return "there already"
    ivy = PRIVATE / "ivy"
    said = _resolve(java_home, ivy)
    JARS.mkdir(parents=True, exist_ok=True)
    for name in locked_jars():
        fetched = ivy / "jars" / name
        if fetched.is_file():
            shutil.copyfile(fetched, JARS / name)
    shutil.rmtree(ivy, ignore_errors=True)
    if missing_jars():
        raise SetupError(
            f"Delta's JARs must match conf/jars.sha256. Got nothing usable for {', '.join(missing_jars())};"
            f" Spark said: {said!r}. The first set-up needs a network: connect, then run it again."
        )
    return "fetched"


def _resolve(java_home: Path, ivy: Path) -> str:
    """Let a throw-away spark-submit resolve the package; return its last words."""
    nothing = TMP / "nothing.py"
    nothing.write_text("")
    options = [f"-Djava.io.tmpdir={TMP}", "-XX:-UsePerfData", *trust_options(java_home)]
    command = [
        str(SPARK_HOME / "bin" / "spark-submit"),
        *("--packages", PACKAGE),
        *("--conf", f"spark.jars.ivy={ivy}"),
        *("--driver-java-options", " ".join(options)),
        str(nothing),
    ]
    env = {
        **os.environ,
        "JAVA_HOME": str(java_home),
        "SPARK_HOME": str(SPARK_HOME),
        "SPARK_CONF_DIR": str(TMP),  # not conf/: its settings need the JARs
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_LOCAL_DIRS": str(TMP),
        "SPARK_LAUNCHER_OPTS": "-XX:-UsePerfData",
        "PYSPARK_PYTHON": str(VENV_PYTHON),
    }
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    lines = [line.strip() for line in done.stderr.splitlines() if "Exception" in line or "unresolved" in line]
    return lines[0] if lines else "nothing"


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
