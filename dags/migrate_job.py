"""The operator that migrates, and tells the world."""

from typing import Any

from airflow.sdk import Context

from dags.signals import tell_migration
from dags.spark_job import SparkJob


class MigrateJob(SparkJob):
    """The step that changes the table. Its asset event says which function the table has now, θ, and the bytes."""

    def __init__(self, *, dataset: str, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.dataset = dataset

    def execute(self, context: Context) -> Any:
        moved = super().execute(context)
        planned = context["ti"].xcom_pull(task_ids="plan")
        names = ("plan", "imbalance_before", "imbalance_after")
        figures = {name: planned[name] for name in names} | {
            name: moved[name] for name in ("function", "rows_moved", "bytes_flipped", "bytes_written")
        }
        tell_migration(context, self.dataset, figures)
        return moved
