"""The stateful benchmark, in its quick form on a real cluster: what it says of rows must be true."""

import json
import subprocess
import sys

import pytest

from benchmarks.bench_stateful import QUICK
from benchmarks.stateful_figures import REBALANCE, goals_of
from benchmarks.stateful_layouts import NAMES
from benchmarks.stateful_windows import Run
from schemas.dataset import ROOT
from tests.conftest import interpreting

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def runs(tmp_path_factory) -> dict[str, Run]:
    """One window, by name; in a process of its own, for this one has a session already."""
    saved = tmp_path_factory.mktemp("bench") / "runs.json"
    command = [sys.executable, "-m", "benchmarks.bench_stateful", "--quick", "--save", str(saved)]
    done = subprocess.run(
        command, cwd=ROOT, env=interpreting(), capture_output=True, text=True, timeout=900, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return {run["name"]: Run(**run) for run in json.loads(saved.read_text())["runs"]}


def test_all_four_work_on_every_row_once_and_agree(runs):
    """A contender that leaves rows out would win every comparison."""
    assert list(runs) == list(NAMES)
    for run in runs.values():
        assert run.results["clicks"] == QUICK.clicks
        assert run.results == pytest.approx(runs["plain"].results, rel=1e-9)


def test_rows_of_tasks_are_the_rows_of_the_window(runs):
    """Straggler factors are made of these; a bucket is a task, and adaptive execution is given as many."""
    for name, run in runs.items():
        assert sum(run.task_rows) == QUICK.clicks
        assert len(run.task_rows) == len(run.task_seconds)
        assert len(run.task_rows) == 8 if name in ("plain", "evenkeel") else len(run.task_rows) >= 8


def test_evenkeel_has_a_lower_straggler_factor_than_plain_hash_and_shuffles_nothing(runs):
    """The benefit itself, by rows, which no neighbour on the machine changes."""
    ours, plain = runs["evenkeel"], runs["plain"]
    assert ours.straggler_by_rows < 1.15 < plain.straggler_by_rows
    assert ours.straggler_by_rows == pytest.approx(1 + ours.plan["imbalance_after"], abs=0.001)
    assert plain.straggler_by_rows == pytest.approx(1 + ours.plan["imbalance_hash"], abs=0.001)
    assert ours.shuffled_bytes == plain.shuffled_bytes == 0
    assert min(runs[name].shuffled_bytes for name in ("shuffle", "salted")) > 0
    assert ours.seconds.keys() == {"load", *REBALANCE, "job"}


def test_goals_compare_with_every_alternative(runs):
    """A goal that is left out cannot be missed."""
    goals = goals_of(list(runs.values()))
    said = " ".join(goal.what for goal in goals)
    assert goals[0].met
    for name in ("plain hash", "adaptive", "salted"):
        assert name in said
