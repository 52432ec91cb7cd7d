"""What a plan is made with: the dataset's planner and budgets, unless whoever asks gave others for this once."""

import argparse
from dataclasses import replace

from partitioning.planners import PLANNERS
from schemas.dataset import SLOTS_PER_BUCKET, Dataset
from spark_jobs.job import RefusalError, Task

GIVEN = ("planner", "max_imbalance", "max_routes", "max_migration", "n_buckets")  # what may be given for once


def settings_of(task: Task) -> Dataset:
    """The dataset with what was given by hand in the place of its own."""
    given = {name: value for name in GIVEN if (value := task.options.get(name)) is not None}
    dataset = replace(task.dataset, **given)
    if "n_buckets" in given and dataset.n_slots < SLOTS_PER_BUCKET * dataset.n_buckets:
        raise RefusalError(
            f"--buckets must be at most {dataset.n_slots // SLOTS_PER_BUCKET}, a {SLOTS_PER_BUCKET}th of the slots."
            f" Got {dataset.n_buckets}. Give fewer: slots cannot be added to a table."
        )
    return dataset


def add_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("for this once, instead of what the dataset file says")
    group.add_argument(
        "--planner", choices=sorted(PLANNERS), metavar="NAME", help=", ".join(sorted(PLANNERS))
    )
    group.add_argument("--max-imbalance", type=_amount, metavar="θ", help="θ_max, such as 0.08")
    group.add_argument("--max-routes", type=_count, metavar="N", help="the most routes of the new function")
    group.add_argument(
        "--max-migration", type=_amount, metavar="SHARE", help="a share of all state up to 1, bytes above"
    )
    group.add_argument(
        "--buckets", dest="n_buckets", type=_count, metavar="N", help="target number of buckets"
    )


def _amount(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 <= number < float("inf"):
        raise argparse.ArgumentTypeError(f"must be a number, 0 or more. Got {text!r}.")
    return number


def _count(text: str) -> int:
    if not text.isascii() or not text.isdigit():
        raise argparse.ArgumentTypeError(f"must be a whole number, 0 or more. Got {text!r}.")
    return int(text)
