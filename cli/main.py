"""The command ``evenkeel``: finds the verb, runs it, and turns what it came to into an exit code."""

import argparse
import json
import shutil
import sys
import textwrap
from collections.abc import Sequence
from importlib import import_module

from cli.arguments import Parser, UsageError, not_one_of
from cli.console import FAILED, INTERRUPTED, REFUSED, USAGE, Console
from cli.text import render
from spark_jobs.job import NotThereError, RefusalError, sentence_of

VERBS = {
    "status": "where every dataset stands, and what to do next",
    "explain": "where a key, a slot or a bucket is, why, and what would change it",
    "plan": "plan on a profiled window; nothing moves",
    "apply": "carry out a plan by its name: gate, validate, migrate, verify, report",
    "roll-back": "take the table back to an earlier function",
    "run": "one window as the Dag does it, in one process",
    "aggregate": "a window's result for every key, in two stages that no heavy key slows down",
    "create": "create a dataset's state table, empty or from a table that you have",
    "audit": "check every row and every table of a dataset, and change nothing",
    "report": "a run's facts and the path of its page",
    "history": "window after window: θ, what moved, what came of it",
    "backtest": "which planner on which forecast would have served best",
    "datasets": "check dataset files",
}
EXIT_CODES = {
    0: "done, or nothing to do",
    1: "failed; one sentence on standard error says what and why. `datasets check`: a file has mistakes",
    2: "the command was not understood: a verb, a dataset, a plan, a window or a bucket that is not there",
    3: "refused: a stale plan, a plan that would move something and that the gate holds, or a person who said no",
    4: "somebody should look: `audit` found something, or `status --exit-code` did",
    130: "interrupted; the table has the old function or the new one, or is shut by a merge on its way: `status` says what finishes it",
}


def main(argv: Sequence[str]) -> int:
    """Run one command. Everything that can go wrong for a user ends in a sentence and an exit code."""
    console = Console(is_json="--json" in argv)
    try:
        return _run(argv, console)
    except (UsageError, NotThereError) as error:
        return _fail(console, str(error), USAGE)
    except RefusalError as error:
        return _fail(console, str(error), REFUSED)
    except KeyboardInterrupt:
        said = (
            "Interrupted. The table has the old function or the new one: give the same command again, it finishes. A merge on its way"
            " keeps the table shut: evenkeel status says what finishes it."
        )
        return _fail(console, said, INTERRUPTED)
    except BrokenPipeError:
        raise
    except Exception as error:
        sentence = sentence_of(error)
        if sentence is None:
            raise
        return _fail(console, sentence, FAILED)


def _run(argv: Sequence[str], console: Console) -> int:
    if not argv or argv[0] in ("-h", "--help", "help"):
        sys.stdout.write(usage())
        return 0 if argv else USAGE
    verb, *rest = argv
    if verb not in VERBS:
        raise UsageError(not_one_of("verb", verb, VERBS, otherwise="evenkeel --help tells what each does."))
    module = import_module(f"cli.{verb.replace('-', '_')}")
    parser = Parser(
        prog=f"evenkeel {verb}",
        description=_folded(module.__doc__ or ""),
        epilog=f"examples:\n{module.EXAMPLES}\n{_exit_codes()}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    module.add_arguments(parser)
    parser.add_argument(
        "--json", action="store_true", help="one JSON document on standard output, figures exact"
    )
    try:
        args = parser.parse_args(rest)
    except SystemExit:  # --help has been answered
        return 0
    return int(module.run(args, console))


def usage() -> str:
    """What ``evenkeel --help`` shows."""
    verbs = "".join(f"  {verb:<10} {about}\n" for verb, about in VERBS.items())
    return (
        "usage: evenkeel VERB …\n\nKeeps keyed Delta tables evenly spread over their buckets.\n\nverbs:\n"
        f"{verbs}\n`evenkeel VERB --help` shows a verb's arguments and examples. Every verb takes --json.\n\n{_exit_codes()}"
    )


def _folded(text: str) -> str:
    """Its paragraphs, each as wide as the terminal allows."""
    return "\n\n".join(textwrap.fill(part, _columns()) for part in text.strip().split("\n\n"))


def _exit_codes() -> str:
    lines = [
        textwrap.fill(meaning, _columns(), initial_indent=f"  {code:<4}", subsequent_indent=" " * 6)
        for code, meaning in EXIT_CODES.items()
    ]
    return "\n".join(["exit codes:", *lines, ""])


def _columns() -> int:
    """What argparse itself takes."""
    return shutil.get_terminal_size().columns - 2


def _fail(console: Console, sentence: str, code: int) -> int:
    if console.is_json:
        sys.stdout.write(json.dumps({"error": sentence, "exit_code": code}) + "\n")
    for line in sentence.splitlines():
        sys.stderr.write(f"evenkeel: {render(line)}\n")
    return code
