"""
# maintain

What one dataset's tables need now and then: settle files so that migrations can flip them, write files with deleted rows anew,
delete files that no version within `state.undo_days` needs, and forget windows older than `schedules.history_days`.

No row changes its bucket. Each step can be stopped and run again at any time.

| if this fails | the state table is | then            |
| ------------- | ------------------ | --------------- |
| `layout`      | whole              | clear the task  |
| `history`     | whole              | clear the task  |
"""

from airflow.sdk import DAG, chain

from dags.asked import nothing_asked
from dags.dag_parts import RUN, dag_settings
from dags.plain_job import PlainJob
from dags.readable_datasets import readable_datasets
from dags.spark_job import SparkJob
from schemas.dataset import Dataset


def maintain_dag(dataset: Dataset) -> DAG:
    with DAG(
        dag_id=f"maintain__{dataset.name}",
        doc_md=__doc__,
        description=f"Settle and purge {dataset.name}",
        schedule=dataset.maintain_schedule,
        catchup=False,
        **dag_settings(dataset),
    ) as dag:
        common = ["--dataset", dataset.name, *RUN]
        chain(
            nothing_asked(),
            SparkJob(task_id="layout", job="maintain_layout", arguments=common),
            PlainJob(task_id="history", job="expire_history", arguments=common),
        )
    return dag


for _dataset in readable_datasets():
    globals()[f"maintain__{_dataset.name}"] = maintain_dag(_dataset)
