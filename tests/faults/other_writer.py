"""
Somebody else's process: appends through our own module, deletes and updates by plain Delta, until it is told to stop.

It rests as long as it works: whoever commits without a pause can keep a slower process from ever getting through.

Each thing done is a line of JSON on standard output, written once it is committed: [what, number].
"""

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from delta.tables import DeltaTable
from pyspark.sql import functions as F

from spark_jobs.job import JobError, Task
from spark_jobs.layout_transaction import CONFLICTS
from spark_jobs.stateful import append
from tests.faults.killed_job import READY, task_of
from tests.faults.scenes import COLUMNS
from tests.spark_jobs.conftest import DAY, KEYS, START

GAVE_UP = "must get through within"  # what a commit says that others got in the way of too often


def rows_of(number: int) -> list[tuple[Any, ...]]:
    """What append number ``number`` brings: a row each of three keys."""
    return [(KEYS[(number * 7 + i) % len(KEYS)], START + DAY, f"append {number}.{i}") for i in range(3)]


def write_until(task: Task, stop: Path) -> None:
    number = 0
    while not stop.exists():
        frame = task.spark.createDataFrame(rows_of(number), COLUMNS).coalesce(1)
        until_done(lambda f=frame: append(f, task.dataset))
        say("append", number)
        if number % 2:
            change(task, lambda table, n=number: table.delete(F.col("page") == f"append {n}.0"))
            say("delete", number)
        else:
            page = F.concat("page", F.lit("!"))
            change(
                task,
                lambda table, n=number, p=page: table.update(F.col("page") == f"append {n}.1", {"page": p}),
            )
            say("update", number)
        number += 1


def change(task: Task, command: Any) -> None:
    """A user's own command; done twice it does no more."""
    until_done(lambda: command(DeltaTable.forPath(task.spark, task.dataset.state)))


def until_done(work: Callable[[], object]) -> None:
    """What a user does who is refused: begin again. An append that gave up has committed nothing."""
    while True:
        began = time.monotonic()
        try:
            work()
        except CONFLICTS:
            continue
        except JobError as error:
            if GAVE_UP not in str(error):
                raise
            continue
        time.sleep(time.monotonic() - began)
        return


def say(*what: object) -> None:
    sys.stdout.write(f"{json.dumps(what)}\n")
    sys.stdout.flush()


def main(order: Path, stop: Path) -> None:
    task = task_of(json.loads(order.read_text())["task"])
    task.spark.sql("SELECT 1").collect()
    sys.stdout.write(f"{READY}\n")
    sys.stdout.flush()
    write_until(task, stop)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
