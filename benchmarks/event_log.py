"""What Spark's event log says of stages that run Python or read a shuffle: how long each of their tasks took, and what was shuffled."""

import json
from collections import defaultdict
from collections.abc import Container, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

GROUP = "spark.jobGroup.id"
PYTHON_STAGE = '"MapInArrow"'  # the operator's name, in the scope of an RDD of the stage


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


@dataclass(frozen=True, kw_only=True)
class ShuffleStage:
    """A stage that reads a shuffle. Position i of each list is the task of partition i."""

    seconds: list[float]
    shuffled_bytes: list[int]  # read from the shuffle

    @property
    def straggler(self) -> float:
        """The slowest task over the mean one."""
        return max(self.seconds) * len(self.seconds) / (sum(self.seconds) or 1.0)


def read_shuffle_stages(folder: Path, *, n_tasks: Container[int]) -> dict[str, list[ShuffleStage]]:
    """Of every job group of an application that is over, the stages of one of these numbers of tasks that read a shuffle, in order."""
    group_of_stage: dict[int, str] = {}
    tasks: dict[int, dict[int, dict[str, Any]]] = defaultdict(dict)
    for event in _events(folder):
        if event["Event"] == "SparkListenerStageSubmitted":
            group_of_stage[event["Stage Info"]["Stage ID"]] = (event.get("Properties") or {}).get(GROUP, "")
        elif event["Event"] == "SparkListenerTaskEnd" and not event["Task Info"]["Failed"]:
            tasks[event["Stage ID"]][event["Task Info"]["Index"]] = event["Task Metrics"]
    found: dict[str, list[ShuffleStage]] = defaultdict(list)
    for stage, of_stage in sorted(tasks.items()):
        ordered = [of_stage[index] for index in sorted(of_stage)]
        n_bytes = [_bytes_read(metrics["Shuffle Read Metrics"]) for metrics in ordered]
        if len(ordered) in n_tasks and any(n_bytes):
            seconds = [metrics["Executor Run Time"] / 1000 for metrics in ordered]
            found[group_of_stage[stage]].append(ShuffleStage(seconds=seconds, shuffled_bytes=n_bytes))
    return found


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
        shuffled_bytes=sum(map(_bytes_read, reads)),
    )


def _bytes_read(metrics: dict[str, int]) -> int:
    return metrics["Remote Bytes Read"] + metrics["Local Bytes Read"]
