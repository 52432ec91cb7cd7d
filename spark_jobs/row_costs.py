"""What a row costs one worker, in seconds: as the steps of earlier runs were timed, or as the dataset file declares it."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from statistics import median
from typing import Any

from schemas.dataset import Dataset
from schemas.tables import RUNS
from spark_jobs.control_tables import Row, read_rows
from spark_jobs.run_outcome import TIMED

N_WINDOWS = 7  # earlier windows that say what a row costs
DECLARED = "declared"


@dataclass(frozen=True, kw_only=True)
class RowCost:
    """Seconds of one worker for a row (for a unit of cost where the dataset has ``events.cost``), and who says so."""

    seconds: float
    source: str


@dataclass(frozen=True, kw_only=True)
class Timed:
    """One window's load and profile as they were timed."""

    window_start: datetime
    cost: float  # rows, or the dataset's own cost
    rows: int  # that were loaded; 0 where they had been in before
    load_seconds: float
    profile_seconds: float
    workers: int  # tasks that ran at the same time


@dataclass(frozen=True, kw_only=True)
class Measured:
    """What the earlier windows tell; None where they tell nothing."""

    load: RowCost | None = None
    process: RowCost | None = None
    loaders: int | None = None  # tasks that loaded the newest of them


def measure_costs(dataset: Dataset, *, before: datetime) -> Measured:
    """
    From the runs of the last windows that began before this moment, so that planning on a window again finds the same.

    A cost is worker seconds over rows, the median of the windows: the time that Spark takes whatever comes is in it, so that small windows look dear.
    """
    return measured_by(timed_windows(read_rows(RUNS, dataset=dataset.name).to_pylist(), before=before))


def timed_windows(runs: Iterable[Row], *, before: datetime) -> list[Timed]:
    """The pure part: one for each of the last windows, newest first; of several runs of a window the one that loaded most."""
    best: dict[datetime, Timed] = {}
    for run in sorted(runs, key=lambda run: str(run["run"])):
        for step in json.loads(run["steps"] or "[]"):
            if run["window_start"] < before and all(name in step for name in TIMED) and step["cost"] > 0:
                timed = Timed(window_start=run["window_start"], **{name: step[name] for name in TIMED})
                known = best.get(timed.window_start)
                if known is None or timed.rows > known.rows:
                    best[timed.window_start] = timed
    return [best[start] for start in sorted(best, reverse=True)][:N_WINDOWS]


def measured_by(windows: list[Timed]) -> Measured:
    loaded = [one for one in windows if one.rows > 0]
    return Measured(
        load=_median([one.load_seconds * one.workers / one.cost for one in loaded], "loading"),
        process=_median([one.profile_seconds * one.workers / one.cost for one in windows], "profiling"),
        loaders=loaded[0].workers if loaded else None,
    )


def _median(seconds: list[float], what: str) -> RowCost | None:
    if not seconds:
        return None
    windows = "window" if len(seconds) == 1 else "windows"
    return RowCost(seconds=median(seconds), source=f"{what}, as measured in {len(seconds)} {windows}")


def known_costs(dataset: Dataset, measured: Measured) -> dict[str, RowCost | None]:
    """
    Of ``load``, ``process`` and ``merge``. None: neither measured nor declared.

    Loading is ours, so what was measured counts before what is declared. Processing is the user's own job, which we do not see: what is declared counts
    before our own pass over the keys. Merging is only ever declared.
    """
    return {
        "load": measured.load or _declared(dataset.load_seconds),
        "process": _declared(dataset.process_seconds) or measured.process,
        "merge": _declared(dataset.merge_seconds),
    }


def _declared(seconds: float | None) -> RowCost | None:
    return None if seconds is None else RowCost(seconds=seconds, source=DECLARED)


def told(cost: RowCost | None) -> dict[str, Any] | None:
    return None if cost is None else {"seconds": cost.seconds, "source": cost.source}
