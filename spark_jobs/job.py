"""What every job shares: its arguments, its session, its result, and how it fails."""

import argparse
import json
import os
import sys
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from partitioning.errors import PartitioningError
from schemas.dataset import Dataset, DatasetError, dataset_named

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


ASKED_FOR = "EVENKEEL_ASKED_FOR"  # when a scheduler began to start this process, in seconds since 1970
_STARTS: list[float] = []  # how long starting Spark took in this process, in seconds


class JobError(Exception):
    """A job cannot keep its promise. The message says which, and what to do."""


class RefusalError(JobError):
    """What was asked for cannot be; asking again will not help."""


class NotThereError(JobError):
    """What was asked about is nothing that the dataset can have."""


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
    given_window: Window | None = None
    plan: str = ""  # name of the plan to work on, where the job needs one
    run: str = ""  # id of the Dag run that asks; empty: somebody at a terminal
    options: Mapping[str, Any] = field(default_factory=dict)  # the job's own arguments

    @property
    def window(self) -> Window:
        if self.given_window is None:
            raise JobError("--window-start and --window-end must be given. Got neither. Name the window.")
        return self.given_window

    @cached_property
    def spark(self) -> "SparkSession":
        """Spark, with the settings of conf/; started on first use, for a job that needs none should not wait."""
        from pyspark.sql import SparkSession

        running = SparkSession.getActiveSession()
        if running:
            return running
        asked_for = float(os.environ.get(ASKED_FOR, time.time()))
        session = SparkSession.builder.appName("evenkeel").getOrCreate()
        _STARTS.append(time.time() - asked_for)
        self.say(f"Spark is up after {_STARTS[-1]:.1f} s")
        return session

    def say(self, sentence: str) -> None:
        """Progress, for the task's log."""
        parts = [self.dataset.name, self.given_window.name if self.given_window else "", self.run]
        sys.stderr.write(f"{' '.join(part for part in parts if part)}: {sentence}\n")
        sys.stderr.flush()


Result = dict[str, Any]
Work = Callable[[Task], Result]
AddOptions = Callable[[argparse.ArgumentParser], None]


def run_job(  # noqa: PLR0913  (what a job may say about itself)
    work: Work,
    *,
    about: str | None,
    argv: Sequence[str] | None = None,
    needs: Collection[str] = (),
    takes: Collection[str] = (),
    add_options: AddOptions | None = None,
) -> Result:
    """
    Parse the arguments, do the work, write its result. The end of every job file.

    ``needs`` names what the job works on besides the dataset ("window", "plan"), ``takes`` what may be left out. A known failure ends the process with 1 and
    one sentence; the table it was about is then as it was before or as it should be afterwards, never between.
    """
    parser = _parser(about, needs, takes)
    known = {action.dest for action in parser._actions}  # noqa: SLF001  (argparse has no public list)
    if add_options:
        add_options(parser)
    args = parser.parse_args(argv)
    try:
        result = timed(work, _task_of(args, known))
    except Exception as error:
        sentence = sentence_of(error)
        if sentence is None:
            raise
        sys.stderr.write(f"ERROR: {sentence}\n")
        if args.result:
            is_final = isinstance(error, RefusalError | DatasetError)
            args.result.write_text(json.dumps({"error": sentence, "is_final": is_final}))
        raise SystemExit(1) from None
    _hand_over(result, args.result)
    if argv is None and not _STARTS:
        _end_at_once()
    return result


def timed(work: Work, task: Task) -> Result:
    """Do the work; what it answers, with the ``seconds`` it took and the ``start_seconds`` that Spark took to start."""
    began, n_starts = time.monotonic(), len(_STARTS)
    result = work(task)
    times = {"seconds": time.monotonic() - began, "start_seconds": sum(_STARTS[n_starts:])}
    return {**result, **{name: round(seconds, 1) for name, seconds in times.items()}}


def _hand_over(result: Result, file: Path | None) -> None:
    text = json.dumps(result, indent=1)
    if file:
        file.write_text(text)
    else:
        sys.stdout.write(f"{text}\n")


def _end_at_once() -> None:
    """Leave without unloading libraries: idle threads of a table reader sometimes abort that, after all was done."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


def sentence_of(error: Exception) -> str | None:
    """What an operator has to know of this failure; None for a mistake of ours, whose traceback we need."""
    if isinstance(error, JobError | DatasetError | PartitioningError):
        return str(error)
    makers = {kind.__module__.partition(".")[0] for kind in type(error).__mro__}
    if not isinstance(error, OSError) and makers.isdisjoint(_ENGINES):
        return None
    cause = _root_cause(error)
    remedy = next((said for sign, said in _REMEDIES.items() if sign in cause), "Mend that")
    return (
        f"the job must be able to read and write its tables. Got {cause}. Nothing of the step that failed was committed:"
        f" the table is whole. {remedy}, then run the job again."
    )


_ENGINES = {"py4j", "pyspark", "delta", "deltalake"}
_REMEDIES = {
    "No space left": "Make room where the table lies and where Spark keeps its temporary files",
    "os error 28": "Make room where the control tables lie",
    "ermission denied": "Let this user read and write there",
    "Connection refused": "See that spark.master and the store answer",
}


def _root_cause(error: Exception) -> str:
    """The first of the failures that led to this one, in a line."""
    java: Any = getattr(error, "java_exception", None) or getattr(error, "_origin", None)
    if java is None:
        return f"{type(error).__name__}: {_first_line(str(error))}"
    while java.getCause() is not None:
        java = java.getCause()
    return f"{java.getClass().getSimpleName()}: {_first_line(java.getMessage() or '')}"


def _first_line(text: str) -> str:
    return (text.strip().splitlines() or ["no message"])[0].rstrip(".")


def _task_of(args: argparse.Namespace, known: set[str]) -> Task:
    moments = getattr(args, "window_start", None), getattr(args, "window_end", None)
    window = Window(start=moments[0], end=moments[1]) if moments[0] and moments[1] else None
    options = {name: value for name, value in vars(args).items() if name not in known}
    plan = getattr(args, "plan", None) or ""
    return Task(
        dataset=dataset_named(args.dataset), given_window=window, plan=plan, run=args.run, options=options
    )


def _parser(about: str | None, needs: Collection[str], takes: Collection[str]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dataset", required=True, help="name of a file in datasets/, without .yaml")
    if "window" in (*needs, *takes):
        is_needed = "window" in needs
        parser.add_argument(
            "--window-start", required=is_needed, type=moment, help="such as 2026-01-03T00:00:00+00:00"
        )
        parser.add_argument("--window-end", required=is_needed, type=moment, help="the same, exclusive")
    if "plan" in (*needs, *takes):
        is_needed = "plan" in needs
        parser.add_argument("--plan", required=is_needed, type=plan_name, help="name of the plan to work on")
    parser.add_argument("--run", default="", help="id of the Dag run that asks; shown in what the job says")
    parser.add_argument("--result", type=Path, help="file for the JSON result; printed if not given")
    return parser


def moment(text: str) -> datetime:
    """A time with its zone; without one it is UTC."""
    try:
        parsed = datetime.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"must be an ISO 8601 time. Got {text!r}. Write it like 2026-01-31 or 2026-01-31T06:00"
        ) from None
    return parsed.astimezone(UTC) if parsed.tzinfo else parsed.replace(tzinfo=UTC)


def plan_name(text: str) -> str:
    return _hexadecimal(text, n_digits=16)


def function_name(text: str) -> str:
    return _hexadecimal(text, n_digits=64)


def _hexadecimal(text: str, *, n_digits: int) -> str:
    if len(text) != n_digits or set(text) - set("0123456789abcdef"):
        raise argparse.ArgumentTypeError(f"must be {n_digits} hexadecimal digits. Got {text!r}.")
    return text
