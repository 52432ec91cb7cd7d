"""Great Expectations as the judge: a small frame of facts in, one judgement an expectation out."""

import json
from collections.abc import Iterator, Mapping
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import datetime
from importlib import import_module
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pandas as pd

from schemas.tables import CHECKS
from spark_jobs.control_tables import replace_rows
from spark_jobs.job import JobError, Task

SUITES = Path(__file__).resolve().parents[1] / "schemas"
CRITICAL, HOLD, WARNING = "critical", "hold", "warning"


@dataclass(frozen=True, kw_only=True)
class Judgement:
    """What one expectation found."""

    expectation: str
    column: str
    severity: str  # critical: the run must stop; hold: the layout must stay; warning: a person should know
    success: bool
    observed: str  # JSON
    sentence: str | None = None  # what is wrong and what to do; None where nothing is, or the figure says it


@contextmanager
def early_judge() -> Iterator[Executor]:
    """
    A process that already imports Great Expectations while the caller starts Spark.

    Both take ten seconds or more on a small machine; ``submit(judge, ...)`` then answers at once.
    """
    with ProcessPoolExecutor(max_workers=1, mp_context=get_context("spawn")) as pool:
        pool.submit(import_module, "great_expectations")
        yield pool


def judge(
    facts: dict[str, Any],
    *,
    suite: str,
    parameters: dict[str, Any],
    severities: Mapping[str, str] | None = None,
) -> list[Judgement]:
    """
    Judge one row of facts by ``schemas/<suite>_suite.json``, in the order of its columns.

    An expectation of a fact that is not there is left out. ``severities`` gives columns a severity other than the suite's.
    """
    import great_expectations as gx
    from great_expectations.data_context.types.base import ProgressBarsConfig

    severities = severities or {}
    context = gx.get_context(mode="ephemeral")
    context.variables.progress_bars = ProgressBarsConfig(globally=False)
    frame = (
        context.data_sources.add_pandas(suite)
        .add_dataframe_asset(suite)
        .add_batch_definition_whole_dataframe(suite)
    )
    batch = frame.get_batch(batch_parameters={"dataframe": pd.DataFrame([facts])})
    expectations = gx.ExpectationSuite(name=suite, expectations=_expectations(suite, facts, severities))
    outcome = batch.validate(expectations, expectation_parameters=parameters)
    judgements = [_judgement(result.to_json_dict(), facts, severities) for result in outcome.results]
    return sorted(judgements, key=lambda one: (one.column, one.expectation))


def _expectations(suite: str, facts: dict[str, Any], severities: Mapping[str, str]) -> list[dict[str, Any]]:
    """The suite's expectations of these facts. Great Expectations has no word for hold: it is told warning."""
    document = json.loads((SUITES / f"{suite}_suite.json").read_text())
    found = []
    for one in document["expectations"]:
        column = one["kwargs"]["column"]
        if column in facts:
            severity = severities.get(column, one.get("severity", CRITICAL))
            found.append({**one, "severity": WARNING if severity == HOLD else severity})
    return found


def _judgement(result: dict[str, Any], facts: dict[str, Any], severities: Mapping[str, str]) -> Judgement:
    config = result["expectation_config"]
    column = config["kwargs"].get("column", "")
    return Judgement(
        expectation=config["type"],
        column=column,
        severity=severities.get(column, config.get("severity", CRITICAL)),
        success=bool(result["success"]),
        observed=json.dumps(facts.get(column), default=str),
    )


def keep(task: Task, subject: str, judgements: list[Judgement], *, at: datetime | None = None) -> None:
    """Store the judgements of one subject and window, or moment, in the place of earlier ones."""
    rows = [asdict(one) for one in judgements]
    moment = at or task.window.start
    replace_rows(rows, CHECKS, dataset=task.dataset.name, subject=subject, window_start=moment)


def stop_on_critical(task: Task, subject: str, judgements: list[Judgement]) -> None:
    """Say what failed; raise if any of it is critical."""
    failed = [one for one in judgements if not one.success]
    for one in failed:
        task.say(f"{one.severity}: {subject} {one.column} is {one.observed} ({one.expectation})")
    critical = [
        f"{one.column} is {one.observed} ({one.expectation})" for one in failed if one.severity == CRITICAL
    ]
    if critical:
        raise JobError(
            f"{subject} must pass every critical expectation of schemas/{subject}_suite.json. Got: {'; '.join(critical)}."
            " Mend the cause, then clear this step."
        )
