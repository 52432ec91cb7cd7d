"""
Do one piece of work on one table, and die on the way.

The parent writes an order (JSON) and starts this program in a session of its own. At the ordered step the whole process
group, the JVM included, gets SIGKILL: nothing is closed, flushed or said. Without such a step the parent kills it at a moment
of its choice.
"""

import itertools
import json
import os
import signal
import sys
import time
from dataclasses import asdict
from datetime import date, datetime
from pathlib import Path
from typing import Any

from schemas.dataset import Dataset
from schemas.feeds import DeclaredFeed
from spark_jobs.job import Task, Window

READY = "ready"  # said when Spark is up and the work begins


def main(path: Path) -> None:
    from tests.faults.works import STEPS, WORKS

    order = json.loads(path.read_text())
    task = task_of(order["task"])
    task.spark.version  # noqa: B018  (starts it)
    step = order["step"]
    if step:
        die_at(*STEPS[step["name"]], after=step["after"], nth=step["nth"])
    sys.stdout.write(f"{READY}\n")
    sys.stdout.flush()
    WORKS[order["work"]](task)


def die_at(owner: Any, method: str, *, after: bool, nth: int) -> None:
    """Let the n-th call of this method be the last thing that happens: before it, or after it."""
    original = getattr(owner, method)
    calls = itertools.count(1)

    def dying(*args: Any, **kwargs: Any) -> Any:
        is_last = next(calls) == nth
        if is_last and not after:
            die()
        answer = original(*args, **kwargs)
        if is_last:
            die()
        return answer

    setattr(owner, method, dying)


def die() -> None:
    os.killpg(0, signal.SIGKILL)
    time.sleep(60)  # the signal is on its way


def task_of(order: dict[str, Any]) -> Task:
    """The task that ``order_of`` wrote down."""
    feeds = tuple(DeclaredFeed(**feed) for feed in order["dataset"]["feeds"])
    fields = order["dataset"] | {"start": date.fromisoformat(order["dataset"]["start"]), "feeds": feeds}
    start, end = map(datetime.fromisoformat, order["window"])
    window = Window(start=start, end=end)
    return Task(dataset=Dataset(**fields), given_window=window, plan=order["plan"], options=order["options"])


def order_of(task: Task) -> dict[str, Any]:
    """The task as JSON."""
    return {
        "dataset": asdict(task.dataset) | {"start": task.dataset.start.isoformat()},
        "window": [task.window.start.isoformat(), task.window.end.isoformat()],
        "plan": task.plan,
        "options": dict(task.options),
    }


if __name__ == "__main__":
    main(Path(sys.argv[1]))
