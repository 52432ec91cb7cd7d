"""A plan's explanation as the tables keep it: ``explain_plan``'s answer, with items by their names instead of positions."""

import json
import re
from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from partitioning.explain import Explanation, HotBucket
from partitioning.function_json import text_of_key
from spark_jobs.control_tables import Row
from spark_jobs.item_stats import ItemStats

_POSITION = re.compile(r"\bitem (\d+)\b")


def item_name(item: Row) -> str:
    """How people read an item of ``moves`` or ``item_stats``."""
    if item["kind"] == "slot":
        return f"slot {item['slot']}"
    name = "the NULL key" if item["key"] is None else f"key {text_of_key(item['key'])}"
    return f"a part of {name}" if item["kind"] == "part" else name


def name_items(sentences: Iterable[str], items: ItemStats) -> list[str]:
    """The core's sentences say "item 17"; people know keys and slots."""
    return [_POSITION.sub(lambda found: item_name(items.name_of(int(found[1]))), text) for text in sentences]


def explanation_json(
    explanation: Explanation, items: ItemStats, *, capacity: dict[str, Any] | None = None
) -> str:
    """What ``plans.explanation`` holds. The moves' reasons are in ``moves``, beside the moves."""
    certificate = explanation.certificate
    return json.dumps(
        {
            "hot_buckets": [_hot_bucket(bucket, items) for bucket in explanation.hot_buckets],
            "frontier": asdict(explanation.frontier),
            "certificate": {**asdict(certificate), "migration_ratio": _finite(certificate.migration_ratio)},
            "payback": {**asdict(explanation.payback), "is_worth_it": explanation.payback.is_worth_it},
            "capacity": capacity,
        }
    )


def _hot_bucket(bucket: HotBucket, items: ItemStats) -> dict[str, Any]:
    return {
        **asdict(bucket),
        "heaviest_item": None
        if bucket.heaviest_item is None
        else item_name(items.name_of(bucket.heaviest_item)),
        "helps": name_items(bucket.helps, items),
    }


def _finite(ratio: float) -> float | None:
    """JSON knows no infinity: None is "something moves though nothing had to"."""
    return ratio if ratio < float("inf") else None
