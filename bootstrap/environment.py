"""The environment every command of this project runs in, as a dictionary and as a file to source."""

import json
import os
import shlex
from pathlib import Path

from bootstrap.places import (
    CACHE,
    ENV_FILE,
    PRIVATE,
    ROOT,
    SECRETS,
    SPARK_HOME,
    TMP,
    VENV,
    VENV_PYTHON,
    WAREHOUSE,
)


def settings(java_home: Path) -> dict[str, str]:
    """What differs from the caller's own environment, PATH aside."""
    return {
        "EVENKEEL_WAREHOUSE": os.environ.get("EVENKEEL_WAREHOUSE", str(WAREHOUSE)),
        "JAVA_HOME": str(java_home),
        "SPARK_HOME": str(SPARK_HOME),
        "SPARK_CONF_DIR": str(ROOT / "conf"),
        "PYSPARK_PYTHON": str(VENV_PYTHON),
        "PYTHONPATH": str(ROOT),
        "AIRFLOW_HOME": str(ROOT),
        "AIRFLOW_CONN_SPARK_DEFAULT": json.dumps({"conn_type": "spark", "host": spark_master()}),
        "TMPDIR": str(TMP),
        "XDG_CACHE_HOME": str(CACHE),
        "MPLCONFIGDIR": str(PRIVATE / "matplotlib"),
        "GX_ANALYTICS_ENABLED": "false",
    }


def spark_master() -> str:
    """The one setting that decides where Spark runs: ``spark.master`` in conf/spark-defaults.conf."""
    for line in (ROOT / "conf" / "spark-defaults.conf").read_text().splitlines():
        words = line.split()
        if words[:1] == ["spark.master"]:
            return words[1]
    return "local[*]"


def command_environment(java_home: Path) -> dict[str, str]:
    """The caller's environment with ours on top, secrets included: for programs that set-up starts itself."""
    path = f"{VENV / 'bin'}:{java_home / 'bin'}:{os.environ.get('PATH', '')}"
    return {**os.environ, **settings(java_home), **read_secrets(), "PATH": path}


def read_secrets() -> dict[str, str]:
    lines = SECRETS.read_text().splitlines()
    return dict(line.split("=", 1) for line in lines)


def write_env_file(java_home: Path) -> None:
    """Write .evenkeel/env.sh, which `make` sources and people may. Secrets stay in their own file."""
    lines = ["# Made by `make setup`; source it to run spark-submit, airflow or pytest by hand."]
    lines += [f"export {name}={shlex.quote(value)}" for name, value in settings(java_home).items()]
    lines.append(
        f'export PATH={shlex.quote(str(VENV / "bin"))}:{shlex.quote(str(java_home / "bin"))}:"$PATH"'
    )
    lines.append(f"set -a; . {shlex.quote(str(SECRETS))}; set +a")
    ENV_FILE.write_text("\n".join(lines) + "\n")
