"""
Create a dataset's state table under the plain hash: empty, with the columns of the events, or as a bucketed copy of a table that
you have, which is only read.

Does nothing where the table is there and complete. Killed on the way, the same command again finishes.
"""

import argparse

from cli.arguments import add_dataset, known_dataset
from cli.console import DONE, Console
from cli.steps import TerminalTask
from cli.text import paint, short

EXAMPLES = """\
  evenkeel create clicks
  evenkeel create balances --source /lake/balances    # a Delta or Parquet table, by path, URI or catalog name
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_dataset(parser)
    parser.add_argument(
        "--source",
        metavar="TABLE",
        help="a Delta or Parquet table to copy: path, URI or catalog name; a relative path begins in the warehouse",
    )


def run(args: argparse.Namespace, console: Console) -> int:
    dataset = known_dataset(args.dataset)
    task = TerminalTask(dataset=dataset, options={"source": args.source}, console=console)
    with console.step("create"):
        from spark_jobs.create_layout import create_layout

        made = create_layout(task)
    following = f"evenkeel run {dataset.name} --window-start {dataset.start}"
    lines = [
        f"State table {made['state']}: function {short(made['function'])}, {made['rows']:,} rows copied.",
        f"Next: {paint(following, 'bold')}",
    ]
    console.show(lines, {"dataset": dataset.name, **made})
    return DONE
