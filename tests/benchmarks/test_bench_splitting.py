"""The splitting benchmark, in its quick form: all three contenders agree, and what it says of rows is true."""

import json
import subprocess
import sys

import pytest

from benchmarks.event_log import ShuffleStage, read_shuffle_stages
from benchmarks.splitting_contenders import CONTENDERS, MERGES, OURS, PLAIN, SALTED
from benchmarks.splitting_figures import HASH_REPARTITION, HAVE_A_GOAL, Measured, Outcome, goals_of
from schemas.dataset import ROOT
from tests.conftest import interpreting


def stage(*seconds):
    return ShuffleStage(seconds=list(seconds), shuffled_bytes=[1] * len(seconds))


def measured(contender, what, *stages, seconds=1.0):
    return Measured(name="", contender=contender, what=what, seconds=seconds, stages=list(stages))


def outcome(sent=2.0):
    runs = [
        measured(contender, what, stage(1, 1, 4), stage(2, 2), seconds=number)
        for what in MERGES
        for number, contender in enumerate(CONTENDERS, start=1)
    ]
    return Outcome(runs, {HASH_REPARTITION: 1.0, HAVE_A_GOAL[0]: sent, "hash": 1.5})


def test_goals_compare_with_both_alternatives_on_both_aggregates():
    """A figure that is left out cannot be bad."""
    goals = {goal.what: goal for goal in goals_of(outcome())}

    for what in MERGES:
        assert goals[f"{what}: total time, {OURS} / {PLAIN}"].result == "3.000x"
        assert goals[f"{what}: total time, {OURS} / {SALTED}"].result == "1.500x"
        assert goals[f"{what}: slowest tasks of all stages, {OURS} / {PLAIN}"].result == "1.000x"
        assert goals[f"{what}: slowest / mean task, {OURS}"].result == "2.00"
    assert goals[f"sending rows by {HAVE_A_GOAL[0]} / {HASH_REPARTITION}, time"].met


def test_sending_that_costs_too_much_and_results_that_differ_miss_their_goals():
    """The two things that can fail, fail."""
    dear = outcome(sent=3.1)
    dear.runs[0].digest = (1, 1)
    missed = [goal.what for goal in goals_of(dear) if not goal.met]

    assert missed == [
        f"sending rows by {HAVE_A_GOAL[0]} / {HASH_REPARTITION}, time",
        "list: all three have the same results",
    ]


def test_stages_are_found_by_group_and_number_of_tasks(tmp_path):
    """Delta's own small jobs of the same group are not the contender's."""

    def task(stage_id, index, seconds, n_bytes):
        metrics = {
            "Executor Run Time": 1000 * seconds,
            "Shuffle Read Metrics": {"Remote Bytes Read": 0, "Local Bytes Read": n_bytes},
        }
        info = {"Index": index, "Failed": False}
        return {
            "Event": "SparkListenerTaskEnd",
            "Stage ID": stage_id,
            "Task Info": info,
            "Task Metrics": metrics,
        }

    def submitted(stage_id):
        info, properties = {"Stage ID": stage_id, "RDD Info": []}, {"spark.jobGroup.id": "ours"}
        return {"Event": "SparkListenerStageSubmitted", "Stage Info": info, "Properties": properties}

    events = [submitted(number) for number in range(3)]
    events += [task(0, 1, 3, 5), task(0, 0, 1, 0), task(1, 0, 9, 9), task(2, 0, 1, 0), task(2, 1, 1, 0)]
    (tmp_path / "log").write_text("".join(json.dumps(event) + "\n" for event in events))

    assert read_shuffle_stages(tmp_path, n_tasks=(2,)) == {
        "ours": [ShuffleStage(seconds=[1, 3], shuffled_bytes=[0, 5])]
    }


@pytest.mark.spark
def test_quick_form_has_equal_results_and_splits_the_heavy_key(tmp_path):
    """In a process of its own, for this one has a session already."""
    saved = tmp_path / "outcome.json"
    command = [sys.executable, "-m", "benchmarks.bench_splitting", "--quick", "--save", str(saved)]
    done = subprocess.run(
        command, cwd=ROOT, env=interpreting(), capture_output=True, text=True, timeout=900, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]

    kept = json.loads(saved.read_text())
    for what in MERGES:
        runs = {run["contender"]: run for run in kept["runs"] if run["what"] == what}
        assert len({tuple(run["digest"]) for run in runs.values()}) == 1
        assert runs[OURS]["facts"]["splitter"] == "shuffle_heavy"
        assert runs[OURS]["facts"]["imbalance"] < 1.0
        assert [len(runs[name]["stages"]) for name in CONTENDERS] == [1, 2, 2]
