"""How a job's answer reaches Airflow: as JSON in a file that only this try knows."""

import json
import os
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from airflow.sdk import Context
from airflow.sdk.exceptions import AirflowException, AirflowFailException, AirflowSkipException

ROOT = Path(__file__).resolve().parents[1]
ERROR = "error"  # XCom in which a failed step leaves its sentence for the report


def result_of(context: Context, run: Callable[[str], None]) -> Any:
    """Call ``run`` with the path of a fresh file; what the job wrote there. A job's own sentence is its failure's text."""
    handle, name = tempfile.mkstemp(prefix="result-", suffix=".json")
    os.close(handle)
    try:
        run(name)
        return json.loads(Path(name).read_text())
    except AirflowException as failure:
        said = _what_was_said(name)
        sentence = said.get(ERROR) or str(failure)
        context["ti"].xcom_push(key=ERROR, value=sentence)
        kind = (
            AirflowFailException if said.get("is_final") else type(failure)
        )  # the former is not tried again
        raise kind(sentence) from None
    finally:
        Path(name).unlink(missing_ok=True)


def _what_was_said(name: str) -> dict[str, Any]:
    text = Path(name).read_text()
    return dict(json.loads(text)) if text else {}


def arguments_of(context: Context, arguments: Sequence[str], asked: str) -> list[str]:
    """The arguments, and those that the run's own params add to this step (``dags.asked``)."""
    return [*arguments, *answer_of_first(context).get(asked, [])]


def answer_of_first(context: Context) -> dict[str, Any]:
    """What the Dag's first task answered: it has looked at the params, and nobody else does."""
    return context["ti"].xcom_pull(task_ids=context["dag"].roots[0].task_id) or {}


def skip_if_named(context: Context) -> None:
    """A run that names a plan needs no window's figures: it goes on where the plan was made."""
    plan = answer_of_first(context).get("plan")
    if plan:
        raise AirflowSkipException(f"plan {plan} was named: nothing to measure")
