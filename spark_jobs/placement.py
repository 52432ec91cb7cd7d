"""
Where a key, a slot or a bucket is, why, and what it would take to change that. Needs no Spark.

Three functions, ``key_placement``, ``slot_placement`` and ``bucket_placement``, for the terminal and the page alike.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np

from partitioning.errors import PartitioningError
from partitioning.explain_moves import why
from partitioning.function import PartitioningFunction
from partitioning.function_json import key_of_text, text_of_key
from partitioning.hashing import decode_key, encode_key, slot_of
from partitioning.key_types import Key
from partitioning.splits import N_GRAINS
from schemas.dataset import Dataset
from schemas.tables import FUNCTIONS, MOVES, PLANS
from spark_jobs.balance import Balance, balance_of, newest_window
from spark_jobs.control_tables import Row, read_rows
from spark_jobs.item_names import item_name
from spark_jobs.job import NotThereError
from spark_jobs.run_facts import plan_facts_of
from spark_jobs.table_log import current_function, layout_commits
from spark_jobs.what_if import Moving, best_move

Facts = dict[str, Any]
Place = Callable[[PartitioningFunction], int]  # the bucket of the one thing that is asked about
N_HEAVIEST = 10  # items of a bucket that are told one by one


@dataclass(frozen=True, kw_only=True, eq=False)
class Scene:
    """What every answer looks at."""

    dataset: Dataset
    function: PartitioningFunction
    balance: Balance | None  # None: nothing was profiled yet


def scene_of(dataset: Dataset) -> Scene:
    function, window = current_function(dataset), newest_window(dataset)
    return Scene(
        dataset=dataset,
        function=function,
        balance=balance_of(dataset, window, function) if window else None,
    )


def key_of(text: str, key_type: str) -> Key | None:
    """The key that this text means in a column of the type, in its one form."""
    try:
        return decode_key(encode_key(key_of_text(text, key_type), key_type), key_type)
    except PartitioningError:
        raise NotThereError(
            f"KEY must be a {key_type}, as the dataset's key.type says. Got {text!r}. Write it as Spark prints it; binary in"
            " hexadecimal digits."
        ) from None


def key_placement(scene: Scene, key: Key | None) -> Facts:
    """Of one key; ``item`` is what a planner sees of it: the key itself where it is tracked, its slot otherwise."""
    function = scene.function
    slot = slot_of(key, function.key_type, function.n_slots)
    position = _position_of_key(scene.balance, key)
    is_tracked = position is not None
    return {
        "kind": "key",
        "key": text_of_key(key),
        "slot": slot,
        "bucket": _main_bucket(function, key),
        "parts": [
            {"bucket": part.bucket, "share": part.weight / N_GRAINS} for part in function.splits.get(key, ())
        ],
        "is_routed": key in function.routes,
        "slot_bucket": int(function.slots[slot]),
        "is_tracked": is_tracked,
        **_common(scene, slot if position is None else position),
        "moved_by": moved_by_commit(
            scene.dataset, lambda of: _main_bucket(of, key), _MovedItem(slot=slot, key=text_of_key(key))
        ),
    }


def slot_placement(scene: Scene, slot: int) -> Facts:
    """Of one slot: all its keys but those that are routed, or tracked one by one."""
    if not 0 <= slot < scene.function.n_slots:
        raise NotThereError(f"slot must lie in [0, {scene.function.n_slots}). Got {slot}. Name one of these.")
    routed = [
        text_of_key(key)
        for key in scene.function.exceptions
        if slot_of(key, scene.function.key_type, scene.function.n_slots) == slot
    ]
    return {
        "kind": "slot",
        "slot": slot,
        "bucket": int(scene.function.slots[slot]),
        "routed_keys": routed,
        **_common(scene, slot),
        "moved_by": moved_by_commit(
            scene.dataset, lambda of: int(of.slots[slot]), _MovedItem(slot=slot, key=None, is_slot=True)
        ),
    }


def bucket_placement(scene: Scene, bucket: int) -> Facts:
    """Of one bucket: its load against the mean and the goal, its heaviest items, what keeps it hot and what would help."""
    function, balance = scene.function, scene.balance
    if not 0 <= bucket < function.n_buckets:
        raise NotThereError(f"bucket must lie in [0, {function.n_buckets}). Got {bucket}. Name one of these.")
    facts: Facts = {
        "kind": "bucket",
        "bucket": bucket,
        "n_slots": int(np.count_nonzero(function.slots == bucket)),
        "n_routes": sum(
            part.bucket == bucket for key in function.exceptions for part in function.parts_of(key)
        ),
        **_of_window(scene),
    }
    if balance is None:
        return facts
    inside = np.flatnonzero(balance.request.owner == bucket)
    heaviest = inside[np.argsort(-balance.items.cost[inside], kind="stable")][:N_HEAVIEST]
    return {
        **facts,
        **_load_of(scene, bucket),
        "n_items": int(inside.size),
        "heaviest": [_item(balance, int(position)) for position in heaviest],
        "hot": _hot_bucket(scene, bucket),
    }


def _main_bucket(function: PartitioningFunction, key: Key | None) -> int:
    """A key's bucket; of a split key the one with most of its rows, the first of equals."""
    parts = function.parts_of(key)
    return max(parts, key=lambda part: (part.weight, -part.bucket)).bucket


def _position_of_key(balance: Balance | None, key: Key | None) -> int | None:
    if balance is None or key not in balance.items.key:
        return None
    return balance.items.n_slots + balance.items.key.index(key)


def _common(scene: Scene, position: int) -> Facts:
    """Cost and state of the item in the newest window, the load of its bucket, and what moving it would do."""
    balance = scene.balance
    if balance is None:
        return {**_of_window(scene), "item": None, "load": None, "best_move": None}
    bucket = int(balance.request.owner[position])
    moving = Moving(dataset=scene.dataset, function=scene.function, balance=balance, position=position)
    return {
        **_of_window(scene),
        "item": _item(balance, position),
        "load": _load_of(scene, bucket),
        "best_move": best_move(moving),
    }


def _of_window(scene: Scene) -> Facts:
    return {
        "dataset": scene.dataset.name,
        "function": scene.function.digest,
        "window_start": scene.balance.window.start.isoformat() if scene.balance else None,
        "imbalance": scene.balance.imbalance if scene.balance else None,
        "max_imbalance": scene.dataset.max_imbalance,
    }


def _load_of(scene: Scene, bucket: int) -> Facts:
    """The bucket's load; ``excess`` is how far it is above the mean, as a fraction of that."""
    balance = scene.balance
    if balance is None:
        return {}
    load = float(balance.load[bucket])
    return {"load": load, "mean_load": balance.mean, "excess": balance.excess(load)}


def _item(balance: Balance, position: int) -> Facts:
    name = balance.items.name_of(position)
    named = {**name, "key": text_of_key(name["key"])}
    return {
        "item": item_name(named),
        **named,
        "cost": float(balance.items.cost[position]),
        "state": float(balance.items.state[position]),
        "state_share": float(balance.items.state[position]) / (balance.request.total_state or 1.0),
    }


def _hot_bucket(scene: Scene, bucket: int) -> Facts | None:
    """What a plan of this window that leads to the table's function, or else from it, says of this bucket; None: it does not stay hot."""
    balance, digest = scene.balance, scene.function.digest
    if balance is None:
        return None
    plans = read_rows(PLANS, dataset=scene.dataset.name, window_start=balance.window.start).to_pylist()
    about = [plan for plan in plans if digest in (plan["from_function"], plan["to_function"])]
    for plan in sorted(about, key=lambda plan: (plan["to_function"] != digest, plan["plan"])):
        for hot in plan_facts_of(scene.dataset.name, plan)["hot_buckets"]:
            if hot["bucket"] == bucket:
                return {**hot, "plan": plan["plan"]}
    return None


# Which commit put it there


@dataclass(frozen=True, kw_only=True)
class _MovedItem:
    """The rows of ``moves`` that are about the thing: a key's own, or else its slot's."""

    slot: int
    key: str | None
    is_slot: bool = False

    def row_in(self, moves: list[Row]) -> Row | None:
        own = [move for move in moves if move["kind"] in ("key", "part") and move["key"] == self.key]
        of_slot = [move for move in moves if move["kind"] == "slot" and move["slot"] == self.slot]
        return next(iter([*([] if self.is_slot else own), *of_slot]), None)


def moved_by_commit(dataset: Dataset, place: Place, item: _MovedItem) -> Facts | None:
    """
    The newest change of function that gave the thing the bucket it has: which plan, when, why, θ without that move.

    None: no commit that the log still holds moved it, so the plain hash did.
    """
    bodies = {row["function"]: row["body"] for row in read_rows(FUNCTIONS, dataset=dataset.name).to_pylist()}
    for commit in layout_commits(dataset):
        ends = [commit["from_function"], commit["to_function"]]
        if any(end not in bodies for end in ends):
            return None  # older functions are forgotten
        before, after = (place(PartitioningFunction.from_json(bodies[end])) for end in ends)
        if before != after:
            return _commit_facts(dataset, commit, item) | {"from_bucket": before, "to_bucket": after}
    return None


def _commit_facts(dataset: Dataset, commit: Facts, item: _MovedItem) -> Facts:
    facts = {
        "by": commit["evenkeel"],
        "plan": commit.get("plan"),
        "version": commit["version"],
        "at": datetime.fromtimestamp(commit["timestamp"] / 1000, UTC).isoformat(),
    }
    moves = read_rows(MOVES, dataset=dataset.name, plan=commit.get("plan", "")).to_pylist()
    move = item.row_in(moves)
    if move is None:
        return {**facts, "cause": None, "why": None, "imbalance_without": None}
    return {
        **facts,
        "cause": move["cause"],
        "why": why(move["cause"], move["from_bucket"]),
        "imbalance_without": move["imbalance_without"],
    }
