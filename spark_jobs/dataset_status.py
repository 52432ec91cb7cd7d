"""Where a dataset stands: its function, θ now, its last run, and what is to be done next, in one sentence."""

from typing import Any

from deltalake import DeltaTable

from partitioning.function import PartitioningFunction
from partitioning.measures import is_within
from schemas.dataset import Dataset
from schemas.tables import PLANS, RUNS
from spark_jobs.balance import Balance, balance_of, newest_window
from spark_jobs.capacity_facts import newest_capacity
from spark_jobs.control_tables import Row, load_function, read_one, read_rows
from spark_jobs.locations import uri_of
from spark_jobs.plan_moves import settings_row
from spark_jobs.run_history import history_of
from spark_jobs.run_outcome import FAILED, HELD, MIGRATED
from spark_jobs.scorecard import why_paused
from spark_jobs.table_log import MOVING, finishing, function_of, layout_commit, properties_of

Facts = dict[str, Any]

# Kinds of what comes next; all but the first want somebody to act.
FINE, CREATE, INTERRUPTED, LAST_FAILED, PROFILE, PAUSED, HOLDS, APPLY, PLAN = (
    "nothing to do",
    "create",
    "interrupted",
    "failed",
    "profile",
    "paused",
    "held",
    "apply",
    "plan",
)


def dataset_status(dataset: Dataset) -> Facts:
    """
    The facts, as plain values that JSON can hold.

    ``imbalance`` is θ of the newest profiled window under the function that the table has at this moment, so right after a roll back too;
    None where nothing was profiled. ``capacity`` is what the plan for that window recommends. ``next`` holds a ``kind``, a ``sentence``, and whether it ``needs_attention``.
    """
    if not DeltaTable.is_deltatable(uri_of(dataset.state)):
        return _facts(dataset, None, None, _next(CREATE, f"not created yet: evenkeel create {dataset.name}"))
    properties = properties_of(dataset)
    function = load_function(dataset.name, function_of(properties, dataset))
    window = newest_window(dataset)
    balance = balance_of(dataset, window, function) if window else None
    moving = properties.get(MOVING)
    if moving:
        sentence = f"a move to function {moving[:12]} was interrupted; this finishes it: {finishing(dataset, properties)}"
        return _facts(dataset, function, balance, _next(INTERRUPTED, sentence))
    return _facts(dataset, function, balance, _next_step(dataset, function, balance))


def _facts(
    dataset: Dataset, function: PartitioningFunction | None, balance: Balance | None, following: Facts
) -> Facts:
    return {
        "dataset": dataset.name,
        "function": function.digest if function else None,
        "n_buckets": function.n_buckets if function else dataset.n_buckets,
        "n_slots": function.n_slots if function else dataset.n_slots,
        "n_routes": function.n_routes if function else 0,
        "imbalance": balance.imbalance if balance else None,
        "max_imbalance": dataset.max_imbalance,
        "window_start": balance.window.start.isoformat() if balance else None,
        "capacity": newest_capacity(dataset, balance.window.start) if balance else None,
        "last_run": last_run(dataset),
        "next": following,
    }


def last_run(dataset: Dataset) -> Facts | None:
    """The run of the newest window that had one; where it had several, the one that did most."""
    told = history_of(dataset.name)
    if not told:
        return None
    run = read_one(RUNS, dataset=dataset.name, run=told[-1]["run"])
    names = ("run", "outcome", "reasons", "plan", "report")
    return {"window_start": told[-1]["window_start"], **{name: run[name] for name in names}}


def _next(kind: str, sentence: str) -> Facts:
    return {"kind": kind, "sentence": sentence, "needs_attention": kind != FINE}


def _next_step(dataset: Dataset, function: PartitioningFunction, balance: Balance | None) -> Facts:
    """The first thing that somebody should know."""
    last, paused = last_run(dataset), why_paused(dataset)
    failed = _failures_of(dataset, last)
    if failed:
        return _next(LAST_FAILED, f"last run failed at {'; '.join(failed)}")
    if balance is None:
        return _next(
            PROFILE, f"no window was profiled yet: evenkeel run {dataset.name} --window-start {dataset.start}"
        )
    if paused:
        return _next(PAUSED, f"paused: {paused}")
    theta = balance.imbalance
    if is_within(theta, dataset.max_imbalance) and function.n_buckets == dataset.n_buckets:
        return _next(FINE, f"nothing to do: θ {theta:.3f} is within {dataset.max_imbalance:g}")
    return _next_change(dataset, function, balance, last)


def _failures_of(dataset: Dataset, last: Facts | None) -> list[str]:
    """What failed in the newest window, unless another run of it has migrated since; dry runs and holds heal nothing."""
    if last is None or last["outcome"] == MIGRATED:
        return []
    runs = read_rows(RUNS, dataset=dataset.name).to_pylist()
    failed = [
        run
        for run in runs
        if run["outcome"] == FAILED and run["window_start"].isoformat() == last["window_start"]
    ]
    return [reason for run in failed for reason in run["reasons"]]


def _next_change(
    dataset: Dataset, function: PartitioningFunction, balance: Balance, last: Facts | None
) -> Facts:
    """The load is uneven, or the number of buckets is to change."""
    why = f"θ {balance.imbalance:.3f} is above {dataset.max_imbalance:g}"
    if function.n_buckets != dataset.n_buckets:
        why = f"{dataset.n_buckets} buckets are wanted, the table has {function.n_buckets}"
    waiting = waiting_plan(dataset, function, balance)
    is_of_window = last is not None and last["window_start"] == balance.window.start.isoformat()
    if last and is_of_window and last["outcome"] == HELD:
        sentence = f"held: {'; '.join(last['reasons'])}"
        anyway = f". To apply the plan all the same: {_apply(dataset, waiting)}" if waiting else ""
        return _next(HOLDS, sentence + anyway)
    if waiting and layout_commit(dataset, plan=waiting["plan"]):
        return _next(
            PLAN, f"{why}; plan {waiting['plan']} was rolled back: plan again with the next window, or {_apply(dataset, waiting)}"
        )  # fmt: skip
    if waiting:
        return _next(APPLY, f"plan {waiting['plan']} waits to be applied: {_apply(dataset, waiting)}")
    return _next(PLAN, f"{why}: evenkeel plan {dataset.name}")


def _apply(dataset: Dataset, plan: Row) -> str:
    return f"evenkeel apply {dataset.name} {plan['plan']}"


def waiting_plan(dataset: Dataset, function: PartitioningFunction, balance: Balance) -> Row | None:
    """
    Of the plans for this window that could be applied now, the most even one; of these the one that moves least.

    Plans that somebody tried with other settings than the dataset's are for whoever tried them.
    """
    plans = read_rows(PLANS, dataset=dataset.name, from_function=function.digest).to_pylist()
    settings = settings_row(dataset)
    of_window = [
        plan
        for plan in plans
        if plan["window_start"] == balance.window.start
        and plan["to_function"] != function.digest
        and all(plan[name] == value for name, value in settings.items())
    ]
    return min(
        of_window,
        key=lambda plan: (plan["imbalance_after"], plan["migration"], plan["plan"]),
        default=None,
    )
