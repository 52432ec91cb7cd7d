"""
What plans promised and what came of it: each plan is scored on the window after its own.

    promised = θ before - θ after, of the plan's window          kept = θ without the plan - θ with it, of the next one

A plan that keeps less than a fourth of what it promised was ineffective: the keys it moved for were no longer hot. Several of
these in a row say that the load changes faster than windows end, and the gate stops until somebody has looked.
"""

from dataclasses import dataclass

from partitioning.function import PartitioningFunction
from schemas.dataset import Dataset
from schemas.tables import PLANS, SCORES
from spark_jobs.control_tables import Row, load_function, read_rows, replace_rows
from spark_jobs.item_stats import ItemStats
from spark_jobs.job import Task
from spark_jobs.regret import regret_of
from spark_jobs.table_log import layout_commit

MIN_KEPT = 0.25  # of what was promised


@dataclass(frozen=True, kw_only=True)
class Score:
    """θ of two windows: the plan's own, and the one after it."""

    before: float  # of its window, without the plan
    predicted: float  # of its window, with it
    unmoved: float  # of the next window, without it
    realised: float  # of the next window, with it

    @property
    def is_effective(self) -> bool:
        return self.unmoved - self.realised >= MIN_KEPT * (self.before - self.predicted)


def score_last_plan(task: Task, items: ItemStats, function: PartitioningFunction) -> None:
    """Score the plan that the table has its function from, if this window is the first after the plan's own."""
    dataset = task.dataset
    commit = layout_commit(dataset) or {}
    found = read_rows(PLANS, dataset=dataset.name, plan=commit.get("plan", "")).to_pylist()
    if not found or found[0]["window_start"] >= task.window.start or commit["to_function"] != function.digest:
        return
    earlier = read_rows(SCORES, dataset=dataset.name, plan=found[0]["plan"]).to_pylist()
    if earlier and earlier[0]["window_start"] != task.window.start:
        return
    score = _score(items, found[0], load_function(dataset.name, found[0]["from_function"]), function)
    row = {
        "window_start": task.window.start,
        "imbalance_before": score.before,
        "imbalance_predicted": score.predicted,
        "imbalance_unmoved": score.unmoved,
        "imbalance_realised": score.realised,
        **regret_of(dataset, found[0], task.window, items),
        "is_effective": score.is_effective,
        "is_forgiven": bool(earlier and earlier[0]["is_forgiven"]),
    }
    replace_rows([row], SCORES, dataset=dataset.name, plan=found[0]["plan"])
    task.say(
        f"plan {found[0]['plan']} predicted θ {score.predicted:.3f}; this window has {score.realised:.3f}, and would have"
        f" {score.unmoved:.3f} without it"
    )


def _score(items: ItemStats, plan: Row, before: PartitioningFunction, after: PartitioningFunction) -> Score:
    """All over the buckets that the plan wanted in the end, as its own figures are."""
    return Score(
        before=plan["imbalance_before"],
        predicted=plan["imbalance_after"],
        unmoved=items.imbalance(before, plan["n_buckets"]),
        realised=items.imbalance(after, plan["n_buckets"]),
    )


def last_scores(dataset: Dataset) -> list[Row]:
    """The scores since somebody last forgave them, newest first."""
    rows = read_rows(SCORES, dataset=dataset.name).to_pylist()
    newest = sorted(rows, key=lambda row: row["window_start"], reverse=True)
    forgiven = next((i for i, row in enumerate(newest) if row["is_forgiven"]), len(newest))
    return newest[:forgiven]


def why_paused(dataset: Dataset) -> str | None:
    """The sentence that stops the gate after ``pause_after`` ineffective plans in a row; None if it is open."""
    last = last_scores(dataset)[: dataset.pause_after]
    if len(last) < dataset.pause_after or any(row["is_effective"] for row in last):
        return None
    plans = ", ".join(row["plan"] for row in last)
    return (
        f"{dataset.name} is paused: the last {len(last)} plans ({plans}) each kept less than {MIN_KEPT:.0%} of what they"
        " promised one window later. Look at its history; a run by hand with resume goes on"
    )


def forgive(dataset: Dataset) -> None:
    """Begin to count anew: what was scored so far stops the gate no longer."""
    for row in last_scores(dataset):
        others = {name: value for name, value in row.items() if name not in SCORES.identity}
        replace_rows([others | {"is_forgiven": True}], SCORES, dataset=dataset.name, plan=row["plan"])
