"""
# roll_back

Take one dataset back to the function it had before its last migration, or to any function it ever had. A run is a **dry run**
unless `dry_run` is false. Nothing that was written since is lost: it is a migration like any other.

| if this fails | the state table is             | then                                |
| ------------- | ------------------------------ | ----------------------------------- |
| `asked`       | untouched                      | correct the run's params            |
| `roll_back`   | whole: old function or new one;| clear the task, it finishes         |
|               | shut where the mover is `merge`|                                     |
| `verify`      | moved; something is wrong      | stop writers, read the task's log   |
| `list_runs`   | moved and verified             | clear the task                      |
"""

from airflow.sdk import DAG, Param, chain

from dags.asked import known, roll_back_asked
from dags.dag_parts import RUN, dag_settings
from dags.migrate_job import MigrateJob
from dags.plain_job import PlainJob
from dags.readable_datasets import readable_datasets
from schemas.dataset import Dataset


def roll_back_dag(dataset: Dataset) -> DAG:
    with DAG(
        dag_id=f"roll_back__{dataset.name}",
        doc_md=__doc__,
        description=f"Undo the last migration of {dataset.name}",
        schedule=None,
        params={
            "to": Param(
                None,
                type=["null", "string"],
                pattern="^[0-9a-f]{64}$",
                description="Digest of the function to go to; the one before the last migration if not given",
            ),
            "dry_run": Param(True, type="boolean", description="Say what would move, and change nothing"),
            "mover": Param(
                None, type=["null", "string"], enum=[None, *known("mover")], description="How rows move"
            ),
        },
        catchup=False,
        **dag_settings(dataset),
    ) as dag:
        common = ["--dataset", dataset.name, *RUN]
        chain(
            roll_back_asked(),
            MigrateJob(
                task_id="roll_back",
                dataset=dataset.name,
                job="roll_back_layout",
                arguments=common,
                asked="for_roll_back",
            ),
            PlainJob(task_id="verify", job="verify_layout", arguments=common),
            PlainJob(task_id="list_runs", job="report_runs", arguments=common),
        )
    return dag


for _dataset in readable_datasets():
    globals()[f"roll_back__{_dataset.name}"] = roll_back_dag(_dataset)
