"""
Compute a window's result for every key, as the dataset's merge: says, in two stages: partial results per bucket, then their merge.

A splitter spreads the rows so that no key makes a straggler; without --splitter it is chosen, and the reason is told. The results are those of
a plain groupBy. Given again, the command replaces the window's results in one commit.
"""

import argparse

from cli.arguments import add_dataset, known_dataset
from cli.console import DONE, Console
from cli.run import add_window, window_asked_for
from cli.steps import TerminalTask
from spark_jobs.splitter_options import add_splitter

EXAMPLES = """\
  evenkeel aggregate clicks --window-start 2026-01-03                            # the splitter that suits the window
  evenkeel aggregate clicks --window-start 2026-01-03 --splitter pkg --choices 5
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_dataset(parser)
    add_window(parser)
    add_splitter(parser)


def run(args: argparse.Namespace, console: Console) -> int:
    dataset = known_dataset(args.dataset)
    window = window_asked_for(dataset, args.window_start, args.window_end)
    options = {"splitter": args.splitter, "choices": args.choices}
    task = TerminalTask(dataset=dataset, given_window=window, options=options, console=console)
    with console.step("aggregate"):
        from spark_jobs.aggregate_window import aggregate_window

        made = aggregate_window(task)
    lines = [
        f"{made['keys']:,} results of {made['rows']:,} rows in {made['table']}.",
        f"Splitter {made['splitter']}: {made['reason']}",
        f"Γ {made['merge_cost']:,} partial results; θ of rows over {dataset.n_buckets} buckets {made['imbalance']:.3f}.",
    ]
    console.show(lines, {"dataset": dataset.name, "window": window.name, **made})
    return DONE
