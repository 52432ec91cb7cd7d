"""A dataset's past, window by window: θ with and without us, what moved, what went there and back, what was predicted."""

from datetime import datetime
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from partitioning import History
from schemas.tables import MOVES, RUNS, SCORES
from spark_jobs.control_tables import Row, read_rows
from spark_jobs.item_stats import PART
from spark_jobs.run_outcome import DRY_RUN, FAILED, HELD, MIGRATED, PLANNED

_TELLING = (
    MIGRATED,
    HELD,
    PLANNED,
    DRY_RUN,
    FAILED,
)  # of several runs of a window, the first kind tells most
MAX_WINDOWS = 60  # as many as a picture can show
COUNTS_AS_BACK = History().n_windows  # windows within which a return counts as thrash


def history_of(dataset: str, newest: Row | None = None) -> list[Row]:
    """
    One row for each of the last windows, oldest first; where a window had several runs, the one that did most. ``newest`` is a
    run that may not be stored yet.

    ``imbalance`` is what the window ended with, ``imbalance_hash`` what a plain hash would have had; ``imbalance_realised`` is the next
    window's θ, ``imbalance_unmoved`` what that would have been without this window's plan, ``imbalance_last`` and
    ``imbalance_clairvoyant`` what it would have been with a plan on the last window, or on the truth, where this one was made on a
    forecast. None where a thing is not known.
    """
    runs = {run["run"]: run for run in read_rows(RUNS, dataset=dataset).to_pylist()}
    if newest is not None:
        runs[newest["run"]] = newest
    scores = {score["plan"]: score for score in read_rows(SCORES, dataset=dataset).to_pylist()}
    told = _one_a_window(list(runs.values()))[-MAX_WINDOWS:]
    thrash = _thrash(dataset, told)
    return [_row(run, scores.get(run["plan"], {}), thrash) for run in told]


def _one_a_window(runs: list[Row]) -> list[Row]:
    best: dict[datetime, Row] = {}
    for run in sorted(runs, key=lambda run: (_TELLING.index(run["outcome"]), str(run["run"]))):
        best.setdefault(run["window_start"], run)
    return [best[start] for start in sorted(best)]


def _row(run: Row, score: Row, thrash: dict[str, int]) -> dict[str, Any]:
    has_moved = run["outcome"] == MIGRATED
    return {
        "window_start": run["window_start"].isoformat(),
        "run": run["run"],
        "outcome": run["outcome"],
        "plan": run["plan"],
        "imbalance_hash": run["imbalance_hash"],
        "imbalance_before": run["imbalance_before"],
        "imbalance": run["imbalance_after"] if has_moved else run["imbalance_before"],
        "migration": run["migration"] if has_moved else 0.0,
        "migration_share": run["migration_share"] if has_moved else 0.0,
        "bytes_written": run["bytes_written"],
        "n_routes": run["n_routes"],
        "n_thrash": thrash.get(run["plan"], 0),
        "imbalance_predicted": score.get("imbalance_predicted"),
        "imbalance_realised": score.get("imbalance_realised"),
        "imbalance_unmoved": score.get("imbalance_unmoved"),
        "imbalance_last": score.get("imbalance_last"),
        "imbalance_clairvoyant": score.get("imbalance_clairvoyant"),
        "report": run["report"],
    }


def _thrash(dataset: str, told: list[Row]) -> dict[str, int]:
    """For each plan that was carried out, how many of its moves go back to where an earlier one had taken the item from."""
    moves = _moves_by_plan(dataset, [run["plan"] for run in told if run["outcome"] == MIGRATED])
    left: dict[tuple[Any, ...], int] = {}  # (item, bucket it left) → number of the window
    returns: dict[str, int] = {}
    for number, run in enumerate(told):
        for item, source, target in moves.get(run["plan"], ()):
            returns.setdefault(run["plan"], 0)
            returns[run["plan"]] += number - left.get((item, target), -COUNTS_AS_BACK - 1) <= COUNTS_AS_BACK
            left[item, source] = number
    return returns


def _moves_by_plan(dataset: str, plans: list[str]) -> dict[str, list[tuple[Any, int, int]]]:
    """Item, source and target of each move of these plans."""
    rows = read_rows(MOVES, dataset=dataset)
    found: dict[str, list[tuple[Any, int, int]]] = {}
    for move in rows.filter(pc.is_in(rows["plan"], value_set=pa.array(plans, pa.string()))).to_pylist():
        if move["kind"] == PART:
            continue  # which rows of the key it was, nobody knows any more
        item = move["kind"], move["slot"], move["key"]
        found.setdefault(move["plan"], []).append((item, move["from_bucket"], move["to_bucket"]))
    return found
