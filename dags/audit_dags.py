"""
# audit

Check everything of one dataset, and change nothing: every row in the bucket its function says, statistics true, events readable,
the function total, plans and control tables consistent. Great Expectations judges; the results are kept in `checks`.

| if this fails | the state table is | then                                                              |
| ------------- | ------------------ | ----------------------------------------------------------------- |
| `audit`       | as it was          | read the sentence; rows astray are brought home by repair_layout  |
"""

from airflow.sdk import DAG, chain

from dags.asked import nothing_asked
from dags.dag_parts import RUN, dag_settings
from dags.readable_datasets import readable_datasets
from dags.spark_job import SparkJob
from schemas.dataset import Dataset


def audit_dag(dataset: Dataset) -> DAG:
    with DAG(
        dag_id=f"audit__{dataset.name}",
        doc_md=__doc__,
        description=f"Check every row and table of {dataset.name}",
        schedule=dataset.audit_schedule,
        catchup=False,
        **dag_settings(dataset),
    ) as dag:
        at = ["--at", "{{ dag_run.run_after.isoformat() }}"]
        chain(
            nothing_asked(),
            SparkJob(
                task_id="audit",
                job="audit_dataset",
                arguments=["--dataset", dataset.name, *RUN, *at],
                retries=0,
            ),
        )
    return dag


for _dataset in readable_datasets():
    globals()[f"audit__{_dataset.name}"] = audit_dag(_dataset)
