"""The operator that runs a job which needs no Spark, in a process of its own, and hands its result on."""

import subprocess
import sys
from collections.abc import Sequence
from typing import Any

from airflow.sdk import BaseOperator, Context
from airflow.sdk.exceptions import AirflowException, AirflowSkipException

from dags.job_result import ROOT, arguments_of, result_of


class PlainJob(BaseOperator):
    """
    Run ``spark_jobs/<job>.py`` with plain Python and return the JSON it writes.

    A process of its own, so that the scheduler's Python never imports what jobs import. ``asked`` names what the run's params
    add to the arguments.
    """

    template_fields: Sequence[str] = ("arguments",)

    def __init__(self, *, job: str, arguments: Sequence[str], asked: str = "", **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.job = job
        self.arguments = list(arguments)
        self.asked = asked

    def execute(self, context: Context) -> Any:  # whatever the job writes
        arguments = arguments_of(context, self.arguments, self.asked)
        return result_of(context, lambda result: self._run([*arguments, "--result", result]))

    def _run(self, arguments: Sequence[str]) -> None:
        command = [sys.executable, str(ROOT / "spark_jobs" / f"{self.job}.py"), *arguments]
        with subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True) as process:
            for line in process.stderr or ():
                self.log.info(line.rstrip())
        if process.returncode:
            raise AirflowException(f"{self.job} ended with {process.returncode}")


class Gate(PlainJob):
    """A job that answers whether to ``go``; if not, the steps after it are skipped, which is no failure."""

    def execute(self, context: Context) -> Any:
        answer = super().execute(context)
        if not answer["go"]:
            context["ti"].xcom_push(key="return_value", value=answer)
            raise AirflowSkipException("; ".join(answer["reasons"]))
        return answer
