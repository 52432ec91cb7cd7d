"""
Check everything of a dataset and change nothing, as the audit Dag does: every row in the bucket its function says, statistics true,
events readable, the function total, plans and control tables consistent. Reads the whole state table.
"""

import argparse
from dataclasses import asdict
from typing import Any

from cli.arguments import add_dataset, known_dataset
from cli.console import ATTENTION, DONE, Console
from cli.steps import TerminalTask
from cli.text import paint, table

Facts = dict[str, Any]

EXAMPLES = """\
  evenkeel audit clicks
  evenkeel audit clicks --json | jq '.findings[] | select(.failed > 0)'
"""
_ASTRAY = ("rows_astray", "false_files", "doubled_keys")  # of the state: there are files to name


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_dataset(parser)


def run(args: argparse.Namespace, console: Console) -> int:
    dataset = known_dataset(args.dataset)
    facts = audit(TerminalTask(dataset=dataset, console=console))
    console.show(audit_lines(facts), facts)
    return ATTENTION if facts["needs_attention"] else DONE


def audit(task: TerminalTask) -> Facts:
    """What ``audit_dataset`` judges, and the files in trouble that ``audit_layout`` names."""
    from spark_jobs.audit_dataset import REMEDY, find_all
    from spark_jobs.audit_layout import audit as audit_state
    from spark_jobs.expectations import CRITICAL

    with task.console.step("audit"):
        found = find_all(task)
    is_critical = any(one.severity == CRITICAL for finding in found for one in finding.failed)
    state = next(finding.facts for finding in found if finding.subject == "state")
    examples = audit_state(task)["examples"] if any(state[name] for name in _ASTRAY) else []
    return {
        "dataset": task.dataset.name,
        "needs_attention": is_critical,
        "findings": [
            {
                "subject": finding.subject,
                "judged": len(finding.judgements),
                "failed": len(finding.failed),
                "facts": finding.facts,
                "failures": [asdict(one) for one in finding.failed],
            }
            for finding in found
        ],
        "files_in_trouble": examples,
        "remedy": REMEDY if is_critical else None,
    }


def audit_lines(facts: Facts) -> list[str]:
    rows = [
        [
            one["subject"],
            str(one["judged"] - one["failed"]),
            str(one["judged"]),
            "; ".join(f"{bad['severity']}: {bad['column']} is {bad['observed']}" for bad in one["failures"]),
        ]
        for one in facts["findings"]
    ]
    state = next(one["facts"] for one in facts["findings"] if one["subject"] == "state")
    said = (
        paint(f"{facts['dataset']} is not as it should be. {facts['remedy']}", "red")
        if facts["needs_attention"]
        else paint(
            f"{facts['dataset']} is as it should be: {state['rows']:,} rows in {state['files']:,} files.",
            "green",
        )
    )
    files = [
        f"  file {file['name']} in bucket {file['bucket']}: {file['rows_astray']:,} rows astray, one of key {file['example']}"
        for file in facts["files_in_trouble"]
    ]
    return [*table(("checked", "met", "of", ""), rows, right=("met", "of")), *files, "", said]
