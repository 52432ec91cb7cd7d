"""What can be wrong with a stored function: looked for in its text, by code that made none of it."""

import json
from collections import Counter
from typing import Any

from partitioning.errors import PartitioningError
from partitioning.function import PartitioningFunction
from partitioning.function_json import key_of_text
from partitioning.splits import N_GRAINS
from schemas.dataset import Dataset
from spark_jobs.control_tables import Row


def read_function(row: Row) -> PartitioningFunction | None:
    """The function of a row of ``functions``; None if its text is none."""
    try:
        return PartitioningFunction.from_json(row["body"])
    except PartitioningError:
        return None


def is_true_to_itself(row: Row) -> bool:
    """Whether the row's name is the digest of its text, the text the only one of its function, and the counts are its own."""
    function = read_function(row)
    return function is not None and row == {
        "dataset": row["dataset"],
        "function": function.digest,
        "n_buckets": function.n_buckets,
        "n_slots": function.n_slots,
        "n_routes": function.n_routes,
        "body": function.to_json(),
    }


def totality_facts(body: str) -> dict[str, int]:
    """How far the text is from giving every key just one bucket that exists, by just one way."""
    try:
        content = json.loads(body)
        slots, routes, n_buckets = content["slots"], content["routes"], content["n_buckets"]
        splits = content.get("splits", [])
        named = [*routes, *((key, bucket) for key, parts in splits for bucket, _ in parts)]
        keys = [str(key) for key, _ in (*routes, *splits)]
        return {
            "slots_without_bucket": sum(not _is_bucket(bucket, n_buckets) for bucket in slots),
            "routes_without_bucket": sum(not _is_bucket(bucket, n_buckets) for _, bucket in named),
            "routes_given_twice": sum(n - 1 for n in Counter(keys).values()),
            "routes_without_effect": _count_idle(content),
            "splits_not_whole": sum(not _is_cut(parts) for _, parts in splits),
        }
    except (ValueError, TypeError, KeyError):
        return {"slots_without_bucket": 1}  # not a slot of it can be read


def changed_shape(functions: list[PartitioningFunction], dataset: Dataset) -> str:
    """What the functions and the dataset must have in common and have not: names, with commas."""
    wanted = {"n_slots": dataset.n_slots, "key_type": dataset.key_type.replace(" ", "")}
    return ", ".join(
        name
        for name, value in wanted.items()
        if any(str(getattr(function, name)).replace(" ", "") != str(value) for function in functions)
    )


def _is_bucket(bucket: object, n_buckets: int) -> bool:
    return type(bucket) is int and 0 <= bucket < n_buckets


def _is_cut(parts: list[list[int]]) -> bool:
    """Whether the parts hold every row of their key, once, in two buckets or more."""
    weights = [weight for _, weight in parts]
    is_whole = all(type(weight) is int and weight > 0 for weight in weights) and sum(weights) == N_GRAINS
    return is_whole and len({bucket for bucket, _ in parts}) > 1


def _count_idle(content: dict[str, Any]) -> int:
    """Routes that say what their key's slot says. Each costs a place in the table and does nothing."""
    fields = {name: content[name] for name in ("key_type", "n_buckets", "slots", "points_per_bucket")}
    try:
        bare = PartitioningFunction(**fields)
        return sum(
            bare.bucket_of(key_of_text(key, bare.key_type)) == bucket for key, bucket in content["routes"]
        )
    except PartitioningError:
        return 0  # such a text is no function, which is told elsewhere
