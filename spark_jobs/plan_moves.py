"""Plan a better function for the window's load, within the dataset's budgets, and score the last plan on the way."""

from dataclasses import dataclass, replace

from partitioning.function import PartitioningFunction
from partitioning.item_forecast import LAST
from partitioning.measures import load_per_bucket, overload
from schemas.dataset import Dataset
from schemas.tables import MOVES, PLANS
from spark_jobs.capacity_facts import capacity_of
from spark_jobs.control_tables import Row, read_one, read_rows, replace_rows, save_function
from spark_jobs.expected_cost import ExpectedCost, expected_cost, planned_on, save_forecast
from spark_jobs.item_stats import ItemStats, read_stats
from spark_jobs.job import Result, Task, Window, run_job
from spark_jobs.plan_explanation import explanation_json, name_items
from spark_jobs.plan_record import plan_checksum, plan_name_of
from spark_jobs.plan_request import target_of
from spark_jobs.plan_settings import add_options, settings_of
from spark_jobs.planned import Planned, plan_for, why_not_split
from spark_jobs.recent_moves import recent_moves, recently_cut
from spark_jobs.scorecard import score_last_plan
from spark_jobs.table_log import current_function, initial_function, layout_commit

# What a plan is made with, as it is stored.
SETTINGS = (
    "planner",
    "planned_on",
    "max_imbalance",
    "target_imbalance",
    "max_routes",
    "max_migration",
    "n_buckets",
    "payback_windows",
)


def plan_moves(task: Task) -> Result:
    """
    Write function, forecast, moves and plan, in this order: what names a thing comes after it.

    Asked again after its plan was applied, it answers with that plan: a window is not planned on twice.
    """
    if task.plan:
        return _named_plan(task)
    dataset = settings_of(task)
    function = current_function(dataset)
    items = read_stats(dataset, task.window)
    score_last_plan(task, items, function)
    applied = _applied_plan(dataset, task.window, function)
    if applied:
        task.say(f"plan {applied['plan']} of this window is applied already")
        return _result(applied)
    basis = _basis(dataset, task.window, items)
    planned = plan_for(
        dataset,
        basis.items,
        function,
        recent_moves(dataset, task.window, items),
        resting=recently_cut(dataset, task.window, items) if function.splits else (),
    )
    row = _store(task.window, planned, basis.expected)
    task.say(
        f"plan {row['plan']}: {row['verdict']}, θ {row['imbalance_before']:.3f} → {row['imbalance_after']:.3f}"
    )
    for sentence in planned.sentences:
        task.say(sentence)
    return _result(row)


def _named_plan(task: Task) -> Result:
    """A plan that was made before, by its name."""
    row = read_one(PLANS, dataset=task.dataset.name, plan=task.plan)
    task.say(f"plan {task.plan} was made for the window {row['window_start']:%Y-%m-%d %H:%M}")
    return _result(row)


def _result(row: Row) -> Result:
    names = ("plan", "verdict", "n_moves", "reasons", "imbalance_before", "imbalance_after")
    return {name: row[name] for name in names}


def _applied_plan(dataset: Dataset, window: Window, function: PartitioningFunction) -> Row | None:
    """The plan for this window, with these settings, that the table has its function from; None if there is none."""
    name = (layout_commit(dataset) or {}).get("plan")
    found = read_rows(PLANS, dataset=dataset.name, plan=name).to_pylist() if name else []
    wanted = {"window_start": window.start, "to_function": function.digest, **settings_row(dataset)}
    return next((row for row in found if all(row[field] == wanted[field] for field in wanted)), None)


def settings_row(dataset: Dataset) -> Row:
    """The dataset's settings as ``plans`` keeps them."""
    return {
        "planner": dataset.planner,
        "planned_on": planned_on(dataset),
        "max_imbalance": float(dataset.max_imbalance),
        "target_imbalance": target_of(dataset),
        "max_routes": dataset.max_routes,
        "max_migration": None if dataset.max_migration is None else float(dataset.max_migration),
        "n_buckets": dataset.n_buckets,
        "payback_windows": dataset.payback_windows,
    }


@dataclass(frozen=True, kw_only=True, eq=False)
class _Basis:
    """What a plan starts from."""

    items: ItemStats  # with the cost that is planned on
    expected: ExpectedCost | None  # None: the last window's own


def _basis(dataset: Dataset, window: Window, items: ItemStats) -> _Basis:
    if planned_on(dataset) == LAST:
        return _Basis(items=items, expected=None)
    expected = expected_cost(dataset, window, items)
    return _Basis(items=replace(items, cost=expected.forecast.expected), expected=expected)


def _store(window: Window, planned: Planned, expected: ExpectedCost | None) -> Row:
    dataset, after = planned.dataset, planned.after
    row = {
        "dataset": dataset.name,
        "window_start": window.start,
        "window_end": window.end,
        "from_function": planned.function.digest,
        "to_function": after.digest,
        **settings_row(dataset),
        **_figures(planned),
        "n_routes": after.n_routes,
    }
    row["reasons"] += [*planned.sentences, *_why_whole(planned), *(expected.sentences if expected else ())]
    row["plan"] = plan_name(row)
    capacity = capacity_of(dataset, window, planned.items, plan=row["plan"])
    row["explanation"] = explanation_json(planned.explanation, planned.named, capacity=capacity)
    row["checksum"] = plan_checksum(row, planned.moves, after.to_json())
    save_function(dataset.name, after)
    if expected:
        save_forecast(dataset.name, row["plan"], planned.items, expected.forecast)
    identity = {"dataset": dataset.name, "plan": row["plan"]}
    replace_rows(planned.moves, MOVES, **identity)
    replace_rows([row], PLANS, **identity)
    return row


def _why_whole(planned: Planned) -> list[str]:
    """Where a key alone is more than a bucket may hold and cannot be split: why, and what would help."""
    sentence = why_not_split(planned.dataset)
    is_heavy = any("item" in bucket.binds for bucket in planned.explanation.hot_buckets)
    return [sentence] if sentence and is_heavy else []


def plan_name(row: Row) -> str:
    """The same window, functions and settings give the same name."""
    functions = (row["from_function"], row["to_function"])
    return plan_name_of(row["dataset"], row["window_start"], *functions, *(row[name] for name in SETTINGS))


def _figures(planned: Planned) -> Row:
    """Loads have a number for each bucket of either function; θ is that of the buckets that stay."""
    dataset, plan, items = planned.dataset, planned.plan, planned.items
    payback = planned.explanation.payback
    by_hash = load_per_bucket(items.cost, items.buckets(initial_function(dataset)), dataset.n_buckets)
    return {
        "imbalance_hash": overload(by_hash),
        "imbalance_before": planned.imbalance_before,
        "imbalance_after": plan.imbalance,
        "load_before": planned.load_before.tolist(),
        "load_after": plan.load.tolist(),
        "n_moves": len(planned.moves),
        "migration": planned.made.migration,
        "total_state": planned.made.parted.whole.total_state,
        "bound_imbalance": plan.bounds.imbalance,
        "bound_migration": plan.bounds.migration,
        "cost_saved": payback.saved,
        "cost_spent": payback.spent,
        "verdict": planned.verdict,
        "reasons": name_items(plan.reasons, planned.named),
    }


if __name__ == "__main__":
    run_job(plan_moves, about=__doc__, needs=("window",), takes=("plan",), add_options=add_options)
