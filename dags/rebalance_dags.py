"""
# rebalance

Even out one dataset: check the window's events, load them into the state table and profile the keys, plan a better
function, decide whether it is needed and pays, validate the plan, migrate, verify, report.

A run by hand is a **dry run** unless `dry_run` is false or `plan` names a plan to apply. A backfill refreshes statistics and reports;
only the newest window may change the layout.

| if this fails     | the state table is                  | then                                               |
| ----------------- | ----------------------------------- | -------------------------------------------------- |
| `window`          | untouched                           | correct the run's params                           |
| `check`           | untouched                           | mend the events, then clear the task               |
| `profile`         | whole: the window is in, or not     | clear the task, it resumes                         |
| `plan`            | whole, not moved                    | clear the task                                     |
| `gate`            | whole, not moved                    | the plan you named is stale: plan again            |
| `validate`        | whole, not moved, the plan refused  | read the task's log, plan again                    |
| `migrate`         | whole: old function or new one;     | clear the task, it finishes                        |
|                   | shut where the mover is `merge`     |                                                    |
| `verify`          | moved; something is wrong           | stop writers, read the task's log                  |
| `report`          | as the steps before say             | clear the task                                     |

Skipped steps after `gate` are no failure: the report says why nothing had to move, or not now.
"""

from airflow.sdk import DAG, CronDataIntervalTimetable, chain

from dags.approval import Approval
from dags.asked import find_window, rebalance_params
from dags.dag_parts import RUN, WINDOW, dag_settings
from dags.migrate_job import MigrateJob
from dags.plain_job import Gate, PlainJob
from dags.readable_datasets import readable_datasets
from dags.report_job import ReportJob
from dags.signals import deadline_of
from dags.spark_job import WindowJob
from schemas.dataset import Dataset

PLAN = ["--plan", "{{ ti.xcom_pull(task_ids='plan')['plan'] }}"]
QUESTION = "Apply plan {{ ti.xcom_pull(task_ids='plan')['plan'] }} to %s?"
FIGURES = (
    "θ {{ '%.4f' % ti.xcom_pull(task_ids='plan')['imbalance_before'] }} →"
    " {{ '%.4f' % ti.xcom_pull(task_ids='plan')['imbalance_after'] }},"
    " {{ ti.xcom_pull(task_ids='plan')['n_moves'] }} moves"
)


def rebalance_dag(dataset: Dataset) -> DAG:
    """The Dag of one dataset. Steps are separate where they can fail separately."""
    with DAG(
        dag_id=f"rebalance__{dataset.name}",
        doc_md=__doc__,
        description=dataset.about,
        schedule=CronDataIntervalTimetable(dataset.schedule, timezone="UTC"),
        params=rebalance_params(),
        deadline=deadline_of(dataset),
        catchup=dataset.catchup,
        **dag_settings(dataset),
    ) as dag:
        name = dataset.name
        common = ["--dataset", name, *RUN, *WINDOW]
        window = find_window(dataset.schedule)
        chain(
            window,
            WindowJob(task_id="check", job="check_window", arguments=common, retries=0),
            WindowJob(task_id="profile", job="load_and_profile", arguments=common, asked="for_profile"),
            PlainJob(
                task_id="plan",
                job="plan_moves",
                arguments=common,
                asked="for_plan",
                trigger_rule="none_failed",
            ),
            Gate(task_id="gate", job="gate_plan", arguments=[*common, *PLAN], asked="for_gate"),
            Approval(task_id="approve", subject=QUESTION % name, body=FIGURES, pool="default_pool"),
            PlainJob(task_id="validate", job="validate_plan", arguments=[*common, *PLAN], retries=0),
            MigrateJob(
                task_id="migrate",
                dataset=name,
                job="migrate_layout",
                arguments=[*common, *PLAN],
                asked="for_migrate",
            ),
            PlainJob(task_id="verify", job="verify_layout", arguments=[*common, *PLAN]),
            # A teardown runs whatever failed, and leaves the run's state to `verify`. Were it counted, a report well written
            # would make every run a success.
            ReportJob(task_id="report", job="report_run", arguments=common).as_teardown(setups=window),
        )
    return dag


for _dataset in readable_datasets():
    globals()[f"rebalance__{_dataset.name}"] = rebalance_dag(_dataset)
