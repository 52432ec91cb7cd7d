"""Airflow's database, secrets and login: made once, in a folder that git ignores, readable by the owner alone."""

import base64
import json
import os
import secrets
import subprocess
from pathlib import Path

from bootstrap.errors import SetupError
from bootstrap.packages import last_line
from bootstrap.places import AIRFLOW, PASSWORDS, REQUIREMENTS, SECRETS, VENV

DATABASE = AIRFLOW / "airflow.db"
STAMP = AIRFLOW / "migrated"


def ensure_secrets() -> None:
    """Keys that Airflow's processes share, and a password for the user ``admin``."""
    AIRFLOW.mkdir(parents=True, exist_ok=True)
    AIRFLOW.chmod(0o700)
    if not SECRETS.exists():
        keys = {
            "AIRFLOW__CORE__FERNET_KEY": base64.urlsafe_b64encode(secrets.token_bytes(32)).decode(),
            "AIRFLOW__API__SECRET_KEY": secrets.token_hex(32),
            "AIRFLOW__API_AUTH__JWT_SECRET": secrets.token_hex(32),
        }
        write_private(SECRETS, "".join(f"{name}={value}\n" for name, value in keys.items()))
    if not PASSWORDS.exists():
        write_private(PASSWORDS, json.dumps({"admin": secrets.token_urlsafe(12)}))


def write_private(path: Path, text: str) -> None:
    """Write a file that only its owner can read, from its first moment on."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(text)


def ensure_database(env: dict[str, str]) -> str:
    """Create or migrate Airflow's database when the locked packages have changed since."""
    lock = REQUIREMENTS.read_text()
    if STAMP.exists() and STAMP.read_text() == lock:
        return "there already"
    command = [str(VENV / "bin" / "airflow"), "db", "migrate"]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SetupError(
            f"Airflow's database must be creatable in {AIRFLOW}. Airflow said: {last_line(done.stderr)!r}."
            " Run `make clean` and set up again; if that fails too, run `airflow db migrate` by hand."
        )
    DATABASE.chmod(0o600)
    STAMP.write_text(lock)
    return "made"
