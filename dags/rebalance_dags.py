"""
# rebalance

Even out one dataset: check the window's events, load them into the state table and profile the keys, plan a better
function, validate the plan, migrate, verify, report.

| if this fails     | the state table is                  | then                                               |
| ----------------- | ----------------------------------- | -------------------------------------------------- |
| `window`          | untouched                           | give `window_start` and `window_end`, or neither   |
| `check`           | untouched                           | mend the events, then clear the task               |
| `profile`         | whole: the window is in, or not     | clear the task, it resumes                         |
| `plan`            | whole, not moved                    | clear the task                                     |
| `validate`        | whole, not moved, the plan refused  | read the task's log, plan again                    |
| `migrate`         | whole: old function or new one      | clear the task, it finishes                        |
| `verify`          | moved; something is wrong           | stop writers, read the task's log                  |
| `report`          | moved and verified                  | clear the task                                     |
"""

from datetime import UTC, datetime, timedelta

from airflow.sdk import DAG, CronDataIntervalTimetable, chain

from dags.plain_job import PlainJob
from dags.readable_datasets import readable_datasets
from dags.spark_job import SparkJob
from dags.window import find_window, moment_param
from schemas.dataset import Dataset

WINDOW = "{{ ti.xcom_pull(task_ids='window')['%s'] }}"
PLAN = "{{ ti.xcom_pull(task_ids='plan')['plan'] }}"


def rebalance_dag(dataset: Dataset) -> DAG:
    """The Dag of one dataset. Steps are separate where they can fail separately."""
    with DAG(
        dag_id=f"rebalance__{dataset.name}",
        doc_md=__doc__,
        description=dataset.about,
        schedule=CronDataIntervalTimetable(dataset.schedule, timezone="UTC"),
        start_date=datetime(dataset.start.year, dataset.start.month, dataset.start.day, tzinfo=UTC),
        catchup=False,
        max_active_runs=1,  # two migrations of one table would race
        default_args={"retries": 2, "retry_delay": timedelta(minutes=1)},
        params={
            "window_start": moment_param("First moment of the window, ISO 8601"),
            "window_end": moment_param("First moment after it"),
        },
        tags=["evenkeel", dataset.name],
    ) as dag:
        common = [
            "--dataset",
            dataset.name,
            "--window-start",
            WINDOW % "start",
            "--window-end",
            WINDOW % "end",
        ]
        with_plan = [*common, "--plan", PLAN]
        chain(
            find_window(dataset.schedule),
            SparkJob(task_id="check", job="check_window", arguments=common),
            SparkJob(task_id="profile", job="load_and_profile", arguments=common),
            PlainJob(task_id="plan", job="plan_moves", arguments=common),
            PlainJob(task_id="validate", job="validate_plan", arguments=with_plan),
            SparkJob(task_id="migrate", job="migrate_layout", arguments=with_plan),
            PlainJob(task_id="verify", job="verify_layout", arguments=with_plan),
            PlainJob(task_id="report", job="report_run", arguments=with_plan),
        )
    return dag


for _dataset in readable_datasets():
    globals()[f"rebalance__{_dataset.name}"] = rebalance_dag(_dataset)
