"""The tutorial does what it says, for somebody who types it from top to bottom."""

import os
import re
import subprocess
from pathlib import Path

import pytest

from schemas.tables import RUNS
from spark_jobs.control_tables import read_rows

pytestmark = pytest.mark.spark

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "tutorial.md").read_text()
BLOCKS = re.findall(r"```(sh|python|yaml)\n(.*?)```", PAGE, flags=re.DOTALL)


def test_tutorial_runs_from_top_to_bottom(warehouse, tmp_path, monkeypatch):
    """A newcomer who copies every block ends with a table that was migrated and rolled back, and an audit that found nothing."""
    datasets = tmp_path / "datasets"
    datasets.mkdir()
    monkeypatch.setenv("EVENKEEL_DATASETS", str(datasets))
    python, yaml = (next(text for kind, text in BLOCKS if kind == wanted) for wanted in ("python", "yaml"))
    (tmp_path / "sample.py").write_text(python)
    (datasets / "shop.yaml").write_text(yaml)
    first, *others = [text for kind, text in BLOCKS if kind == "sh"]
    assert first == '. .evenkeel/env.sh\nexport PATH="$PWD/bin:$PATH"\n'

    said = run("".join(others), tmp_path)

    for expected in ("shop.yaml", "θ", "customer 0003", "bucket 0", ".html"):
        assert expected in said
    outcomes = {run["outcome"] for run in read_rows(RUNS, dataset="shop").to_pylist()}
    assert "migrated" in outcomes


def run(script, folder):
    """What the commands printed; fails with all of it if one of them does."""
    environment = {**os.environ, "PATH": f"{ROOT / 'bin'}:{os.environ['PATH']}"}
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
