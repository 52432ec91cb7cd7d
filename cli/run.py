"""
Take one window through the whole loop in one process: check, load and profile, plan, gate, validate, migrate, verify, report.

A dry run unless --yes is given: the window is checked, profiled and planned on, and the state table stays as it is. The same jobs as the
Dag's, in the same order, for people without Airflow. Interrupted or killed, the same command again finishes.
"""

import argparse
from datetime import UTC, datetime
from typing import Any

from cli.apply import add_mover
from cli.arguments import UsageError, add_dataset, add_yes, known_dataset
from cli.console import DONE, REFUSED, Console
from cli.report import run_lines
from cli.steps import Run, TerminalTask, carry_out
from cli.text import paint
from schemas.dataset import Dataset
from schemas.intervals import interval_end
from spark_jobs.job import Window, moment
from spark_jobs.plan_settings import GIVEN, add_options
from spark_jobs.run_facts import Facts
from spark_jobs.run_outcome import DRY_RUN, HELD

EXAMPLES = """\
  evenkeel run clicks --window-start 2026-01-03               # a dry run of the window that begins then
  evenkeel run clicks --window-start 2026-01-03 --yes         # load it, plan, and migrate if it is needed and pays
  evenkeel run clicks --window-start 2026-01-03T06:00 --window-end 2026-01-03T12:00 --yes
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_dataset(parser)
    add_window(parser)
    parser.add_argument("--resume", action="store_true", help="end a pause after ineffective plans")
    add_options(parser)
    add_mover(parser)
    add_yes(parser, "no dry run: load the window, and migrate if the gate opens")


def add_window(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--window-start", required=True, type=moment, help="first moment of the window, ISO 8601; UTC"
    )
    parser.add_argument(
        "--window-end",
        type=moment,
        help="first moment after it; if not given, the next moment of the dataset's schedule",
    )


def run(args: argparse.Namespace, console: Console) -> int:
    dataset = known_dataset(args.dataset)
    window = window_asked_for(dataset, args.window_start, args.window_end)
    name = f"{'run' if args.yes else 'dry-run'}-{window.name}"
    task = TerminalTask(dataset=dataset, given_window=window, run=name, console=console)
    given = {option: getattr(args, option) for option in GIVEN}
    facts = run_window(Run(task), given=given, is_dry=not args.yes, resume=args.resume, mover=args.mover)
    console.show([*run_lines(facts, columns=console.columns), *_what_next(facts, dataset, args)], facts)
    is_held = facts["outcome"] == HELD and facts["plan"]["n_moves"] > 0
    return REFUSED if is_held else DONE


def window_asked_for(dataset: Dataset, start: datetime, end: datetime | None) -> Window:
    window_end = end or interval_end(dataset.schedule, start)
    if window_end <= start:
        raise UsageError(
            f"--window-start must lie before --window-end. Got {start.isoformat()} and {window_end.isoformat()}. Swap or widen them."
        )
    if start > datetime.now(UTC):
        raise UsageError(
            f"--window-start must not lie in the future. Got {start.isoformat()}. Take a window that has begun."
        )
    return Window(start=start, end=window_end)


def run_window(run: Run, *, given: dict[str, Any], is_dry: bool, resume: bool, mover: str | None) -> Facts:
    """The Dag's steps for one window; the run as the tables have it."""
    from spark_jobs.check_window import check_window
    from spark_jobs.gate_plan import gate_plan
    from spark_jobs.load_and_profile import load_and_profile
    from spark_jobs.plan_moves import plan_moves

    with run.reported():
        run.do("check", check_window)
        run.do("profile", load_and_profile, dry_run=is_dry)
        run.on(run.do("plan", plan_moves, **given)["plan"])
        gate = run.do("gate", gate_plan, dry_run=is_dry, resume=resume)
        if gate["go"]:
            carry_out(run, mover=mover)
    return run.facts()


def _what_next(facts: Facts, dataset: Dataset, args: argparse.Namespace) -> list[str]:
    """After a dry run: the command that is none, and whether the gate would let its plan through."""
    if facts["outcome"] != DRY_RUN:
        return []
    command = f"evenkeel run {dataset.name} --window-start {args.window_start:%Y-%m-%dT%H:%M} --yes"
    is_open = len(facts["reasons"]) == 1  # that it is a dry run
    would = (
        "load the window and move what the plan moves" if is_open else "load the window; nothing would move"
    )
    return ["", f"The state table is as it was. To {would}: {paint(command, 'bold')}"]
