"""The operator that runs one of our Spark jobs and hands its result on."""

from collections.abc import Sequence
from typing import Any

from airflow.providers.apache.spark.operators.spark_submit import SparkSubmitOperator
from airflow.sdk import Context

from dags.job_result import ROOT, result_of


class SparkJob(SparkSubmitOperator):
    """
    Submit ``spark_jobs/<job>.py`` and return the JSON it writes, so that later tasks find it in XCom.

    Where Spark runs is said by the connection ``spark_default``; settings come from ``conf/``.
    """

    def __init__(self, *, job: str, arguments: Sequence[str], **kwargs: Any) -> None:
        super().__init__(
            application=str(ROOT / "spark_jobs" / f"{job}.py"),
            application_args=list(arguments),
            name=f"evenkeel {job}",
            env_vars={"PYTHONPATH": str(ROOT)},
            **kwargs,
        )

    def execute(self, context: Context) -> Any:
        return result_of(lambda result: self._submit(context, result))

    def _submit(self, context: Context, result: str) -> None:
        self.application_args = [*(self.application_args or []), "--result", result]
        super().execute(context)
