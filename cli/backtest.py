"""
Which planner, on which forecast, would have served a dataset best: its stored windows replayed, each plan judged by the window that followed.

Changes nothing but the table ``backtests`` and its page. Needs no Spark. The same windows give the same answer.
"""

import argparse
from typing import Any

from cli.arguments import add_dataset, known_dataset
from cli.console import DONE, Console
from cli.steps import TerminalTask
from cli.text import bar, number, paint, table
from spark_jobs.backtest_page import payback_words
from spark_jobs.backtest_plans import add_options, backtest_plans

Facts = dict[str, Any]

EXAMPLES = """\
  evenkeel backtest clicks
  evenkeel backtest clicks --windows 60 --planners evenkeel mixed
  evenkeel backtest clicks --json | jq .advice
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_dataset(parser)
    add_options(parser)


def run(args: argparse.Namespace, console: Console) -> int:
    dataset = known_dataset(args.dataset)
    options = {name: getattr(args, name) for name in ("windows", "planners", "forecasts")}
    told = backtest_plans(TerminalTask(dataset=dataset, options=options, console=console))
    console.show(backtest_lines(told, columns=console.columns), told)
    return DONE


def backtest_lines(told: Facts, *, columns: int | None = None) -> list[str]:
    """One row a contender, the best first; the bars are mean θ."""
    full = max([row["mean_imbalance"] for row in told["rows"]] + [told["goal"]])
    head = (
        "place", "planner", "planned on", "", "net", "paid in", "θ mean", " ", "θ worst", "moved", "routes", "back",
    )  # fmt: skip
    right = ("place", "net", "paid in", "θ mean", "θ worst", "moved", "routes", "back")
    rows = [_cells(row, full, told["goal"]) for row in told["rows"]]
    return [
        *table(head, rows, right=right, spare=(" ", "back", "routes", "paid in", "place"), columns=columns),
        "",
        "net: cost saved against the plain hash less the cost of moving, as a share of all cost; moved: share of all state a window.",
        "paid in: windows of gains as in the first that pay for the moves.",
        f"{told['advice'][0].upper()}{told['advice'][1:]}.",
        f"Page: {told['page']}",
    ]


def _cells(row: Facts, full: float, goal: float) -> list[str]:
    theta = row["mean_imbalance"]
    return [
        "-" if row["place"] is None else str(row["place"]),
        row["planner"],
        row["forecast"] or "-",
        "" if row["role"] == "contender" else row["role"],
        f"{row['net']:.2%}",
        payback_words(row["payback"]),
        number(theta),
        paint(bar(theta, full=full, columns=20), "red" if theta > goal + 1e-9 else "green"),
        number(row["worst_imbalance"]),
        f"{row['migration']:.2%}",
        str(row["n_routes"]),
        str(row["n_thrash"]),
    ]
