"""Set-up ends in one sentence when it cannot go on."""

import json
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from bootstrap import airflow_home, jars, packages
from bootstrap.errors import SetupError

ROOT = Path(__file__).parents[2]


def test_another_python_is_told_so_in_one_sentence():
    """The check must run under the old Python itself, so it may use no new syntax: here a fake one says 3.8."""
    code = (
        "import sys, runpy; sys.version_info = (3, 8, 10, 'final', 0);"
        "sys.argv = ['bootstrap', 'doctor']; runpy.run_module('bootstrap', run_name='__main__')"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)

    assert done.returncode == 1
    assert done.stderr.startswith("Python must be version 3.11. Got 3.8.10")
    assert len(done.stderr.splitlines()) == 1


def test_no_network_on_first_set_up_is_told_in_one_sentence(monkeypatch, tmp_path):
    """pip's own answer is forty lines of retries."""
    requirements = tmp_path / "requirements.txt"
    requirements.write_text("a-package-nobody-has==1.0 --hash=sha256:" + "0" * 64 + "\n")
    monkeypatch.setattr(packages, "REQUIREMENTS", requirements)
    monkeypatch.setattr(packages, "VENV", tmp_path / "venv")
    monkeypatch.setattr(packages, "VENV_PYTHON", Path(sys.executable))
    monkeypatch.setattr(packages, "STAMP", tmp_path / "stamp")
    monkeypatch.setattr(packages.venv, "create", lambda *_, **__: None)
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    monkeypatch.setenv("PIP_RETRIES", "0")
    monkeypatch.setenv("PIP_FIND_LINKS", "")

    with pytest.raises(
        SetupError, match=r"could not be installed\. pip said: .* The first set-up needs a network"
    ) as caught:
        packages.ensure_venv()

    assert len(str(caught.value).splitlines()) == 1
    assert not (tmp_path / "stamp").exists()


def test_damaged_jar_is_noticed(monkeypatch, tmp_path):
    """A download that broke off must not become a riddle inside Spark."""
    for name in jars.locked_jars():
        (tmp_path / name).write_text("not a jar")
    monkeypatch.setattr(jars, "JARS", tmp_path)

    assert jars.missing_jars() == list(jars.locked_jars())


def test_secrets_are_made_once_and_readable_by_the_owner_alone(monkeypatch, tmp_path):
    """Made anew, they would lock out running processes; readable, they would not be secrets."""
    folder = tmp_path / "airflow"
    monkeypatch.setattr(airflow_home, "AIRFLOW", folder)
    monkeypatch.setattr(airflow_home, "SECRETS", folder / "secrets.env")
    monkeypatch.setattr(airflow_home, "PASSWORDS", folder / "passwords.json")
    airflow_home.ensure_secrets()
    first = (folder / "secrets.env").read_text()
    airflow_home.ensure_secrets()

    assert (folder / "secrets.env").read_text() == first
    assert stat.S_IMODE((folder / "secrets.env").stat().st_mode) == 0o600
    assert stat.S_IMODE((folder / "passwords.json").stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert len(json.loads((folder / "passwords.json").read_text())["admin"]) >= 16
