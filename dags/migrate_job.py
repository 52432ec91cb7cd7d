"""The operator that migrates, and tells the world."""

from typing import Any

from airflow.sdk import Context

from dags.signals import alias_of, asset_of, tell_migration
from dags.spark_job import SparkJob

TOLD = ("plan", "function", "version", "rows_moved", "bytes_flipped", "bytes_written")


class MigrateJob(SparkJob):
    """
    The step that changes the table's function, by a plan or back.

    Its asset event says which function the table has now, the bytes, and the plan's θ where there is one. A dry run sends none.
    """

    def __init__(self, *, dataset: str, **kwargs: Any) -> None:
        super().__init__(inlets=[asset_of(dataset)], outlets=[alias_of(dataset)], **kwargs)
        self.dataset = dataset

    def execute(self, context: Context) -> Any:
        moved = super().execute(context)
        if not moved.get("dry_run"):
            planned = context["ti"].xcom_pull(task_ids="plan") or {}
            theta = {name: planned[name] for name in ("imbalance_before", "imbalance_after") if planned}
            tell_migration(context, self.dataset, {name: moved[name] for name in TOLD} | theta)
        return moved
