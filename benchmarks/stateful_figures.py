"""What the runs come to: straggler factors, totals, the size from which rebalancing pays, and the goals."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from statistics import median

import numpy as np

from benchmarks.goals import Goal
from benchmarks.stateful_layouts import EVENKEEL, NAMES
from benchmarks.stateful_windows import Run

MAX_STRAGGLER = 1.15
REBALANCE = ("profile", "plan", "validate", "migrate", "verify")
WHAT = {
    "plain": "plain hash layout",
    "shuffle": "repartition(key), adaptive",
    "salted": "salted by hand, merged",
    "evenkeel": "Evenkeel",
}


@dataclass(frozen=True, kw_only=True)
class Sum:
    """One way of spreading the rows, over all windows."""

    name: str
    straggler_by_rows: float  # median over windows
    worst_by_rows: float
    straggler_by_time: float  # median over windows
    load: float  # seconds, as all that follow
    rebalance: float  # the steps of ``REBALANCE``
    job: float
    task_seconds: float  # of all tasks of the stateful stage
    slowest: float  # the sum of each window's slowest task: the stage where every task has a worker
    shuffled: float  # MB

    @property
    def total(self) -> float:
        return self.load + self.rebalance + self.job


def sums_of(runs: Iterable[Run]) -> list[Sum]:
    by_name: dict[str, list[Run]] = {name: [] for name in NAMES}
    for run in runs:
        by_name[run.name].append(run)
    return [_sum(name, of_name) for name, of_name in by_name.items()]


def _sum(name: str, runs: list[Run]) -> Sum:
    def seconds(*steps: str) -> float:
        return sum(run.seconds.get(step, 0.0) for run in runs for step in steps)

    return Sum(
        name=name,
        straggler_by_rows=median(run.straggler_by_rows for run in runs),
        worst_by_rows=max(run.straggler_by_rows for run in runs),
        straggler_by_time=median(run.straggler_by_time for run in runs),
        load=seconds("load"),
        rebalance=seconds(*REBALANCE),
        job=seconds("job"),
        task_seconds=sum(sum(run.task_seconds) for run in runs),
        slowest=sum(max(run.task_seconds) for run in runs),
        shuffled=sum(run.shuffled_bytes for run in runs) / 1e6,
    )


def break_evens(runs: list[Run]) -> dict[str, float]:
    """
    For each alternative: from how long a wait of a mean bucket on Evenkeel's sum is the lower one. 0 or less: always; infinite: never.

    A stage waits as long as its fullest task. All other seconds of the run (loading, rebalancing, reading, shuffling, sorting) are taken to
    be what they were here, however long the wait is.
    """
    mean_rows = {run.window: float(np.mean(run.task_rows)) for run in runs if run.name == EVENKEEL}

    def of(name: str) -> tuple[float, float]:
        own = [run for run in runs if run.name == name]
        waits = (
            max(run.task_rows) / mean_rows[run.window] for run in own
        )  # of mean buckets: tasks may be more
        return sum(run.total - run.waited for run in own), sum(waits)

    ours, our_waits = of(EVENKEEL)
    pays = {}
    for name in NAMES[:-1]:
        theirs, their_waits = of(name)
        is_fuller = their_waits > our_waits
        pays[name] = (
            (ours - theirs) / (their_waits - our_waits)
            if is_fuller
            else math.copysign(math.inf, ours - theirs)
        )
    return pays


def reachable(runs: Iterable[Run]) -> list[Run]:
    """Evenkeel's runs in windows where no lower bound forbids the goal."""
    ours = (run for run in runs if run.name == EVENKEEL)
    return [run for run in ours if 1 + run.plan["bound_imbalance"] <= MAX_STRAGGLER]


def goals_of(runs: list[Run]) -> list[Goal]:
    """What was hoped for, beside what was measured."""
    sums = {total.name: total for total in sums_of(runs)}
    ours, possible = sums[EVENKEEL], reachable(runs)
    goals = [
        Goal.at_most(
            "straggler factor by rows, worst window whose bound allows it",
            MAX_STRAGGLER,
            max((run.straggler_by_rows for run in possible), default=1.0),
            unit="",
            note=f" ({len(possible)} windows)",
        ),
        Goal.at_most(
            "straggler factor by task time, median of the windows whose bound allows it",
            MAX_STRAGGLER,
            median(run.straggler_by_time for run in possible) if possible else 1.0,
            unit="",
        ),
    ]
    for name in NAMES[:-1]:
        other = sums[name]
        note = f" ({ours.total:.0f} s against {other.total:.0f} s)"
        what = f"load, rebalance and job over all windows: Evenkeel / {WHAT[name]}"
        goals.append(Goal.at_most(what, 1.0, ours.total / other.total, note=note))
        what = f"job alone over all windows: Evenkeel / {WHAT[name]}"
        note = f" ({ours.job:.0f} s against {other.job:.0f} s)"
        goals.append(Goal.at_most(what, 1.0, ours.job / other.job, note=note))
    return goals


def print_runs(runs: list[Run]) -> None:
    print(
        f"\nstraggler factor by rows (by task time)\n{'window':<8}" + "".join(f"{name:>18}" for name in NAMES)
    )
    for window in sorted({run.window for run in runs}):
        of_window = {run.name: run for run in runs if run.window == window}
        cells = (
            f"{of_window[name].straggler_by_rows:.2f} ({of_window[name].straggler_by_time:.2f})"
            for name in NAMES
        )
        print(f"{window:<8}" + "".join(f"{cell:>18}" for cell in cells))
    names = ("load", "rebalance", "job", "total", "task_seconds", "slowest", "shuffled")
    print(
        "\nsums over all windows: seconds, and MB shuffled\n"
        + " " * 8
        + "".join(f"{name:>13}" for name in names)
    )
    for total in sums_of(runs):
        print(f"{total.name:<8}" + "".join(f"{getattr(total, name):>13.1f}" for name in names))
    print(
        "\nwait of a mean bucket from which on Evenkeel's sum is the lower: "
        + ", ".join(f"{seconds:.1f} s ({WHAT[name]})" for name, seconds in break_evens(runs).items())
    )
