"""The operator that runs one of our Spark jobs and hands its result on."""

import time
from collections.abc import Sequence
from typing import Any

from airflow.providers.apache.spark.operators.spark_submit import SparkSubmitOperator
from airflow.sdk import Context

from dags.job_result import ROOT, arguments_of, result_of, skip_if_named


class SparkJob(SparkSubmitOperator):
    """
    Submit ``spark_jobs/<job>.py`` and return the JSON it writes, so that later tasks find it in XCom.

    Where Spark runs is said by the connection ``spark_default``; settings come from ``conf/``. ``asked`` names what the run's
    params add to the arguments.
    """

    def __init__(self, *, job: str, arguments: Sequence[str], asked: str = "", **kwargs: Any) -> None:
        super().__init__(
            application=str(ROOT / "spark_jobs" / f"{job}.py"),
            application_args=list(arguments),
            name=f"evenkeel {job}",
            **kwargs,
        )
        self.asked = asked

    def execute(self, context: Context) -> Any:
        return result_of(context, lambda result: self._submit(context, result))

    def _submit(self, context: Context, result: str) -> None:
        arguments = arguments_of(context, self.application_args or [], self.asked)
        self.application_args = [*arguments, "--result", result]
        self.env_vars = {"PYTHONPATH": str(ROOT), "EVENKEEL_ASKED_FOR": str(time.time())}
        super().execute(context)


class WindowJob(SparkJob):
    """A job about the window's events; a run that applies a named plan does without."""

    def execute(self, context: Context) -> Any:
        skip_if_named(context)
        return super().execute(context)
