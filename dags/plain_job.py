"""The operator that runs a job which needs no Spark, in a process of its own, and hands its result on."""

import subprocess
import sys
from collections.abc import Sequence
from typing import Any

from airflow.sdk import BaseOperator, Context
from airflow.sdk.exceptions import AirflowException

from dags.job_result import ROOT, result_of


class PlainJob(BaseOperator):
    """
    Run ``spark_jobs/<job>.py`` with plain Python and return the JSON it writes.

    A process of its own, so that the scheduler's Python never imports what jobs import.
    """

    template_fields: Sequence[str] = ("arguments",)

    def __init__(self, *, job: str, arguments: Sequence[str], **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.job = job
        self.arguments = list(arguments)

    def execute(self, context: Context) -> Any:  # noqa: ARG002  (whatever the job writes; Airflow's own)
        return result_of(self._run)

    def _run(self, result: str) -> None:
        command = [
            sys.executable,
            str(ROOT / "spark_jobs" / f"{self.job}.py"),
            *self.arguments,
            "--result",
            result,
        ]
        done = subprocess.run(command, cwd=ROOT, stderr=subprocess.PIPE, text=True, check=False)
        for line in done.stderr.splitlines():
            self.log.info(line)
        if done.returncode:
            raise AirflowException(
                done.stderr.strip().rpartition("\n")[2] or f"{self.job} ended with {done.returncode}"
            )
