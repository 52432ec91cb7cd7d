"""A plan's explanation as the tables keep it: ``explain_plan``'s answer, with items by their names instead of positions."""

import json
import re
from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from partitioning.explain import Explanation, HotBucket
from spark_jobs.item_names import item_name
from spark_jobs.item_stats import ItemStats

_POSITION = re.compile(r"\bitem (\d+)\b")


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
