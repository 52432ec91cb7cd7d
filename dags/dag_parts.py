"""What the Dags of a dataset have in common."""

from datetime import UTC, datetime, timedelta
from typing import Any

from dags.pool import pool_of
from dags.signals import on_failure
from schemas.dataset import Dataset

RUN = ["--run", "{{ run_id }}"]
WINDOW = [
    "--window-start", "{{ ti.xcom_pull(task_ids='window')['start'] }}",
    "--window-end", "{{ ti.xcom_pull(task_ids='window')['end'] }}",
]  # fmt: skip


def dag_settings(dataset: Dataset) -> dict[str, Any]:
    """Arguments of ``DAG`` that are the same for all Dags of a dataset."""
    return {
        "start_date": datetime(dataset.start.year, dataset.start.month, dataset.start.day, tzinfo=UTC),
        "max_active_runs": 1,
        "tags": ["evenkeel", dataset.name],
        "default_args": {
            "retries": 2,
            "retry_delay": timedelta(minutes=1),
            "pool": pool_of(dataset.name),
            # Of two runs that wait for the pool, the one that is further goes first.
            "weight_rule": "upstream",
            "on_failure_callback": on_failure(),
        },
    }
