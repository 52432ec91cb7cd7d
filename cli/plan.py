"""
Plan on a profiled window, as the Dag's plan step does, and say what the plan would do. Nothing moves.

Stored are the plan, under its name, and how the last plan did in this window. Needs no Spark.
"""

import argparse
from datetime import datetime
from typing import Any

from cli.arguments import UsageError, add_dataset, known_dataset
from cli.console import DONE, Console
from cli.steps import TerminalTask
from cli.text import bar, moment, number, paint, short, signed_percent, size, table
from schemas.dataset import Dataset
from schemas.tables import PLANS
from spark_jobs.balance import profiled_windows
from spark_jobs.capacity_facts import capacity_sentences
from spark_jobs.control_tables import read_one
from spark_jobs.job import Window
from spark_jobs.job import moment as time_of
from spark_jobs.plan_moves import plan_moves
from spark_jobs.plan_settings import GIVEN, add_options
from spark_jobs.run_facts import distance, plan_facts_of

Facts = dict[str, Any]

EXAMPLES = """\
  evenkeel plan clicks
  evenkeel plan clicks --window 2026-01-04
  evenkeel plan clicks --max-migration 0.05 --max-routes 50
  evenkeel plan clicks --json | jq .imbalance_after
"""
MAX_SHOWN = 20  # moves; --json has them all
BAR, NARROW_BAR = 20, 12  # columns of the longest bar of loads
WIDE = 96  # columns of a terminal in which two of the former fit beside their figures


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_dataset(parser)
    parser.add_argument(
        "--window",
        type=time_of,
        metavar="START",
        help="start of the profiled window to plan on; the newest if not given",
    )
    add_options(parser)


def run(args: argparse.Namespace, console: Console) -> int:
    dataset = known_dataset(args.dataset)
    task = TerminalTask(
        dataset=dataset,
        given_window=window_asked_for(dataset, args.window),
        options={name: getattr(args, name) for name in GIVEN},
        console=console,
    )
    with console.step("plan"):
        planned = plan_moves(task)
    facts = plan_facts_of(dataset.name, read_one(PLANS, dataset=dataset.name, plan=planned["plan"]))
    lines = plan_lines(facts, columns=console.columns)
    console.show([*lines, "", how_to_apply(dataset.name, facts)], facts)
    return DONE


def window_asked_for(dataset: Dataset, start: datetime | None) -> Window:
    """The profiled window that begins then, or the newest."""
    windows = profiled_windows(dataset)
    if not windows:
        raise UsageError(
            f"{dataset.name} must have a profiled window. Got none. Run one: evenkeel run {dataset.name} --window-start {dataset.start}."
        )
    if start is None:
        return windows[-1]
    found = [window for window in windows if window.start == start]
    if not found:
        raise UsageError(
            f"--window must be the start of a profiled window. Got {start.isoformat()}. The newest is {windows[-1].start.isoformat()},"
            f" the oldest {windows[0].start.isoformat()}."
        )
    return found[0]


def how_to_apply(dataset: str, facts: Facts) -> str:
    if facts["from_function"] == facts["to_function"]:
        return "Nothing would move, so there is nothing to apply."
    return (
        f"Nothing was changed. To carry it out: {paint(f'evenkeel apply {dataset} ' + facts['plan'], 'bold')}"
    )


def plan_lines(facts: Facts, *, columns: int | None = None) -> list[str]:
    """A plan as text: in a sentence, loads before and after, moves and why, what stays hot, θ by budget."""
    return [
        paint(
            f"plan {facts['plan']} for the window {moment(facts['window_start'])}: {facts['verdict']}", "bold"
        ),
        *_figures(facts),
        "",
        *_load_lines(facts, columns),
        "",
        *_move_lines(facts["moves"], columns),
        *_hot_lines(facts["hot_buckets"]),
        *_frontier_lines(facts["frontier"]),
        *(f"  {reason}" for reason in facts["reasons"]),
        *capacity_lines(facts["capacity"]),
    ]


def _figures(facts: Facts) -> list[str]:
    budget = "no limit" if facts["max_migration"] is None else _migration_budget(facts["max_migration"])
    routes = "no limit" if facts["max_routes"] is None else f"at most {facts['max_routes']:,}"
    payback = facts["payback"]
    return [
        (
            f"  θ          {facts['imbalance_before']:.3f} → {facts['imbalance_after']:.3f}   goal {facts['max_imbalance']:g}, plain hash"
            f" {facts['imbalance_hash']:.3f}; {distance(facts)}"
        ),
        f"  moves      {facts['n_moves']:,} items, {size(facts['migration'])}: {facts['migration_share']:.2%} of the state   ({budget})",
        f"  routes     {facts['n_routes']:,}   ({routes})",
        f"  function   {short(facts['from_function'])} → {short(facts['to_function'])}   planner {facts['planner']}",
        (
            f"  payback    saves {payback['saved']:.6g} of cost, spends {payback['spent']:.6g}:"
            f" {'pays' if payback['is_worth_it'] else 'does not pay'}"
        ),
    ]


def _migration_budget(limit: float) -> str:
    return f"at most {limit:.1%}" if limit <= 1 else f"at most {size(limit)}"


def _load_lines(facts: Facts, columns: int | None) -> list[str]:
    before, after = facts["load_before"], facts["load_after"]
    n_buckets = max(len(before), len(after))
    before, after = ([*loads, *[0.0] * (n_buckets - len(loads))] for loads in (before, after))
    mean = sum(after) / facts["n_buckets"]
    longest = NARROW_BAR if columns is not None and columns < WIDE else BAR
    full = max(*before, *after, 0.0) * BAR / longest  # so that the longest bar is that long

    def cells(bucket: int) -> list[str]:
        return [
            str(bucket),
            *_load_cells(before[bucket], mean, full, facts["max_imbalance"]),
            *_load_cells(after[bucket], mean, full, facts["max_imbalance"]),
        ]

    head = ("bucket", "load before", "", " ", "load after", "  ", "   ")
    return table(
        head,
        [cells(bucket) for bucket in range(n_buckets)],
        right=("bucket", "load before", "", "load after", "  "),
    )


def _load_cells(load: float, mean: float, full: float, goal: float) -> list[str]:
    """The load, how far it is from the mean, and a bar: red above the goal."""
    excess = load / mean - 1.0 if mean > 0 else 0.0
    drawn = bar(load, full=full, columns=BAR)
    return [
        number(load, 0),
        signed_percent(excess),
        paint(drawn, "red" if excess > goal + 1e-9 else "green"),
    ]


def _move_lines(moves: list[Facts], columns: int | None) -> list[str]:
    if not moves:
        return ["No moves."]
    head = ("moves", "from", "to", "cost", "state", "θ without", "why")
    rows = [
        [
            move["item"],
            str(move["from_bucket"]),
            str(move["to_bucket"]),
            number(move["cost"], 0),
            size(move["state"]),
            number(move["imbalance_without"]),
            move["why"],
        ]
        for move in moves[:MAX_SHOWN]
    ]
    right = ("from", "to", "cost", "state", "θ without")
    lines = table(head, rows, right=right, spare=("cost", "θ without", "state"), columns=columns)
    more = len(moves) - MAX_SHOWN
    return [*lines, *([f"… and {more:,} more: --json has them all"] if more > 0 else [])]


def _hot_lines(hot: list[Facts]) -> list[str]:
    lines = []
    for bucket in hot:
        lines.append(
            paint(f"bucket {bucket['bucket']} stays at {bucket['load']:.3f} mean loads", "red")
            + f"; what binds: {', '.join(bucket['binds'])}"
        )
        lines += [f"  would help: {sentence}" for sentence in bucket["helps"]]
    return ["", *lines] if lines else []


def _frontier_lines(frontier: Facts) -> list[str]:
    """What more or less of a budget would buy, the other one as it is."""
    full = max(point["imbalance"] for points in frontier.values() for point in points)

    def rows(name: str, points: list[Facts]) -> list[list[str]]:
        return [
            [
                f"{name} {_budget(point['budget'], is_share=name == 'max_migration')}",
                number(point["imbalance"]),
                paint(bar(point["imbalance"], full=full, columns=20), "cyan"),
            ]
            for point in points
        ]

    by_migration, by_routes = frontier["by_migration"], frontier["by_routes"]
    both = [*rows("max_migration", by_migration), *rows("max_routes", by_routes)]
    return ["", *table(("within reach at", "θ", ""), both, right=("θ",)), ""]


def capacity_lines(capacity: Facts | None) -> list[str]:
    """How many workers the next window needs, where that is known; `explain --capacity` also says what is not."""
    if capacity is None or not capacity["lines"]:
        return []
    return ["", *(f"  {sentence}" for sentence in capacity_sentences(capacity))]


def _budget(budget: float | None, *, is_share: bool) -> str:
    if budget is None:
        return "without limit"
    return f"{budget:.0%}" if is_share else f"{budget:,.0f}"
