"""Where every dataset stands: its function, θ of the newest profiled window under it, the last run, and what to do next."""

import argparse
from collections.abc import Sequence
from typing import Any

from cli.arguments import UsageError, known_dataset, not_one_of
from cli.console import ATTENTION, DONE, Console
from cli.text import moment, number, paint, short, table
from schemas.dataset import DatasetError, dataset_files
from spark_jobs.capacity_facts import concerns
from spark_jobs.dataset_status import dataset_status
from spark_jobs.job import sentence_of

Facts = dict[str, Any]

EXAMPLES = """\
  evenkeel status
  evenkeel status clicks
  evenkeel status --exit-code || mail -s 'evenkeel wants you' me    # 4 if a dataset needs somebody
"""
_COLOUR_OF = {
    "migrated": "green",
    "held": "yellow",
    "failed": "red",
    "dry run": "cyan",
    "planned": "cyan",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("datasets", metavar="DATASET", nargs="*", help="all of them if none is named")
    parser.add_argument(
        "--exit-code", action="store_true", help="end with 4 if there is something to do for somebody"
    )


def run(args: argparse.Namespace, console: Console) -> int:
    found = [status_of(name) for name in names_asked_for(args.datasets)]
    console.show(status_lines(found, columns=console.columns), found)
    needs_attention = any(one["next"]["needs_attention"] for one in found)
    return ATTENTION if args.exit_code and needs_attention else DONE


def names_asked_for(given: Sequence[str]) -> list[str]:
    known = [path.stem for path in dataset_files()]
    for name in given:
        if name not in known:
            raise UsageError(not_one_of("DATASET", name, known, otherwise="Add datasets/<name>.yaml."))
    return list(given) or known


def status_of(name: str) -> Facts:
    """The dataset's status; of one whose file has mistakes, that it has."""
    try:
        return dataset_status(known_dataset(name))
    except DatasetError as error:
        n_mistakes = len(str(error).splitlines())
        sentence = f"mistakes in its file: {n_mistakes}. To read them: evenkeel datasets check"
        return _unknown(name, "mistakes", sentence)
    except Exception as error:
        told = sentence_of(error)
        if told is None:
            raise
        return _unknown(name, "unreadable", told)


def _unknown(name: str, kind: str, sentence: str) -> Facts:
    """A dataset that cannot be looked at; the others are shown all the same."""
    return {"dataset": name, "next": {"kind": kind, "sentence": sentence, "needs_attention": True}}


def status_lines(found: Sequence[Facts], *, columns: int | None = None) -> list[str]:
    """One row a dataset, and below the table what comes next for each."""
    if not found:
        return ["No datasets yet. Add datasets/<name>.yaml; datasets/clicks.yaml is a complete example."]
    head = ("dataset", "function", "buckets", "slots", "routes", "θ now", "goal", "last window", "outcome")
    lines = table(
        head,
        [_cells(one) for one in found],
        right=("buckets", "slots", "routes", "θ now", "goal"),
        spare=("slots", "routes", "buckets", "function"),
        columns=columns,
    )
    wide = max(len(one["dataset"]) for one in found)
    return [*lines, "", *(line for one in found for line in _below_lines(one, wide))]


def _cells(one: Facts) -> list[str]:
    last = one.get("last_run") or {}
    outcome = last.get("outcome", "-")
    goal = one.get("max_imbalance")
    return [
        one["dataset"],
        short(one.get("function")),
        *(str(one[name]) if name in one else "-" for name in ("n_buckets", "n_slots", "n_routes")),
        number(one.get("imbalance")),
        "-" if goal is None else f"{goal:g}",
        moment(last.get("window_start")),
        paint(outcome, _COLOUR_OF.get(outcome, "dim")),
    ]


def _below_lines(one: Facts, columns: int) -> list[str]:
    """What comes next, and which workers there are too few of."""
    following = one["next"]
    colour = "yellow" if following["needs_attention"] else "green"
    sentences = [paint(following["sentence"], colour), *concerns(one.get("capacity"))]
    return [f"{one['dataset']:<{columns}}  {sentence}" for sentence in sentences]
