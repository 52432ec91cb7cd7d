"""What a run did, or why it did not, and the path of its page. The newest run if none is named."""

import argparse
from typing import Any

from cli.arguments import UsageError, add_dataset, known_dataset, one_beginning_with
from cli.console import DONE, Console
from cli.plan import plan_lines
from cli.text import moment, number, paint, table
from schemas.dataset import Dataset
from schemas.tables import RUNS
from spark_jobs.control_tables import read_one, read_rows
from spark_jobs.dataset_status import last_run
from spark_jobs.feed_assignments import feed_sentences
from spark_jobs.forecast_facts import forecast_sentence, regret_sentence
from spark_jobs.run_facts import run_facts

Facts = dict[str, Any]

EXAMPLES = """\
  evenkeel report clicks
  evenkeel report clicks run-2026-01-03T00:00
  evenkeel report clicks --json | jq .plan.load_after
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_dataset(parser)
    parser.add_argument("run_id", metavar="RUN", nargs="?", help="id of the run, or how it begins")


def run(args: argparse.Namespace, console: Console) -> int:
    dataset = known_dataset(args.dataset)
    row = read_one(RUNS, dataset=dataset.name, run=run_asked_for(dataset, args.run_id))
    facts = run_facts(dataset, row)
    console.show(run_lines(facts, columns=console.columns), facts)
    return DONE


def run_asked_for(dataset: Dataset, given: str | None) -> str:
    """The id of the run that was meant."""
    otherwise = f"evenkeel history {dataset.name} lists them."
    if given:
        names = read_rows(RUNS, dataset=dataset.name)["run"].to_pylist()
        return one_beginning_with(given, names, field="RUN", otherwise=otherwise)
    last = last_run(dataset)
    if last is None:
        raise UsageError(
            f"{dataset.name} must have had a run. Got none. evenkeel run {dataset.name} --window-start {dataset.start} makes one."
        )
    return str(last["run"])


def run_lines(facts: Facts, *, columns: int | None = None) -> list[str]:
    """A run as text, from ``run_facts``."""
    return [
        paint(f"{facts['dataset']}, window {moment(facts['window_start'])}, run {facts['run']}", "bold"),
        facts["headline"],
        *(f"  {reason}" for reason in facts["reasons"]),
        "",
        *(plan_lines(facts["plan"], columns=columns) if facts["plan"] else []),
        "",
        *(forecast_lines(facts["forecast"]) if facts["forecast"] else []),
        *(feed_sentences(facts["feeds"]) if facts["feeds"] else []),
        *_check_lines(facts["checks"]),
        *_step_lines(facts),
        "",
        f"Page: {facts['report']}",
    ]


def forecast_lines(forecast: Facts) -> list[str]:
    """The forecast of the window beside what came, the most wrong items by name."""
    rows = [
        [item["item"], number(item["expected"], 0), number(item["realised"], 0), _share(item["error"])]
        for item in forecast["items"]
    ]
    right = ("expected", "came", "off by")
    return [
        forecast_sentence(forecast),
        *(table(("most wrong", *right), rows, right=right) if rows else []),
        *([regret_sentence(forecast["regret"])] if forecast["regret"] else []),
        "",
    ]


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.2%}"


def _check_lines(checks: list[Facts]) -> list[str]:
    """How many expectations were met; of the others, what they found."""
    failed = [check for check in checks if not check["success"]]
    met = f"{len(checks) - len(failed)} of {len(checks)} expectations met"
    found = [
        f"  {paint(check['severity'], 'red')}: {check['sentence'] or check['column'] + ' is ' + check['observed']}"
        for check in failed
    ]
    return [met, *found]


def _step_lines(facts: Facts) -> list[str]:
    rows = [[step["name"], step["state"], f"{step['seconds']:.1f} s"] for step in facts["steps"]]
    total = f"{facts['seconds']:.1f} s of work, {facts['start_seconds']:.1f} s of it for starting Spark; {facts['rows_moved']:,} rows moved"
    return [*table(("step", "came to", "took"), rows, right=("took",)), total] if rows else []
