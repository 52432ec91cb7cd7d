"""The operator that writes a run's report, whatever became of the run."""

import json
import tempfile
from pathlib import Path
from typing import Any

from airflow.sdk import Context

from dags.job_result import ERROR
from dags.plain_job import PlainJob


class ReportJob(PlainJob):
    """Hands the job what each step before it came to: its state, its answer, or the sentence it failed with."""

    def execute(self, context: Context) -> Any:
        with tempfile.TemporaryDirectory(prefix="report-") as folder:
            steps = Path(folder) / "steps.json"
            steps.write_text(json.dumps(self._steps(context), default=str))  # an approval holds a time
            self.arguments += ["--steps", str(steps)]
            plan = self._plan(context)
            self.arguments += ["--plan", plan] if plan else []
            return super().execute(context)

    def _steps(self, context: Context) -> list[dict[str, Any]]:
        ti, run = context["ti"], context["dag_run"]
        states = ti.get_task_states(dag_id=run.dag_id, run_ids=[run.run_id]).get(run.run_id, {})
        names = [name for name in context["dag"].task_ids if name != self.task_id and states.get(name)]
        return [
            {
                "name": name,
                "state": str(states[name]),
                "error": ti.xcom_pull(task_ids=name, key=ERROR) or "",
                "result": _answer(ti.xcom_pull(task_ids=name)),
            }
            for name in names
        ]

    def _plan(self, context: Context) -> str:
        return str(_answer(context["ti"].xcom_pull(task_ids="plan")).get("plan", ""))


def _answer(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
