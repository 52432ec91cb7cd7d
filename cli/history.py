"""Window after window: θ that a plain hash would have had, θ before and after, what moved, and how each plan did one window later."""

import argparse
from typing import Any

from cli.arguments import add_dataset, known_dataset
from cli.console import DONE, Console
from cli.text import bar, moment, number, paint, size, table
from spark_jobs.run_history import history_of

Facts = dict[str, Any]

EXAMPLES = """\
  evenkeel history clicks
  evenkeel history clicks --json | jq '.[].imbalance'
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_dataset(parser)


def run(args: argparse.Namespace, console: Console) -> int:
    dataset = known_dataset(args.dataset)
    history = history_of(dataset.name)
    console.show(history_lines(history, goal=dataset.max_imbalance, columns=console.columns), history)
    return DONE


def history_lines(history: list[Facts], *, goal: float, columns: int | None = None) -> list[str]:
    """One row a window; the bars are θ that the window ended with, red above the goal."""
    if not history:
        return ["No runs yet."]
    full = max([row["imbalance"] or 0.0 for row in history] + [goal])
    head = (
        "window", "outcome", "θ hash", "θ before", "θ", "", "θ next", "without", "moved", "written", "routes", "back", "run",
    )  # fmt: skip
    right = ("θ hash", "θ before", "θ", "θ next", "without", "moved", "written", "routes", "back")
    spare = ("run", "written", "back", "routes", "", "θ hash", "without")
    rows = [_cells(row, full, goal) for row in history]
    return [
        *table(head, rows, right=right, spare=spare, columns=columns),
        "",
        (
            f"goal {goal:g}. θ next: what the next window had; without: what it would have had without this window's plan; back: moves that undo"
            " a recent one."
        ),
    ]


def _cells(row: Facts, full: float, goal: float) -> list[str]:
    theta = row["imbalance"]
    return [
        moment(row["window_start"]),
        row["outcome"],
        number(row["imbalance_hash"]),
        number(row["imbalance_before"]),
        number(theta),
        paint(bar(theta or 0.0, full=full, columns=20), "red" if (theta or 0.0) > goal + 1e-9 else "green"),
        number(row["imbalance_realised"]),
        number(row["imbalance_unmoved"]),
        "-" if row["migration_share"] is None else f"{row['migration_share']:.2%}",
        size(row["bytes_written"]),
        "-" if row["n_routes"] is None else str(row["n_routes"]),
        str(row["n_thrash"]),
        row["run"],
    ]
