"""What Spark's event log says of the stage that runs Python: how long each of its tasks took, and what was shuffled."""

import json
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

GROUP = "spark.jobGroup.id"
PYTHON_STAGE = '"MapInPandas"'  # the operator's name, in the scope of an RDD of the stage


@dataclass(frozen=True, kw_only=True)
class PythonStage:
    """The first stage of a job group that calls Python. Position i of each list is the task of partition i."""

    seconds: list[float]
    shuffled_bytes: int  # read from shuffles by all stages of the group that call Python


@dataclass
class _Group:
    n_running: int = 0  # stages
    python_stages: set[int] = field(default_factory=set)
    tasks: dict[int, dict[int, dict[str, Any]]] = field(default_factory=lambda: defaultdict(dict))


def read_event_log(folder: Path) -> dict[str, PythonStage]:
    """The Python stage of every job group that has one and is over, by the group's name."""
    groups: dict[str, _Group] = defaultdict(_Group)
    group_of_stage: dict[int, str] = {}
    for event in _events(folder):
        if event["Event"] == "SparkListenerStageSubmitted":
            stage, name = event["Stage Info"], (event.get("Properties") or {}).get(GROUP, "")
            group_of_stage[stage["Stage ID"]] = name
            groups[name].n_running += 1
            if any(PYTHON_STAGE in rdd.get("Scope", "") for rdd in stage["RDD Info"]):
                groups[name].python_stages.add(stage["Stage ID"])
        elif event["Event"] == "SparkListenerStageCompleted":
            groups[group_of_stage[event["Stage Info"]["Stage ID"]]].n_running -= 1
        elif event["Event"] == "SparkListenerTaskEnd" and not event["Task Info"]["Failed"]:
            group = groups[group_of_stage[event["Stage ID"]]]
            group.tasks[event["Stage ID"]][event["Task Info"]["Index"]] = event
    return {
        name: _python_stage(group)
        for name, group in groups.items()
        if group.python_stages and not group.n_running
    }


def _events(folder: Path) -> Iterable[dict[str, Any]]:
    (log,) = (path for path in folder.iterdir() if path.is_file() and not path.name.startswith("."))
    whole_lines, _, _ = log.read_text().rpartition("\n")  # the last one may be half written
    yield from map(json.loads, whole_lines.splitlines())


def _python_stage(group: _Group) -> PythonStage:
    tasks = group.tasks[min(group.python_stages)]
    ordered = [tasks[index]["Task Metrics"] for index in sorted(tasks)]
    reads = [
        task["Task Metrics"]["Shuffle Read Metrics"]
        for stage in group.python_stages
        for task in group.tasks[stage].values()
    ]
    return PythonStage(
        seconds=[metrics["Executor Run Time"] / 1000 for metrics in ordered],
        shuffled_bytes=sum(read["Remote Bytes Read"] + read["Local Bytes Read"] for read in reads),
    )
