"""
The Dags as users run them: a real scheduler, API server and Dag processor, real spark-submit, real Delta tables.

Three datasets of two days each. ``visits`` is scheduled with catchup, ``orders`` is backfilled at the same time, ``idle`` stays paused.
"""

import itertools
import shutil
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest

from schemas.dataset import Dataset, dataset_named
from schemas.tables import CHECKS, ITEM_STATS, PLANS, RUNS
from spark_jobs.control_tables import load_function, read_rows
from spark_jobs.table_log import FUNCTION, initial_function, properties_of
from tests.dags.running_airflow import ROOT, Airflow, running_airflow, wait
from tests.spark_jobs.conftest import DAY, START, rows_of_day
from tests.spark_jobs.oracle import keys_astray, rows_in, state_of

pytestmark = [pytest.mark.airflow, pytest.mark.spark]

TODAY = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
WINDOWS = [TODAY - 2 * DAY, TODAY - DAY]
DATASET = """
name: {name}
schedule: "@daily"
start: "{start:%Y-%m-%d}"
key: {{column: 'who`s"it', type: string}}
events: {{table: {name}/events, time: at}}
state: {{table: {name}/state, keep_windows: 3}}
layout: {{buckets: 4, slots: 128}}
budgets: {{max_imbalance: 0.08, max_routes: 20, max_migration: 0.6}}
checks: {{min_rows: 100, severity: {{null_keys: warning}}}}
schedules: {{maintain: null, audit: null, catchup: {catchup}}}
"""
# Times, and sizes: a migration writes the same rows in other files.
MEASURED_AGAIN = ("seconds", "start_seconds", "steps", "state")
HELD_MIGRATED = ["held", "migrated"]
DATASETS = {"visits": "true", "orders": "false", "idle": "true"}


@dataclass(frozen=True)
class Place:
    """Where the story happens."""

    airflow: Airflow
    visits: Dataset
    orders: Dataset


@pytest.fixture(scope="module")
def place(spark, tmp_path_factory) -> Iterator[Place]:
    """Airflow with a database of its own; the datasets' events are there and their state tables are empty."""
    folder = tmp_path_factory.mktemp("air flow ü")
    (folder / "datasets").mkdir()
    shutil.copyfile(ROOT / ".evenkeel" / "airflow" / "airflow.db", folder / "airflow.db")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("EVENKEEL_WAREHOUSE", str(folder / "warehouse"))
        patch.setenv("EVENKEEL_DATASETS", str(folder / "datasets"))
        patch.setenv("AIRFLOW__DATABASE__SQL_ALCHEMY_CONN", f"sqlite:///{folder / 'airflow.db'}")
        patch.setenv("AIRFLOW__LOGGING__BASE_LOG_FOLDER", str(folder / "logs"))
        datasets = {name: make_dataset(spark, folder / "datasets", name) for name in DATASETS}
        dags = [f"rebalance__{name}" for name in DATASETS]
        with running_airflow(folder / "airflow.log", dags) as airflow:
            yield Place(airflow, datasets["visits"], datasets["orders"])


def make_dataset(spark, folder: Path, name: str) -> Dataset:
    from spark_jobs.create_layout import create_layout
    from spark_jobs.job import Task

    (folder / f"{name}.yaml").write_text(DATASET.format(name=name, start=WINDOWS[0], catchup=DATASETS[name]))
    dataset = dataset_named(name)
    rows = [(key, at - START + WINDOWS[0], page) for day in range(2) for key, at, page in rows_of_day(day)]
    events = spark.createDataFrame(rows, '`who``s"it` string, at timestamp, page string')
    events.write.format("delta").save(dataset.events)
    create_layout(Task(dataset=dataset))
    return dataset


@pytest.fixture(scope="module")
def done(place) -> Place:
    """
    ``visits`` has been scheduled twice, its migration killed once; ``orders`` has been backfilled meanwhile.

    A backfill's runs wait while their Dag is paused, and unpausing makes no other run for a window that has one.
    """
    airflow = place.airflow
    airflow.backfill("rebalance__orders", WINDOWS[0], WINDOWS[-1])
    airflow.unpause("rebalance__orders")
    airflow.unpause("rebalance__visits")
    kill_once(airflow, "migrate_layout.py", "visits")
    for name in ("visits", "orders"):
        wait(lambda name=name: all_done(airflow, f"rebalance__{name}"), f"the windows of {name}")
    return place


def all_done(airflow: Airflow, dag: str) -> bool:
    runs = airflow.runs(dag)
    return len(runs) == len(WINDOWS) and all(run["state"] in ("success", "failed") for run in runs)


def kill_once(airflow: Airflow, job: str, dataset: str) -> None:
    """Kill the job's JVM and the task that waits for it, as a machine that runs out of memory would."""
    java = wait(lambda: java_of(airflow, job, dataset), f"{job} of {dataset}")
    for process in (java.parent(), java):
        process.kill()


def java_of(airflow: Airflow, job: str, dataset: str) -> psutil.Process | None:
    for process in psutil.Process(airflow.pid).children(recursive=True):
        with suppress(psutil.Error):
            words = process.cmdline()
            if (
                words
                and "java" in words[0]
                and any(word.endswith(job) for word in words)
                and dataset in words
            ):
                return process
    return None


# What the tables say


def outcomes(dataset: Dataset) -> list[tuple[datetime, str]]:
    rows = read_rows(RUNS, dataset=dataset.name).to_pylist()
    return sorted((row["window_start"], row["outcome"]) for row in rows)


def everything(dataset: Dataset) -> dict[str, Any]:
    """All that a repetition must leave as it is: the table's version and function, and the control tables but for sizes and times."""
    import deltalake

    control = {
        table.name: sorted(
            str({name: value for name, value in row.items() if name not in MEASURED_AGAIN}) for row in rows
        )
        for table in (ITEM_STATS, PLANS, CHECKS, RUNS)
        for rows in [read_rows(table, dataset=dataset.name).to_pylist()]
    }
    return {
        "version": deltalake.DeltaTable(dataset.state).version(),
        "function": properties_of(dataset)[FUNCTION],
        **control,
    }


def events_of(airflow: Airflow, dataset: str) -> list[dict[str, Any]]:
    events = airflow.get("/assets/events", limit=100)["asset_events"]
    return [event for event in events if event["name"] == f"evenkeel_{dataset}"]


def check_rows(spark, dataset: Dataset) -> None:
    """Every event is in the state table once, each in the bucket that its function says."""
    assert keys_astray(spark, dataset) == []
    assert rows_in(state_of(spark, dataset)) == rows_in(spark.read.format("delta").load(dataset.events))


def moments(task: dict[str, Any]) -> tuple[datetime, datetime]:
    return datetime.fromisoformat(task["start_date"]), datetime.fromisoformat(task["end_date"])


def spans_of(airflow: Airflow, dataset: str) -> list[tuple[datetime, datetime]]:
    """When the dataset's tasks ran, but for those that wait for a person."""
    return sorted(
        moments(task)
        for task in airflow.tasks()
        if task["dag_id"].endswith(f"__{dataset}") and task["task_id"] != "approve"
        and task["start_date"] and task["end_date"] and task["state"] == "success"
    )  # fmt: skip


# The story


def test_scheduled_windows_run_in_order_and_a_killed_task_resumes(spark, done):
    """Both are loaded and profiled; only the newest may move anything, and does, although its migration was killed."""
    runs = done.airflow.runs("rebalance__visits")

    assert [run["state"] for run in runs] == ["success"] * 2
    assert [datetime.fromisoformat(run["data_interval_start"]) for run in runs] == WINDOWS
    starts = [datetime.fromisoformat(run["start_date"]) for run in runs]
    assert starts == sorted(starts)
    assert outcomes(done.visits) == list(zip(WINDOWS, HELD_MIGRATED, strict=True))
    tries = {
        task["task_id"]: task["try_number"]
        for task in done.airflow.tasks("rebalance__visits", runs[-1]["dag_run_id"])
    }
    assert tries["migrate"] == 2
    check_rows(spark, done.visits)


def test_one_event_tells_of_the_migration(done):
    """With the function, θ and the bytes, for whoever follows."""
    (event,) = events_of(done.airflow, "visits")

    assert event["extra"]["function"] == properties_of(done.visits)[FUNCTION]
    assert event["extra"]["imbalance_after"] < event["extra"]["imbalance_before"]
    assert event["extra"]["bytes_written"] >= 0


def test_backfill_ends_with_one_migration(spark, done):
    """An old window and the newest, in order."""
    runs = done.airflow.runs("rebalance__orders")

    assert [run["run_type"] for run in runs] == ["backfill"] * 2
    assert outcomes(done.orders) == list(zip(WINDOWS, HELD_MIGRATED, strict=True))
    check_rows(spark, done.orders)


def test_datasets_run_side_by_side_and_each_has_one_writer(done):
    """Some task of one ran while one of the other did; two of the same never."""
    visits, orders = (spans_of(done.airflow, name) for name in ("visits", "orders"))

    assert any(a[0] < b[1] and b[0] < a[1] for a in visits for b in orders)
    for spans in (visits, orders):
        assert all(earlier[1] <= later[0] for earlier, later in itertools.pairwise(spans))


@pytest.fixture(scope="module")
def dry_run(done) -> tuple[str, dict[str, Any]]:
    """The id of a run by hand that was made while ``orders`` was backfilled again, and what was there before."""
    airflow, before = done.airflow, everything(done.orders)
    airflow.backfill("rebalance__orders", WINDOWS[0], WINDOWS[-1])
    by_hand = airflow.trigger("rebalance__orders", buckets=5)
    assert airflow.wait_for("rebalance__orders", by_hand)["state"] == "success"
    wait(lambda: all(run["state"] == "success" for run in airflow.runs("rebalance__orders")), "the backfill")
    return by_hand, before


def test_backfill_again_with_a_run_by_hand_in_between_changes_nothing(spark, done, dry_run):
    """The run by hand is a dry run and takes turns with the backfill."""
    after, before = everything(done.orders), dry_run[1]

    for name in ("version", "function", "item_stats"):
        assert after[name] == before[name], name
    scheduled = list(zip(WINDOWS, HELD_MIGRATED, strict=True))
    assert outcomes(done.orders) == sorted([*scheduled, (WINDOWS[-1], "dry run")])
    spans = spans_of(done.airflow, "orders")
    assert all(earlier[1] <= later[0] for earlier, later in itertools.pairwise(spans))
    check_rows(spark, done.orders)


@pytest.mark.parametrize(
    ("conf", "sentence"),
    [
        ({"max_routes": "many"}, "'many' is not"),
        ({"planner": "luck"}, "'luck' is not one of"),
        ({"window_start": "yesterday"}, "does not match"),
        ({"dry_run": "no"}, "'no' is not"),
    ],
)
def test_bad_conf_is_refused_before_there_is_a_run(place, conf, sentence):
    """A 400 that names the param."""
    answer = place.airflow.ask(
        "POST", "/dags/rebalance__visits/dagRuns", {"logical_date": None, "conf": conf}
    )

    assert answer.status_code == httpx.codes.BAD_REQUEST
    assert next(iter(conf)) in answer.text
    assert sentence in answer.json()["detail"]


def test_unknown_param_is_refused_before_anything_is_done(done):
    """Airflow takes any name; the first task does not."""
    before = everything(done.visits)
    run = done.airflow.trigger("rebalance__visits", max_imbalanse=0.5)

    assert done.airflow.wait_for("rebalance__visits", run)["state"] == "failed"
    states = done.airflow.states("rebalance__visits", run)
    assert states["window"] == "failed"
    assert set(states.values()) <= {"failed", "upstream_failed", "skipped", "removed"} | {None}
    assert everything(done.visits) == before


def test_clearing_any_task_of_a_finished_run_changes_nothing(spark, done):
    """One after another: each is run again and comes to what it came to before."""
    airflow, before = done.airflow, everything(done.visits)
    run = newest_scheduled(airflow)
    for task in airflow.states("rebalance__visits", run):
        airflow.clear("rebalance__visits", run, task)
        assert airflow.run("rebalance__visits", run)["state"] == "success", task

    assert everything(done.visits) == before
    assert len(events_of(airflow, "visits")) == 1
    check_rows(spark, done.visits)


def newest_scheduled(airflow: Airflow) -> str:
    runs = [run for run in airflow.runs("rebalance__visits") if run["run_type"] == "scheduled"]
    return str(runs[-1]["dag_run_id"])


def test_plan_of_a_dry_run_is_applied_by_its_name_and_a_stale_one_refused(spark, done, dry_run):
    """A person approves it. The plan of the first window was made for a function that the table has left long ago."""
    airflow, dag = done.airflow, "rebalance__orders"
    report = airflow.answer(dag, dry_run[0], "report")
    assert report["n_moves"] > 0
    applied = airflow.trigger(dag, plan=report["plan"], approve=True)
    assert airflow.approve(dag, applied, "Approve")["state"] == "success"
    assert airflow.answer(dag, applied, "report")["outcome"] == "migrated"
    function = properties_of(done.orders)[FUNCTION]
    assert load_function("orders", function).n_buckets == 5

    refused = airflow.trigger(dag, plan=first_plan(done.orders))
    assert airflow.wait_for(dag, refused)["state"] == "failed"
    tries = {task["task_id"]: (task["state"], task["try_number"]) for task in airflow.tasks(dag, refused)}
    assert tries["gate"] == ("failed", 1)
    page = Path(airflow.answer(dag, refused, "report")["report"])
    assert "the table has moved on" in page.read_text()
    assert properties_of(done.orders)[FUNCTION] == function
    check_rows(spark, done.orders)


def first_plan(dataset: Dataset) -> str:
    """The first one ever made: from the plain hash to something else."""
    plans = read_rows(PLANS, dataset=dataset.name, window_start=WINDOWS[0]).to_pylist()
    created = initial_function(dataset).digest
    return next(str(plan["plan"]) for plan in plans if plan["from_function"] == created)


def test_roll_back_is_a_dry_run_unless_told_otherwise(spark, done):
    """Then the table has the function it had before, with every row, and who follows it is told; as of the next migration."""
    airflow, dag = done.airflow, "roll_back__visits"
    airflow.unpause(dag)
    before = everything(done.visits)
    assert airflow.wait_for(dag, airflow.trigger(dag))["state"] == "success"
    assert everything(done.visits) == before
    (event,) = events_of(airflow, "visits")

    back = airflow.trigger(dag, dry_run=False)
    assert airflow.wait_for(dag, back)["state"] == "success"
    assert properties_of(done.visits)[FUNCTION] != before["function"]
    check_rows(spark, done.visits)
    told = [event["extra"]["function"], properties_of(done.visits)[FUNCTION]]
    assert functions_told(airflow, "visits") == told
    airflow.clear(dag, back, "roll_back")
    assert functions_told(airflow, "visits") == told

    again = airflow.trigger("rebalance__visits", dry_run=False)
    assert airflow.wait_for("rebalance__visits", again)["state"] == "success"
    function = properties_of(done.visits)[FUNCTION]
    assert function != told[-1]
    assert functions_told(airflow, "visits") == [*told, function]


def functions_told(airflow: Airflow, dataset: str) -> list[str]:
    """By the events, the oldest first."""
    events = sorted(events_of(airflow, dataset), key=lambda event: event["id"])
    return [event["extra"]["function"] for event in events]


@pytest.mark.parametrize("dag", ["audit__orders", "maintain__orders"])
def test_audit_and_maintenance_end_well(spark, done, dag):
    """On a table that has been migrated, with all its control tables."""
    done.airflow.unpause(dag)
    run = done.airflow.trigger(dag)

    assert done.airflow.wait_for(dag, run)["state"] == "success"
    check_rows(spark, done.orders)


def test_paused_dataset_stays_paused(done):
    """Nobody ran it, not even for the windows it has missed."""
    assert done.airflow.get("/dags/rebalance__idle")["is_paused"]
    assert done.airflow.runs("rebalance__idle") == []
