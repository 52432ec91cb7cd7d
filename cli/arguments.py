"""What verbs are told: arguments by argparse, names with a "did you mean", every refusal as one sentence."""

import argparse
import difflib
from collections.abc import Iterable
from typing import NoReturn

from schemas.dataset import Dataset, dataset_files, dataset_named


class UsageError(Exception):
    """The command cannot be understood as it was typed. The message says what to type."""


class Parser(argparse.ArgumentParser):
    """Raises instead of ending the process, so that scripts get their one document."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message.rstrip('.')}. {self.prog} --help shows what can be given.")


def add_dataset(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("dataset", metavar="DATASET", help="name of a file in datasets/, without .yaml")


def add_yes(parser: argparse.ArgumentParser, what: str) -> None:
    parser.add_argument("--yes", action="store_true", help=what)


def known_dataset(name: str) -> Dataset:
    """The dataset of this name; an unknown one is refused with the nearest."""
    known = [path.stem for path in dataset_files()]
    if name not in known:
        raise UsageError(not_one_of("DATASET", name, known, otherwise="Add datasets/<name>.yaml."))
    return dataset_named(name)


def not_one_of(field: str, given: str, known: Iterable[str], *, otherwise: str) -> str:
    """The sentence for a name that is not among the known ones."""
    names = list(known)
    close = difflib.get_close_matches(given, names, n=1)
    remedy = f"Did you mean {close[0]}?" if close else otherwise
    return f"{field} must be one of {', '.join(names) or 'none yet'}. Got {given!r}. {remedy}"


def one_beginning_with(given: str, names: Iterable[str], *, field: str, otherwise: str) -> str:
    """The name that was meant by its first characters."""
    found = [name for name in sorted(set(names)) if name.startswith(given)] if given else []
    if given in found or len(found) == 1:
        return given if given in found else found[0]
    if found:
        raise UsageError(
            f"{field} must begin one name only. Got {given!r}, which begins {', '.join(found)}. Give more of it."
        )
    raise UsageError(
        f"{field} must be a stored name, or how it begins. Got {given!r}, which begins none. {otherwise}"
    )
