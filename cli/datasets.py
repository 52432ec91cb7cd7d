"""
Check dataset files: each is fine, or all its mistakes are told, with field, rule, value and remedy.

A file that is named is checked against those of datasets/ too: no two datasets may share a state table.
"""

import argparse
from pathlib import Path
from typing import Any

from cli.console import DONE, FAILED, Console
from cli.text import paint
from schemas.dataset import DatasetError, dataset_files
from schemas.reading import Read, read_together

Facts = dict[str, Any]

EXAMPLES = """\
  evenkeel datasets check
  evenkeel datasets check datasets/clicks.yaml drafts/orders.yaml
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("action", metavar="check", choices=["check"], help="say what is wrong with them")
    parser.add_argument(
        "files", metavar="FILE", nargs="*", type=Path, default=[], help="all of datasets/ if none is named"
    )


def run(args: argparse.Namespace, console: Console) -> int:
    named = args.files or dataset_files()
    read = read_together([*named, *dataset_files()])
    found = [told(path, read[path]) for path in named]
    console.show(check_lines(found), found)
    return FAILED if any(one["mistakes"] for one in found) else DONE


def told(path: Path, read: Read) -> Facts:
    """The file and its mistakes; none if it can be used."""
    prefix = f"{path.name}: "
    lines = str(read).splitlines() if isinstance(read, DatasetError) else []
    return {"file": str(path), "mistakes": [line.removeprefix(prefix) for line in lines]}


def check_lines(found: list[Facts]) -> list[str]:
    lines = []
    for one in found:
        n_mistakes = len(one["mistakes"])
        said = paint("fine", "green") if not n_mistakes else paint(f"mistakes: {n_mistakes}", "red")
        lines += [f"{one['file']}: {said}", *(f"  {mistake}" for mistake in one["mistakes"])]
    return lines or ["No dataset files."]
