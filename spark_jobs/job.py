"""What every job shares: its arguments, its session, its result, and how it fails."""

import argparse
import json
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from schemas.dataset import Dataset, DatasetError, dataset_named

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PLAN_NAME = re.compile(r"[0-9a-f]{16}")


class JobError(Exception):
    """A job cannot keep its promise. The message says which, and what to do."""


@dataclass(frozen=True, kw_only=True)
class Window:
    """The data interval of one run: from ``start`` up to, not including, ``end``."""

    start: datetime
    end: datetime

    def __post_init__(self) -> None:
        if not self.start < self.end:
            raise JobError(
                f"--window-start must lie before --window-end. Got {self.start} and {self.end}. Swap or widen them."
            )

    @property
    def name(self) -> str:
        return self.start.strftime("%Y-%m-%dT%H:%M")


@dataclass(frozen=True, kw_only=True)
class Task:
    """One call of a job: what it works on."""

    dataset: Dataset
    window: Window
    plan: str = ""  # name of the plan to work on, where the job needs one

    @cached_property
    def spark(self) -> "SparkSession":
        """Spark, with the settings of conf/; started on first use, for a job that needs none should not wait."""
        from pyspark.sql import SparkSession

        return SparkSession.builder.appName("evenkeel").getOrCreate()

    def say(self, sentence: str) -> None:
        """Progress, for the task's log."""
        sys.stderr.write(f"{self.dataset.name} {self.window.name}: {sentence}\n")
        sys.stderr.flush()


Result = dict[str, Any]
Work = Callable[[Task], Result]


def run_job(
    work: Work, *, about: str | None, argv: Sequence[str] | None = None, needs_plan: bool = False
) -> Result:
    """
    Parse the arguments, do the work, write its result. The end of every job file.

    A known failure ends the process with 1 and one sentence; the table it was about is then as it was before
    or as it should be afterwards, never between.
    """
    args = _parse(argv, about=about, needs_plan=needs_plan)
    try:
        dataset = dataset_named(args.dataset)
        window = Window(start=args.window_start, end=args.window_end)
        result = work(Task(dataset=dataset, window=window, plan=args.plan or ""))
    except (JobError, DatasetError) as error:
        sys.stderr.write(f"ERROR: {error}\n")
        raise SystemExit(1) from None
    text = json.dumps(result, indent=1)
    if args.result:
        args.result.write_text(text)
    else:
        sys.stdout.write(f"{text}\n")
    return result


def _parse(argv: Sequence[str] | None, *, about: str | None, needs_plan: bool) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--dataset", required=True, help="name of a file in datasets/, without .yaml")
    parser.add_argument(
        "--window-start", required=True, type=moment, help="such as 2026-01-03T00:00:00+00:00"
    )
    parser.add_argument("--window-end", required=True, type=moment, help="the same, exclusive")
    parser.add_argument("--plan", required=needs_plan, type=plan_name, help="name of the plan to work on")
    parser.add_argument("--result", type=Path, help="file for the JSON result; printed if not given")
    return parser.parse_args(argv)


def moment(text: str) -> datetime:
    """A time with its zone; without one it is UTC."""
    try:
        parsed = datetime.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"must be an ISO 8601 time. Got {text!r}.") from None
    return parsed.astimezone(UTC) if parsed.tzinfo else parsed.replace(tzinfo=UTC)


def plan_name(text: str) -> str:
    if not PLAN_NAME.fullmatch(text):
        raise argparse.ArgumentTypeError(f"must be 16 hexadecimal digits. Got {text!r}.")
    return text
