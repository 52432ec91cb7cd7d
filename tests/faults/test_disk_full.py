"""The disk is full while a job writes: one clear sentence, nothing committed, and room is all it takes to go on."""

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from schemas.dataset import ROOT
from spark_jobs.audit_layout import audit_layout
from spark_jobs.create_layout import create_layout
from spark_jobs.job import sentence_of
from spark_jobs.load_window import load_window
from spark_jobs.migrate_layout import migrate_layout
from spark_jobs.table_log import initial_function
from tests.faults.children import settings
from tests.faults.scenes import COLUMNS, Scene, dataset_in, held_by, turned, version_of, write_plan
from tests.spark_jobs.conftest import rows_of_day

pytestmark = [pytest.mark.spark, pytest.mark.faults]

# Inside a user and mount namespace of our own anybody may mount a small disk; it is gone with the shell.
ON_A_SMALL_DISK = """
set -e
mount -t tmpfs -o size="$1" none "$2"
cp -R "$3/." "$2"
shift 3
code=0; "$@" || code=$?
cp -R "$SMALL/." "$KEPT"
exit "$code"
"""
NAMESPACE = ["unshare", "--user", "--map-root-user", "--mount"]


def can_mount() -> bool:
    if shutil.which("unshare") is None:
        return False
    trial = [*NAMESPACE, "mount", "-t", "tmpfs", "-o", "size=64k", "none", "/mnt"]
    return subprocess.run(trial, capture_output=True, check=False).returncode == 0


PAGE = 4096  # a file takes whole ones


def bytes_in(folder: str) -> int:
    files = [path for path in Path(folder).rglob("*") if path.is_file()]
    return sum(-(-path.stat().st_size // PAGE) * PAGE for path in files)


def write_dataset(scene: Scene, folder: Path, state: Path) -> None:
    """The scene's dataset as the file that the command line reads, with its state on the small disk."""
    dataset = scene.dataset
    content = {
        "name": dataset.name, "schedule": "@daily", "start": dataset.start.isoformat(),
        "key": {"column": dataset.key, "type": dataset.key_type},
        "events": {"table": dataset.events, "time": dataset.event_time},
        "state": {"table": str(state), "keep_windows": dataset.keep_windows},
        "layout": {"buckets": dataset.n_buckets, "slots": dataset.n_slots},
    }  # fmt: skip
    folder.mkdir()
    (folder / f"{dataset.name}.yaml").write_text(yaml.safe_dump(content))


@pytest.fixture
def scene(spark, warehouse) -> Scene:
    """A table of few, mixed files, so that every job has to write, and a plan for it."""
    dataset = dataset_in(warehouse, n_slots=64, min_file_bytes=1 << 20)
    scene = Scene(folder=warehouse, dataset=dataset)
    rows = [row for day in range(3) for row in rows_of_day(day)]
    spark.createDataFrame(rows, COLUMNS).coalesce(1).write.format("delta").save(dataset.events)
    create_layout(scene.task())
    for day in (0, 1):
        load_window(scene.task(day))
    first = initial_function(dataset)
    return replace(scene, plan=write_plan(scene.task(), first, turned(first)))


@pytest.mark.skipif(not can_mount(), reason="this machine lets nobody mount a small disk (unshare -Urm)")
def test_full_disk_ends_in_a_sentence_with_the_table_whole(scene, home, tmp_path):
    """
    Load, migrate and settle on a disk with almost no room, as the command line runs them.

    The table lies on a tmpfs that has a few kilobytes left. What is on it afterwards is copied out and checked; with
    room the same jobs complete.
    """
    small, kept = tmp_path / "small", tmp_path / "kept"
    for folder in (small, kept):
        folder.mkdir()
    write_dataset(scene, tmp_path / "datasets", small)
    before, version = held_by(scene.dataset), version_of(scene.dataset)
    window = scene.task(2).window
    jobs = [
        ["load_window", "--dataset", "visits", "--window-start", window.start.isoformat(), "--window-end", window.end.isoformat()],
        ["migrate_layout", "--dataset", "visits", "--plan", scene.plan],
        ["settle_layout", "--dataset", "visits"],
    ]  # fmt: skip
    env = settings(home, scene.folder) | {
        "EVENKEEL_DATASETS": str(tmp_path / "datasets"), "SMALL": str(small), "KEPT": str(kept),
    }  # fmt: skip
    size = bytes_in(scene.dataset.state) + PAGE
    command = [
        *NAMESPACE, "sh", "-c", ON_A_SMALL_DISK, "sh", str(size), str(small), scene.dataset.state,
        sys.executable, "-m", "tests.faults.jobs_in_a_row", json.dumps(jobs),
    ]  # fmt: skip
    done = subprocess.run(
        command, cwd=ROOT, env=env, capture_output=True, text=True, check=False, timeout=600
    )

    assert done.stdout.splitlines()[-1:] == ["[1, 1, 1]"], done.stderr[-3000:]
    errors = re.findall(r"^ERROR: (.*)$", done.stderr, re.MULTILINE)
    sentence = (
        r"the job must be able to read and write its tables\. Got \w+: .*No space left on device.* Nothing of the step that"
        r" failed was committed: the table is whole\. Make room where the table lies .* then run the job again\."
    )
    assert len(errors) == 3
    assert all(re.fullmatch(sentence, error) for error in errors), errors
    assert "Traceback" not in done.stderr

    shutil.rmtree(scene.dataset.state)
    shutil.copytree(kept, scene.dataset.state)
    assert version_of(scene.dataset) == version
    assert held_by(scene.dataset) == before
    assert load_window(scene.task(2))["rows"] == len(rows_of_day(2))
    assert migrate_layout(scene.task())["rows_moved"] > 0
    audit_layout(scene.task())


def test_mistakes_of_our_own_keep_their_traceback():
    """A sentence about the disk for what is a bug would send the operator the wrong way."""
    assert sentence_of(KeyError("x")) is None
    assert sentence_of(AssertionError("x")) is None


def test_failing_to_write_a_control_table_is_a_sentence_too(tmp_path):
    """Control tables are written without Spark; their store fails in words of its own."""
    error = OSError(28, "No space left on device", str(tmp_path))

    assert sentence_of(error).startswith("the job must be able to read and write its tables. Got OSError: ")
    assert sentence_of(error).endswith("then run the job again.")


def test_spark_refusals_are_told_by_their_root(spark):
    """Spark wraps what happened five times; the first line of the last cause is what an operator can act on."""
    with pytest.raises(Exception, match="nowhere") as refused:
        spark.read.parquet("/nowhere/at/all").collect()

    said = sentence_of(refused.value)
    assert re.search(r"Got \w*Exception: \[PATH_NOT_FOUND\] .*/nowhere/at/all", said)
    assert "\n" not in said
    assert os.linesep not in said
