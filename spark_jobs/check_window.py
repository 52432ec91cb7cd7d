"""
Check the window's events before anything is done with them.

A failed check is ``critical`` (the step fails, nothing is loaded), a ``hold`` (the window is loaded and profiled, but the
layout must not change because of it) or a ``warning``; the dataset's ``checks.severity`` says which.
"""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from schemas.dataset import Dataset
from spark_jobs.expectations import CRITICAL, HOLD, WARNING, Judgement, early_judge, judge, keep
from spark_jobs.feeds import read_events
from spark_jobs.job import JobError, Result, Task, run_job
from spark_jobs.load_window import window_events
from spark_jobs.window_facts import (
    Facts,
    check_columns_of_events,
    count_lost_events,
    facts_of_window,
    has_events,
)
from spark_jobs.window_history import (
    SUBJECT,
    completeness_note,
    has_later_profile,
    usual_rows,
)
from spark_jobs.window_sentences import sentence_about


def check_window(task: Task) -> Result:
    """
    The window's facts, and what they hold back and warn of.

    ``held`` and ``warned`` are the sentences of failed checks of that severity. All judgements are kept in ``checks``, also
    when one of them stops the run.
    """
    now = datetime.now(UTC)
    with early_judge() as pool:
        facts = find_facts(task, now=now)
        limits, severities = _limits(task.dataset), _severities(task.dataset)
        judging = pool.submit(judge, facts, suite=SUBJECT, parameters=limits, severities=severities)
        judgements = [_worded(one, facts, task) for one in judging.result()]
    keep(task, SUBJECT, judgements)
    sentences = {severity: _failed(task, judgements, severity) for severity in (CRITICAL, HOLD, WARNING)}
    if sentences[CRITICAL]:
        raise JobError(" ".join(sentences[CRITICAL]))
    n_met = sum(one.success for one in judgements)
    task.say(f"{facts['rows']:,} events, {n_met} of {len(judgements)} expectations met")
    return {**facts, "held": sentences[HOLD], "warned": sentences[WARNING]}


def find_facts(task: Task, *, now: datetime) -> Facts:
    """All that is judged about the window, as it is at this moment."""
    events = read_events(task.spark, task.dataset)
    check_columns_of_events(task.dataset, events)
    facts = facts_of_window(window_events(task), task.dataset)
    usual = usual_rows(task.dataset.name, task.window)
    return {
        **facts,
        "usual_rows": usual,
        "completeness": None if usual is None else facts["rows"] / usual,
        "event_times": count_lost_events(events, task.dataset, window=task.window, now=now),
        "newest": is_newest(task, now=now),
    }


def is_newest(task: Task, *, now: datetime) -> bool:
    """
    Whether no later window should decide about the layout in the place of this one.

    A later one should if it was profiled already, or if it is over and there are events after this window.
    """
    window = task.window
    if has_later_profile(task.dataset.name, window):
        return False
    if window.end + (window.end - window.start) > now:
        return True
    events = read_events(task.spark, task.dataset)
    return not has_events(events, task.dataset, start=window.end, end=now)


def _limits(dataset: Dataset) -> dict[str, Any]:
    return {
        "min_rows": dataset.min_rows,
        "min_share": dataset.min_share,
        "max_null_keys": dataset.max_null_keys,
    }


def _severities(dataset: Dataset) -> dict[str, str]:
    """By fact: each is named like its check, but for the rows."""
    checks = {"rows": "min_rows"} | {
        check: check for check in ("completeness", "null_keys", "event_times", "duplicates", "cost")
    }
    return {column: dataset.severity_of(check) for column, check in checks.items()} | {"newest": HOLD}


def _worded(judgement: Judgement, facts: Facts, task: Task) -> Judgement:
    """With the sentence of a failed check, and with what later windows want to know of this one."""
    if not judgement.success:
        judgement = replace(judgement, sentence=sentence_about(judgement.column, facts, task))
    if judgement.column == "completeness":
        note = completeness_note(facts["completeness"], facts["usual_rows"], task.window)
        judgement = replace(judgement, observed=note)
    return judgement


def _failed(task: Task, judgements: list[Judgement], severity: str) -> list[str]:
    """The sentences of the failed checks of this severity; each is said."""
    sentences = [
        one.sentence or one.column for one in judgements if not one.success and one.severity == severity
    ]
    for sentence in sentences:
        task.say(f"{severity}: {sentence}")
    return sentences


if __name__ == "__main__":
    run_job(check_window, about=__doc__, needs=("window",))
