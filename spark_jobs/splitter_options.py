"""The arguments that name a splitter, for the job and for the terminal. Needs no Spark."""

import argparse

from partitioning.splitters.options import MAX_CHOICES
from partitioning.splitters.sources import LOCAL_SPLITTERS


def add_splitter(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--splitter",
        choices=LOCAL_SPLITTERS,
        help="how rows are sent to buckets; if not given, what suits the window",
    )
    parser.add_argument(
        "--choices",
        type=_n_choices,
        metavar="D",
        help="candidate buckets of a key; only with --splitter, and 2 if not given",
    )


def _n_choices(given: str) -> int:
    if not given.isdecimal() or not 1 <= int(given) <= MAX_CHOICES:
        raise argparse.ArgumentTypeError(f"must be a whole number from 1 to {MAX_CHOICES}. Got {given!r}.")
    return int(given)
