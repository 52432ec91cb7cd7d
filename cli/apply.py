"""
Carry out a plan that was made before, by its name: gate, validate, migrate, verify, report, as the Dag's run of a named plan does.

A plan that starts from another function than the table's is refused before anything is done. Interrupted or killed, the same command
again finishes. With the mover flip the table has the old function or the new one at every moment, for the change is one commit; with merge it is
three, and the table refuses everybody else from the first to the last. The Dags' pool does not know of terminals, and need not: of two
changes at once one retries or is refused.
"""

import argparse
from typing import Any

from cli.arguments import UsageError, add_dataset, add_yes, known_dataset, one_beginning_with
from cli.console import DONE, REFUSED, Console, can_ask
from cli.plan import plan_lines
from cli.report import run_lines
from cli.steps import Run, TerminalTask, carry_out
from schemas.dataset import SCHEMA, Dataset
from schemas.tables import PLANS
from spark_jobs.control_tables import Row, read_one, read_rows
from spark_jobs.gate_plan import gate_plan
from spark_jobs.job import Window
from spark_jobs.plan_moves import plan_moves
from spark_jobs.run_facts import Facts, plan_facts_of

EXAMPLES = """\
  evenkeel apply clicks 1f2e3d4c5b6a7988
  evenkeel apply clicks 1f2e          # its first digits, where they begin one plan only
  evenkeel apply clicks 1f2e --yes    # without a question, as a script needs it
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_dataset(parser)
    parser.add_argument("plan", metavar="PLAN", help="name of a stored plan, or how it begins")
    add_mover(parser)
    add_yes(parser, "do not ask")


def add_mover(parser: argparse.ArgumentParser) -> None:
    movers = SCHEMA["properties"]["mover"]["enum"]
    parser.add_argument("--mover", choices=movers, help="how rows move; the dataset's own if not given")


def run(args: argparse.Namespace, console: Console) -> int:
    dataset = known_dataset(args.dataset)
    row = plan_asked_for(dataset, args.plan)
    if not args.yes and not can_ask():
        raise UsageError(
            f"--yes must be given where nobody can be asked. Got no terminal. evenkeel apply {dataset.name} {row['plan']} --yes"
            " changes the table."
        )
    task = task_for(dataset, row, console)
    gate_plan(task)  # a stale plan is refused here: no run has begun
    if not args.yes and not _confirmed(dataset, row, console):
        console.show(
            ["Nothing was changed."], {"dataset": dataset.name, "plan": row["plan"], "applied": False}
        )
        return REFUSED  # fmt: skip
    facts = apply_plan(Run(task), mover=args.mover)
    console.show(run_lines(facts, columns=console.columns), facts)
    return DONE


def plan_asked_for(dataset: Dataset, given: str) -> Row:
    """The plan of this name, or the one that begins so."""
    names = read_rows(PLANS, dataset=dataset.name)["plan"].to_pylist()
    otherwise = f"evenkeel plan {dataset.name} makes one."
    return read_one(
        PLANS,
        dataset=dataset.name,
        plan=one_beginning_with(given, names, field="PLAN", otherwise=otherwise),
    )


def task_for(dataset: Dataset, plan: Row, console: Console) -> TerminalTask:
    """What its steps work on: the plan, in the window it was made for."""
    return TerminalTask(
        dataset=dataset,
        given_window=Window(start=plan["window_start"], end=plan["window_end"]),
        plan=plan["plan"],
        run=f"apply-{plan['plan']}",
        options={"apply": True},
        console=console,
    )


def _confirmed(dataset: Dataset, row: Row, console: Console) -> bool:
    for line in plan_lines(plan_facts_of(dataset.name, row), columns=console.columns):
        console.say(line)
    return console.ask(f"Apply plan {row['plan']} to {dataset.name}?")


def apply_plan(run: Run, *, mover: str | None) -> Facts:
    """All steps of a run that names its plan; the run as the tables have it."""
    options: dict[str, Any] = {"apply": True}
    with run.reported():
        run.do("plan", plan_moves)
        run.do("gate", gate_plan, **options)
        carry_out(run, mover=mover)
    return run.facts()
