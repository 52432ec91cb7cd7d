"""A person's yes or no before the table changes, where the run asks for one."""

from typing import Any

from airflow.providers.standard.operators.hitl import ApprovalOperator
from airflow.sdk import Context

from dags.job_result import answer_of_first


class Approval(ApprovalOperator):
    """Airflow's own approval, if the run's param ``approve`` is set; otherwise it passes at once."""

    def execute(self, context: Context) -> Any:
        if not answer_of_first(context).get("approve"):
            return {"chosen_options": [self.APPROVE], "asked": False}
        return super().execute(context)
