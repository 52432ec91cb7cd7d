"""Figures as ratios: medians of interleaved runs, each beside the goal it was hoped to reach."""

import math
import os
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field
from itertools import product
from pathlib import Path
from statistics import median
from types import TracebackType
from typing import Any

from pyspark import SparkContext

from benchmarks.goals import Goal


@dataclass(frozen=True, kw_only=True)
class Figure:
    """One ratio that was measured."""

    what: str
    ratio: float
    goal: float | None = None  # at most; None: shown beside another figure, no goal of its own
    cpu_ratio: float | None = None  # the same in processor time, which others on the machine hardly change
    detail: str = ""  # what was divided by what

    @property
    def verdict(self) -> str:
        if self.goal is None:
            return ""
        return "ok" if self.ratio <= self.goal else "missed"

    def as_goal(self) -> Goal:
        """The same as a row of the table that all benchmarks share."""
        cpu = "" if self.cpu_ratio is None else f" ({_number(self.cpu_ratio)} in processor time)"
        goal = "" if self.goal is None else f"≤ {_number(self.goal)}"
        return Goal(
            what=self.what, goal=goal, result=f"{_number(self.ratio)}{cpu}", met=self.verdict != "missed"
        )

    def as_dict(self) -> dict[str, Any]:
        return asdict(self) | {"verdict": self.verdict}


@dataclass(frozen=True, kw_only=True)
class Seconds:
    """How long a thing took."""

    wall: float
    cpu: float  # of all cores, Python and the JVM


@dataclass(eq=False)
class Clock:
    """Takes the time of what runs inside ``with clock:``, however much is prepared outside."""

    taken: list[Seconds] = field(default_factory=list)
    _began: Seconds = Seconds(wall=0.0, cpu=0.0)

    def __enter__(self) -> None:
        self._began = _now()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        now = _now()
        self.taken.append(Seconds(wall=now.wall - self._began.wall, cpu=now.cpu - self._began.cpu))

    @property
    def median(self) -> Seconds:
        """Of each of the two by itself."""
        return Seconds(
            wall=median(seconds.wall for seconds in self.taken),
            cpu=median(seconds.cpu for seconds in self.taken),
        )


def _now() -> Seconds:
    return Seconds(wall=time.perf_counter(), cpu=time.process_time() + _cpu_seconds_of_jvm())


def _cpu_seconds_of_jvm() -> float:
    """Of the JVM that Python started, with all its threads; not a number where the system has no /proc."""
    gateway: Any = SparkContext._gateway  # noqa: SLF001  (Java hides its own clock from Py4J)
    try:
        stat = Path(f"/proc/{gateway.proc.pid}/stat").read_text()
    except (OSError, AttributeError):
        return math.nan
    in_program, in_system = stat.rpartition(")")[2].split()[11:13]
    return (int(in_program) + int(in_system)) / os.sysconf("SC_CLK_TCK")


Contender = Callable[[Clock], object]


def median_seconds(
    contenders: Mapping[str, Contender], *, n_rounds: int, n_warm_ups: int = 1
) -> dict[str, Seconds]:
    """
    The median of ``n_rounds`` runs of each, after ``n_warm_ups`` that are not counted: they load classes and fill caches.

    They take turns, so that a slow minute of the machine hits all of them.
    """
    for _, run in product(range(n_warm_ups), contenders.values()):
        run(Clock())
    clocks = {name: Clock() for name in contenders}
    for _, (name, run) in product(range(n_rounds), contenders.items()):
        run(clocks[name])
    return {name: clock.median for name, clock in clocks.items()}


def time_ratio(what: str, seconds: Mapping[str, Seconds], *, goal: float | None) -> Figure:
    """The time of the first over that of the second."""
    (ours, our), (theirs, their) = seconds.items()
    return Figure(
        what=what,
        ratio=our.wall / their.wall,
        goal=goal,
        cpu_ratio=our.cpu / their.cpu,
        detail=f"{ours} {our.wall:.2f} s ({our.cpu:.2f} CPU), {theirs} {their.wall:.2f} s ({their.cpu:.2f} CPU)",
    )


def print_figures(figures: Iterable[Figure]) -> None:
    print(f"\n{'what':<62} {'goal':>8} {'measured':>8} {'':<6} {'CPU':>6}  from")
    for figure in figures:
        goal = "" if figure.goal is None else f"≤ {_number(figure.goal)}"
        cpu = "" if figure.cpu_ratio is None else _number(figure.cpu_ratio)
        print(
            f"{figure.what:<62} {goal:>8} {_number(figure.ratio):>8} {figure.verdict:<6} {cpu:>6}  {figure.detail}"
        )


def _number(ratio: float) -> str:
    """Two decimals, or per cent where that would say nothing."""
    return f"{ratio:.2f}" if ratio >= 0.05 else f"{100 * ratio:.3g} %"
