"""
Check everything of a dataset and change nothing: events, state, function, plans and the other control tables.

Facts are made here, Great Expectations judges them by ``schemas/*_suite.json``, and every judgement is kept in ``checks``. Fails
if one that is critical is not met, after all have been judged.
"""

import argparse
from dataclasses import dataclass
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


@dataclass(frozen=True, kw_only=True)
class Finding:
    """What an audit found about one subject."""

    subject: str
    facts: dict[str, Any]
    judgements: list[Judgement]

    @property
    def failed(self) -> list[Judgement]:
        return [one for one in self.judgements if not one.success]


def audit_dataset(task: Task) -> Result:
    found = find_all(task)
    failed = [
        f"{finding.subject} {one.column} is {one.observed}"
        for finding in found
        for one in finding.failed
        if one.severity == CRITICAL
    ]
    if failed:
        raise JobError(
            f"{task.dataset.name} must pass every critical expectation of an audit. Got: {'; '.join(failed)}."
            f" {REMEDY}"
        )
    return {finding.subject: finding.facts for finding in found}


def find_all(task: Task) -> list[Finding]:
    """Every subject's facts, judged; the judgements are kept, and those that failed are said."""
    at = task.options.get("at") or datetime.now(UTC)
    found = []
    with early_judge() as pool:
        for subject, find in SUBJECTS.items():
            facts = find(task)
            judgements = pool.submit(judge, facts, suite=subject, parameters={}).result()
            keep(task, f"audit of {subject}", judgements, at=at)
            found.append(Finding(subject=subject, facts=facts, judgements=judgements))
            _say(task, found[-1])
    return found


REMEDY = (
    "Rows astray are brought home by repair_layout; control tables can be restored to an earlier version."
)


def _say(task: Task, finding: Finding) -> None:
    for one in finding.failed:
        task.say(f"{one.severity}: {finding.subject} {one.column} is {one.observed}")
    n_judged = len(finding.judgements)
    task.say(f"{finding.subject}: {n_judged - len(finding.failed)} of {n_judged} expectations met")


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--at", type=moment, help="moment under which the judgements are kept; now if not given"
    )


if __name__ == "__main__":
    run_job(audit_dataset, about=__doc__, add_options=add_options)
