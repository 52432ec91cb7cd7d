"""A plan as it is stored: what it says, and the checksum that ties plan, function and moves together."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from schemas.tables import FUNCTIONS, MOVES, PLANS
from spark_jobs.control_tables import Row, read_one, read_rows


def plan_name_of(*parts: object) -> str:
    """16 hexadecimal digits made from what the plan does: the same plan has the same name."""
    return _digest(parts)[:16]


def plan_checksum(plan: Mapping[str, Any], moves: Iterable[Mapping[str, Any]], function_body: str) -> str:
    """Changes when any field of the plan, any move or the new function changes; row order does not matter."""
    plan_fields = [[name, _plain(plan[name])] for name in sorted(plan) if name != "checksum"]
    move_fields = sorted(
        ([_plain(move[name]) for name in MOVES.columns if name not in MOVES.identity] for move in moves),
        key=str,
    )
    return _digest([plan_fields, move_fields, function_body])


def read_plan(dataset: str, plan: str) -> tuple[Row, list[Row], str]:
    """The plan's row, its moves, and the text of its new function, as the tables hold them."""
    row = read_one(PLANS, dataset=dataset, plan=plan)
    moves = read_rows(MOVES, dataset=dataset, plan=plan).to_pylist()
    body = read_one(FUNCTIONS, dataset=dataset, function=row["to_function"])["body"]
    return row, moves, body


def _plain(value: object) -> object:
    """Times as whole seconds, so that no time zone can change a checksum."""
    return int(value.timestamp()) if isinstance(value, datetime) else value


def _digest(value: object) -> str:
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"), default=_plain)
    return hashlib.sha256(text.encode()).hexdigest()
