"""
SIGKILL to a job's whole process group, at every step of every job that changes the table, and at moments of no plan.

What must hold at once: all of the work is there or nothing of it, and every row is where the function that the table names says.
What must hold when the job was run again: the table holds what it holds after an undisturbed run.
"""

import random
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest

from schemas.tables import FEED_ASSIGNMENTS
from spark_jobs.audit_layout import audit
from spark_jobs.control_tables import load_function, read_rows
from spark_jobs.job import Task
from spark_jobs.table_log import FUNCTION, MOVING, properties_of
from tests.faults.children import child, kill_group, settings, write_order
from tests.faults.killed_job import READY, order_of
from tests.faults.scenes import Held, Scene, held_by
from tests.faults.works import WORKS

pytestmark = [pytest.mark.spark, pytest.mark.faults]

AT_A_TIME = 2  # children
SCENE_OF = {
    "settle": "mixed",
    "repair": "astray",
    "upsert": "balances",
    "load feeds": "fed",
}  # all others: settled
DAY_OF = {"load": 2, "load feeds": 2}


@dataclass(frozen=True)
class Kill:
    """One death: in which work, and when."""

    work: str
    scene: str = ""  # the work's usual one unless given
    step: str = ""  # of the layout transaction; otherwise by the clock or by what is seen on disk
    after: bool = False  # after the step, not before it
    nth: int = 1  # call of the step
    seconds: float | None = None  # after the work began
    on_new_file: str = ""  # as soon as the table's folder has a file more that ends so

    def __str__(self) -> str:
        name = f"{self.work} {self.scene}".strip()
        if self.seconds is not None:
            return f"{name}: after {self.seconds:.2f} s"
        if self.on_new_file:
            return f"{name}: with a new {self.on_new_file}"
        return f"{name}: {'after' if self.after else 'before'} {self.step} {self.nth}"


def at_steps(work: str, *steps: str, scene: str = "") -> list[Kill]:
    """One kill a step, written as ``step`` (after it), ``-step`` (before it), ``step*2`` (its second call)."""
    return [
        Kill(work, scene, name.lstrip("-"), after=not name.startswith("-"), nth=int(nth or 1))
        for name, _, nth in (step.partition("*") for step in steps)
    ]


KILLS = [
    *at_steps("migrate", "set_properties", "flip", "write", "-commit", "commit"),
    *at_steps("merge", "begin of the merge", "rows of the merge", "end of the merge"),
    *at_steps("load", "write", "mark", "commit"),
    *at_steps("load feeds", "assignment", "write", "commit"),
    *at_steps("settle", "write*2", "commit"),
    *at_steps("repair", "flip", "write", "commit"),
    *at_steps("roll back", "flip", "commit"),
    *at_steps("append", "write", "commit"),
    *at_steps("upsert", "write", "commit"),
    *at_steps("migrate", "write", scene="split"),
    *at_steps("merge", "rows of the merge", scene="split"),
    *at_steps("load", "write", scene="split"),
    Kill("migrate", on_new_file=".parquet"),
]
_CLOCK = random.Random(5)  # noqa: S311  (moments, not secrets)
KILLS += [Kill(work, seconds=_CLOCK.uniform(1, 8)) for work in ("migrate", "load")]


def scene_of(kill: Kill) -> str:
    return kill.scene or SCENE_OF.get(kill.work, "settled")


@pytest.fixture(scope="module")
def killed(request, scenes, home, tmp_path_factory) -> Iterator[Callable[[Kill], Scene]]:
    """The table of a case after its death. Children run ahead, two at a time, while the tests look at earlier ones."""
    chosen = [
        item.callspec.params["kill"]
        for item in request.session.items
        if item.path == request.path and "kill" in item.callspec.params
    ]
    templates = {name: scenes(name) for name in sorted({scene_of(kill) for kill in chosen})}
    folder = tmp_path_factory.mktemp("killed ü")

    def run(number: int, kill: Kill) -> Scene:
        scene = templates[scene_of(kill)].copied_to(folder / f"case {number}")
        run_and_kill(kill, scene, home)
        return scene

    with ThreadPoolExecutor(AT_A_TIME) as pool:
        deaths: dict[Kill, Future[Scene]] = {
            kill: pool.submit(run, number, kill) for number, kill in enumerate(chosen)
        }
        yield lambda kill: deaths[kill].result()
        pool.shutdown(cancel_futures=True)


def run_and_kill(kill: Kill, scene: Scene, home: Path) -> None:
    step = {"name": kill.step, "after": kill.after, "nth": kill.nth} if kill.step else None
    task = order_of(scene.task(DAY_OF.get(kill.work, 1)))
    order = write_order(scene.folder / "order.json", {"task": task, "work": kill.work, "step": step})
    log = scene.folder / "child.log"
    before = files_of(scene)
    with child("tests.faults.killed_job", order, env=settings(home, scene.folder), log=log) as process:
        said = process.stdout.readline().strip()
        assert said == READY, f"the child must begin its work. Got {said!r} and {log.read_text()[-2000:]}"
        began = time.monotonic()
        while process.poll() is None and not is_time(kill, scene, before, began):
            time.sleep(0.005)
        was_running = process.poll() is None
        kill_group(process)
        assert was_running or process.returncode == -9 or kill.seconds is not None, log.read_text()[-2000:]


def is_time(kill: Kill, scene: Scene, before: set[Path], began: float) -> bool:
    if kill.seconds is not None:
        return time.monotonic() - began > kill.seconds
    new = files_of(scene) - before if kill.on_new_file else set()
    return any(path.name.endswith(kill.on_new_file) for path in new)


def files_of(scene: Scene) -> set[Path]:
    return {path for path in Path(scene.dataset.state).rglob("*") if not path.name.startswith(".")}


@pytest.fixture(scope="module")
def undisturbed(scenes, tmp_path_factory) -> Callable[[Kill], tuple[Held, str]]:
    """What the table holds, and which function it names, after the same work without a kill."""
    folder = tmp_path_factory.mktemp("undisturbed")
    known: dict[str, tuple[Held, str]] = {}

    def outcome(kill: Kill) -> tuple[Held, str]:
        name = f"{kill.work} {scene_of(kill)}"
        if name not in known:
            with scenes(scene_of(kill)).copied_to(folder / name).entered() as scene:
                WORKS[kill.work](scene.task(DAY_OF.get(kill.work, 1)))
                known[name] = held_by(scene.dataset), properties_of(scene.dataset)[FUNCTION]
        return known[name]

    return outcome


@pytest.mark.parametrize("kill", KILLS, ids=str)
def test_killed_job_leaves_all_or_nothing_and_completes_when_run_again(scenes, killed, undisturbed, kill):
    """Machines die between any two instructions. A table that needs a person afterwards is one that nobody can run."""
    wanted, wanted_function = undisturbed(kill)
    before = held_by(scenes(scene_of(kill)).dataset)
    with killed(kill).entered() as scene:
        check_whole(kill, scene, before, wanted)
        task = scene.task(DAY_OF.get(kill.work, 1))
        loaders = loaders_of(task)
        WORKS[kill.work](task)

        if kill.work == "load feeds":
            assert loaders  # written before anything was loaded
            assert loaders_of(task) == loaders
        assert held_by(scene.dataset) == wanted
        assert properties_of(scene.dataset)[FUNCTION] == wanted_function
        assert not properties_of(scene.dataset).get(MOVING)
        if kill.step == "write":  # files that no commit names lie about now: does any reader see them?
            facts = audit(task)
            assert (facts["rows_astray"], facts["false_files"], facts["doubled_keys"]) == (0, 0, 0)
            assert facts["rows"] == wanted.rows.total()


def loaders_of(task: Task) -> dict[str, int]:
    """Which loader reads which feed in the task's window; empty where there are no feeds."""
    rows = read_rows(FEED_ASSIGNMENTS, dataset=task.dataset.name, window_start=task.window.start).to_pylist()
    return {row["feed"]: row["loader"] for row in rows}


def check_whole(kill: Kill, scene: Scene, before: Held, wanted: Held) -> None:
    """All or nothing: nobody may have to know that somebody died."""
    held, properties = held_by(scene.dataset), properties_of(scene.dataset)
    if kill.work.startswith("load") and held.rows != before.rows:
        # The window is in; of what expires, some rows may still be there: they are deleted after the commit.
        assert wanted.rows <= held.rows <= wanted.rows | before.rows
    else:
        assert held.rows in (before.rows, wanted.rows)
    named = load_function(scene.dataset.name, properties[FUNCTION])
    if kill.work == "repair" and held.places == before.places:
        return
    if properties.get(MOVING):
        assert not held.astray(named) or not held.astray(
            load_function(scene.dataset.name, properties[MOVING])
        )
    else:
        assert held.astray(named) == []
    moving = load_function(scene.dataset.name, properties.get(MOVING) or properties[FUNCTION])
    assert held.split_keys <= {*named.splits, *moving.splits}
