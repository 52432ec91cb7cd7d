"""
Everything there is to tell about a run, as plain values that JSON can hold.

One function, ``run_facts``, for the page, the terminal and whoever else asks: a figure is the same everywhere because it is read here,
from the control tables, and rounded only where it is shown.
"""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from partitioning.explain_moves import why
from partitioning.item_forecast import LAST
from schemas.dataset import Dataset
from schemas.tables import CHECKS, MOVES, PLANS
from spark_jobs.control_tables import Row, read_rows
from spark_jobs.feed_assignments import window_feed_facts
from spark_jobs.forecast_facts import window_forecast_facts
from spark_jobs.item_names import item_name
from spark_jobs.run_history import history_of
from spark_jobs.run_outcome import MIGRATED

Facts = dict[str, Any]

# Of a run's row, as they are.
RUN_FIELDS = (
    "run", "window_start", "window_end", "outcome", "reasons", "rows_moved", "bytes_written", "seconds", "start_seconds", "report",
)  # fmt: skip
# Of its plan's row, as they are; a run that came to no plan has none of them.
PLAN_FIELDS = (
    "plan", "planner", "planned_on", "verdict", "from_function", "to_function", "n_buckets", "max_imbalance", "target_imbalance", "max_routes",
    "max_migration", "imbalance_hash", "imbalance_before", "imbalance_after", "load_before", "load_after", "n_routes", "n_moves",
    "migration", "total_state", "bound_imbalance", "bound_migration", "cost_saved", "cost_spent",
)  # fmt: skip
EXPLAINED = ("hot_buckets", "frontier", "certificate", "payback")


def run_facts(dataset: Dataset, run: Row) -> Facts:
    """
    The facts of a run, from its row of ``runs`` (which need not be stored yet) and the tables.

    ``plan`` is None where the run came to no plan, ``feeds`` where one table brings the events, ``forecast`` where none had been made for the window.
    ``headline`` is the run in one sentence. Times are ISO 8601.
    """
    name = dataset.name
    plans = read_rows(PLANS, dataset=name, plan=run["plan"]).to_pylist() if run["plan"] else []
    plan = plan_facts_of(name, plans[0]) if plans else None
    checks = read_rows(CHECKS, dataset=name, window_start=run["window_start"]).to_pylist()
    facts = {
        "dataset": name,
        **{field: run[field] for field in RUN_FIELDS},
        "steps": json.loads(run["steps"]),
        "plan": plan,
        "checks": _checks(checks),
        "feeds": window_feed_facts(name, run["window_start"]),
        "forecast": window_forecast_facts(dataset, run),
        "history": history_of(name, run),
    }
    return _plain_facts({**facts, "headline": headline(facts)})


def plan_facts_of(dataset: str, row: Row) -> Facts:
    """A plan with its moves and why, whether or not a run has applied it."""
    moves = read_rows(MOVES, dataset=dataset, plan=row["plan"]).to_pylist()
    explanation = json.loads(row["explanation"])
    share = row["migration"] / row["total_state"] if row["total_state"] else 0.0
    facts = {
        **{name: row[name] for name in PLAN_FIELDS},
        "window_start": row["window_start"],
        "window_end": row["window_end"],
        "reasons": row["reasons"],
        "migration_share": share,
        "moves": [_move(move) for move in _most_missed_first(moves)],
        **{name: explanation[name] for name in EXPLAINED},
        "capacity": explanation.get("capacity"),  # older plans say nothing about it
    }
    return _plain_facts(facts)


def _most_missed_first(moves: Sequence[Row]) -> list[Row]:
    return sorted(
        moves, key=lambda move: (-move["imbalance_without"], -move["cost"], move["slot"], str(move["key"]))
    )


def _move(move: Row) -> Facts:
    names = ("kind", "slot", "key", "from_bucket", "to_bucket", "cost", "state", "cause", "imbalance_without")
    return {
        "item": item_name(move),
        **{name: move[name] for name in names},
        "why": why(move["cause"], move["from_bucket"]),
    }


def _checks(checks: Sequence[Row]) -> list[Facts]:
    names = ("subject", "column", "expectation", "severity", "success", "observed", "sentence")
    ordered = sorted(checks, key=lambda check: (check["subject"], check["column"], check["expectation"]))
    return [{name: check[name] for name in names} for check in ordered]


def headline(facts: Mapping[str, Any]) -> str:
    """The run in one sentence, figures rounded for people."""
    plan = facts["plan"]
    if plan is None:
        return f"The run {facts['outcome']}: it came to no plan."
    theta = "θ" if plan["planned_on"] == LAST else "expected θ"
    before, after, share = plan["imbalance_before"], plan["imbalance_after"], plan["migration_share"]
    if facts["outcome"] == MIGRATED:
        return f"Migrated: {theta} {before:.3f} → {after:.3f} by moving {share:.2%} of the state; {distance(plan)}."
    if not plan["n_moves"]:
        return f"{facts['outcome'].capitalize()}: {theta} is {before:.3f} and nothing would move; {distance(plan)}."
    return (
        f"{facts['outcome'].capitalize()}: {theta} is {before:.3f}; the plan would bring it to {after:.3f} by moving"
        f" {share:.2%} of the state; {distance(plan, is_kept='would be kept')}."
    )


def distance(plan: Mapping[str, Any], *, is_kept: str = "is kept") -> str:
    """How far the plan is from the best possible, in words; of one that was not carried out the goal ``would be kept``."""
    certificate = plan["certificate"]
    if certificate["proof"]:
        return "no plan is better: proved"
    gap = max(0.0, certificate["imbalance"] - max(certificate["imbalance_bound"], plan["max_imbalance"]))
    evenness = f"the goal {is_kept}" if gap == 0 else f"at most {gap:.3f} above the least θ possible"
    ratio = certificate["migration_ratio"]
    if not plan["n_moves"] or ratio is None:
        return evenness
    return f"{evenness}; at most {ratio:.2f} times the least migration"


def _plain_facts(facts: Facts) -> Facts:
    """Times as text, so that JSON can hold what the tables hold."""
    return {name: _plain(value) for name, value in facts.items()}


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return _plain_facts(value)
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value.isoformat() if isinstance(value, datetime) else value
