"""
Take the state table back to the function it had before its last migration, or to any function it has a name for.

A dry run first: what would be flipped and rewritten. Then the question, or --yes. It is a migration like any other: in one commit with
the mover flip, in three with merge, which, once interrupted, keeps the table shut until the same command is given again. Rows that came in since are
kept.
"""

import argparse
from typing import Any

from cli.apply import add_mover
from cli.arguments import add_dataset, add_yes, known_dataset, one_beginning_with
from cli.console import DONE, REFUSED, Console, can_ask
from cli.steps import TerminalTask
from cli.text import paint, short, size
from schemas.dataset import Dataset
from schemas.tables import FUNCTIONS
from spark_jobs.control_tables import read_rows
from spark_jobs.dataset_status import dataset_status
from spark_jobs.table_log import recent_changes

Facts = dict[str, Any]

EXAMPLES = """\
  evenkeel roll-back clicks                       # what it would take; on a terminal, then asks
  evenkeel roll-back clicks --yes
  evenkeel roll-back clicks --to 3f9a1c2b --yes   # a function by how its digest begins
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_dataset(parser)
    parser.add_argument(
        "--to",
        metavar="FUNCTION",
        help="digest, or how it begins; the one before the last migration if not given",
    )
    add_mover(parser)
    add_yes(parser, "do not ask, and do it")


def run(args: argparse.Namespace, console: Console) -> int:
    dataset = known_dataset(args.dataset)
    options = {"to": function_asked_for(dataset, args.to), "mover": args.mover}
    task = TerminalTask(dataset=dataset, options=options, console=console)
    if not args.yes:
        found = _preview(task)
        if not can_ask():
            console.show([*preview_lines(found), _how(args)], found)
            return DONE
        for line in preview_lines(found):
            console.say(line)
        if not console.ask(f"Roll {dataset.name} back to {short(found['function'])}?"):
            console.show(["Nothing was changed."], found)
            return REFUSED
    moved = _roll_back(task)
    status = dataset_status(dataset)
    console.show(done_lines(moved, status), {**moved, "status": status})
    return DONE


def function_asked_for(dataset: Dataset, given: str | None) -> str | None:
    """The digest of the function that was meant; None: the one before the last migration."""
    if given is None:
        return None
    names = read_rows(FUNCTIONS, dataset=dataset.name)["function"].to_pylist()
    had = [short(change["from_function"]) for change in recent_changes(dataset)]
    otherwise = f"The table had {', '.join(dict.fromkeys(had)) or 'no other yet'}, the newest first."
    return one_beginning_with(given, names, field="--to", otherwise=otherwise)


def _preview(task: TerminalTask) -> Facts:
    from dataclasses import replace

    from spark_jobs.roll_back_layout import roll_back_layout

    with task.console.step("roll_back, dry run"):
        return roll_back_layout(replace(task, options={**task.options, "dry_run": True}))


def _roll_back(task: TerminalTask) -> Facts:
    from spark_jobs.report_runs import report_runs
    from spark_jobs.roll_back_layout import roll_back_layout
    from spark_jobs.verify_layout import verify_layout

    with task.console.step("roll_back"):
        moved = roll_back_layout(task)
    with task.console.step("verify"):
        verified = verify_layout(task)
    with task.console.step("report"):
        report_runs(task)
    return {"dataset": task.dataset.name, **moved, "verified": verified}


def preview_lines(found: Facts) -> list[str]:
    """What the mover that was asked for would do: ``merge`` flips no file, it writes rows."""
    if "files_flipped" in found:
        would = (
            f"{found['files_flipped']:,} files would be flipped, {found['files_rewritten']:,} rewritten"
            f" ({size(found['bytes_to_rewrite'])})"
        )
    else:
        would = f"{found['rows_at_least']:,} to {found['rows_at_most']:,} rows would be written anew"
    return [f"To function {short(found['function'])}: {would}."]


def _how(args: argparse.Namespace) -> str:
    given = "".join(f" --{name} {value}" for name in ("to", "mover") if (value := getattr(args, name)))
    return (
        f"Nothing was changed. To do it: {paint(f'evenkeel roll-back {args.dataset}{given} --yes', 'bold')}"
    )


def done_lines(moved: Facts, status: Facts) -> list[str]:
    theta = "-" if status["imbalance"] is None else f"{status['imbalance']:.3f}"
    return [
        (
            f"{moved['dataset']} obeys function {short(moved['function'])} now: {moved['rows_moved']:,} rows moved, {size(moved['bytes_written'])}"
            f" written, {moved['verified']['rows_compared']:,} rewritten rows compared. θ is {theta}."
        ),
        f"Next: {status['next']['sentence']}",
    ]
