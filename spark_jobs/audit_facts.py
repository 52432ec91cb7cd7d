"""What an audit looks at, one function a subject, each a row of facts that a suite of expectations judges."""

from collections import Counter
from datetime import UTC, datetime
from typing import Any

from pyspark.sql import functions as F

from schemas.tables import FUNCTIONS, ITEM_STATS, MOVES, PLANS, RUNS, SCORES, Table
from spark_jobs.audit_layout import audit
from spark_jobs.control_tables import Row, read_rows
from spark_jobs.feeds import read_events
from spark_jobs.function_facts import is_true_to_itself, read_function
from spark_jobs.job import Task
from spark_jobs.plan_record import plan_checksum
from spark_jobs.sql_names import quoted
from spark_jobs.table_log import FUNCTION, MOVING, PREVIOUS, properties_of

Facts = dict[str, Any]


def events_facts(task: Task) -> Facts:
    """The events are there, of the type the dataset says, and each has a time that some window holds."""
    dataset = task.dataset
    events = read_events(task.spark, dataset)
    types = dict(events.dtypes)
    named = [dataset.key, dataset.event_time, *([dataset.event_id] if dataset.event_id else [])]
    missing = [name for name in named if name not in types]
    lost = None
    if dataset.event_time in types:
        time = F.col(quoted(dataset.event_time))
        lost = events.where(time.isNull() | (time > F.lit(datetime.now(UTC)))).count()
    return {
        "missing_columns": len(missing),
        "key_type_matches": types.get(dataset.key) == dataset.key_type,
        "event_times": lost,
    }


def state_facts(task: Task) -> Facts:
    """Every row read: where its function says, once, in a file with true statistics."""
    facts = audit(task)
    n_files = max(facts["files"], 1)
    names = ("rows", "files", "rows_astray", "false_files", "doubled_keys")
    moving = properties_of(task.dataset).get(MOVING, "")
    return {name: facts[name] for name in names} | {
        "mixed_share": facts["mixed_files"] / n_files,
        "is_at_rest": not moving,
    }


def function_facts(task: Task) -> Facts:
    """What the table names is there, whole, and fits the dataset file."""
    dataset, properties = task.dataset, properties_of(task.dataset)
    rows = {row["function"]: row for row in read_rows(FUNCTIONS, dataset=dataset.name).to_pylist()}
    named = [digest for name in (FUNCTION, PREVIOUS) if (digest := properties.get(name))]
    active = rows.get(properties.get(FUNCTION, ""))
    function = read_function(active) if active else None
    return {
        "unknown_functions": sum(digest not in rows for digest in named),
        "edited_functions": sum(not is_true_to_itself(row) for row in rows.values()),
        "slots_match": function is not None and function.n_slots == dataset.n_slots,
        "key_type_matches": function is not None and function.key_type == dataset.key_type,
        "buckets_match": function is not None and function.n_buckets == dataset.n_buckets,
        "routes_over_budget": _excess(function.n_routes if function else 0, dataset.max_routes),
    }


def _excess(value: int, limit: int | None) -> int:
    return 0 if limit is None else max(0, value - limit)


def plans_facts(task: Task) -> Facts:
    """No stored plan was edited, and each leads from and to a function that is there."""
    name = task.dataset.name
    plans, moves = read_rows(PLANS, dataset=name).to_pylist(), read_rows(MOVES, dataset=name).to_pylist()
    bodies = {row["function"]: row["body"] for row in read_rows(FUNCTIONS, dataset=name).to_pylist()}
    moves_of: dict[str, list[Row]] = {plan["plan"]: [] for plan in plans}
    stray = 0
    for move in moves:
        if move["plan"] in moves_of:
            moves_of[move["plan"]].append(move)
        else:
            stray += 1
    edited = sum(
        plan_checksum(plan, moves_of[plan["plan"]], bodies.get(plan["to_function"], "")) != plan["checksum"]
        for plan in plans
    )
    ends = {plan[end] for plan in plans for end in ("from_function", "to_function")}
    return {"edited_plans": edited, "stray_moves": stray, "unknown_functions": len(ends - set(bodies))}


def control_facts(task: Task) -> Facts:
    """Nothing is there twice, every profiled window is whole, and every run's plan is known."""
    name = task.dataset.name
    plans = set(read_rows(PLANS, dataset=name)["plan"].to_pylist())
    slots: Counter[datetime] = Counter()
    for item in read_rows(ITEM_STATS, dataset=name).to_pylist():
        slots[item["window_start"]] += item["kind"] == "slot"
    runs = read_rows(RUNS, dataset=name).to_pylist()
    single = (FUNCTIONS, PLANS, RUNS, SCORES)  # one row an identity
    return {
        "doubled_rows": sum(_n_doubled(table, name) for table in single),
        "torn_windows": sum(n != task.dataset.n_slots for n in slots.values()),
        "runs_of_unknown_plans": sum(run["plan"] is not None and run["plan"] not in plans for run in runs),
    }


def _n_doubled(table: Table, dataset: str) -> int:
    rows = read_rows(table, dataset=dataset).select(list(table.identity)).to_pylist()
    return len(rows) - len({tuple(row.values()) for row in rows})
