"""bin/evenkeel: finds its clone from anywhere, and says what to do where set-up has not been."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from schemas.dataset import ROOT


@pytest.fixture
def clone(tmp_path) -> Path:
    """A clone of which there is nothing but the script, in a folder with a space."""
    folder = tmp_path / "my clone"
    (folder / "bin").mkdir(parents=True)
    shutil.copy(ROOT / "bin" / "evenkeel", folder / "bin")
    return folder


def test_clone_that_is_not_set_up_says_so(clone):
    """The first thing that a newcomer may get wrong."""
    done = subprocess.run([clone / "bin" / "evenkeel", "status"], capture_output=True, text=True, check=False)

    assert done.returncode == 1
    assert "must be set up first" in done.stderr
    assert f"make -C '{clone}' setup" in done.stderr


def test_link_finds_its_clone_and_keeps_the_callers_warehouse(clone, tmp_path):
    """Whoever names a warehouse means it, whatever set-up wrote down; words reach the command unchanged."""
    private = clone / ".evenkeel"
    private.mkdir()
    shown = 'python() { echo "$EVENKEEL_WAREHOUSE|$*"; }; exec() { "$@"; }\n'  # in the place of the program
    (private / "env.sh").write_text(f"export EVENKEEL_WAREHOUSE=/set/up\n{shown}")
    link = tmp_path / "evenkeel"
    link.symlink_to(clone / "bin" / "evenkeel")

    def call(**changes: str) -> str:
        env = {name: value for name, value in os.environ.items() if name != "EVENKEEL_WAREHOUSE"} | changes
        words = [link, "explain", "visits", "user 1"]
        return subprocess.run(words, env=env, capture_output=True, text=True, check=True).stdout

    assert call() == "/set/up|-P -m cli explain visits user 1\n"
    assert call(EVENKEEL_WAREHOUSE="/mine") == "/mine|-P -m cli explain visits user 1\n"
