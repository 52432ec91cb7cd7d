"""
Check everything of a dataset and change nothing: events, state, function, plans and the other control tables.

Facts are made here, Great Expectations judges them by ``schemas/*_suite.json``, and every judgement is kept in ``checks``. Fails
if one that is critical is not met, after all have been judged.
"""

import argparse
from datetime import UTC, datetime
from typing import Any

from spark_jobs.audit_facts import control_facts, events_facts, function_facts, plans_facts, state_facts
from spark_jobs.expectations import CRITICAL, Judgement, early_judge, judge, keep
from spark_jobs.job import JobError, Result, Task, moment, run_job

SUBJECTS = {
    "events": events_facts,
    "state": state_facts,
    "function": function_facts,
    "plans": plans_facts,
    "control": control_facts,
}


def audit_dataset(task: Task) -> Result:
    at = task.options.get("at") or datetime.now(UTC)
    facts: dict[str, dict[str, Any]] = {}
    failed: list[str] = []
    with early_judge() as pool:
        for subject, find in SUBJECTS.items():
            facts[subject] = find(task)
            judgements = pool.submit(judge, facts[subject], suite=subject, parameters={}).result()
            keep(task, f"audit of {subject}", judgements, at=at)
            failed += _say_failed(task, subject, judgements)
            task.say(
                f"{subject}: {sum(one.success for one in judgements)} of {len(judgements)} expectations met"
            )
    if failed:
        raise JobError(
            f"{task.dataset.name} must pass every critical expectation of an audit. Got: {'; '.join(failed)}."
            f" {_REMEDY}"
        )
    return facts


_REMEDY = (
    "Rows astray are brought home by repair_layout; control tables can be restored to an earlier version."
)


def _say_failed(task: Task, subject: str, judgements: list[Judgement]) -> list[str]:
    """The failed expectations that are critical; all failed ones are said."""
    failed = [one for one in judgements if not one.success]
    for one in failed:
        task.say(f"{one.severity}: {subject} {one.column} is {one.observed}")
    return [f"{subject} {one.column} is {one.observed}" for one in failed if one.severity == CRITICAL]


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--at", type=moment, help="moment under which the judgements are kept; now if not given"
    )


if __name__ == "__main__":
    run_job(audit_dataset, about=__doc__, add_options=add_options)
