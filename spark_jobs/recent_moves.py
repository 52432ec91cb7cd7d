"""What moved lately, for a planner that is not to send it there and back."""

import numpy as np

from partitioning import History
from partitioning.function import PartitioningFunction
from partitioning.function_json import text_of_key
from partitioning.key_types import Key
from schemas.dataset import Dataset
from schemas.tables import MOVES, PLANS
from spark_jobs.control_tables import Row, load_function, read_rows
from spark_jobs.item_stats import ItemStats
from spark_jobs.job import Window
from spark_jobs.scheduled_windows import intervals_between
from spark_jobs.table_log import applied_plans

Item = tuple[str, int, str | None]  # kind, slot and key, as tables name an item


def recent_moves(dataset: Dataset, window: Window, items: ItemStats) -> History:
    """The moves of plans that were applied in the windows before this one; those of the last few count."""
    position = {_name(items.name_of(i)): i for i in range(items.slot.size)}
    entries = [
        (position[item], move["from_bucket"], age)
        for plan, age in _recent_plans(dataset, window)
        for move in read_rows(MOVES, dataset=dataset.name, plan=plan["plan"]).to_pylist()
        if (item := (move["kind"], move["slot"], move["key"])) in position
    ]
    columns = np.array(entries, dtype=np.int64).reshape(-1, 3)
    return History(item=columns[:, 0], source=columns[:, 1], age=columns[:, 2])


def recently_cut(dataset: Dataset, window: Window, items: ItemStats) -> frozenset[int]:
    """Positions of the keys that plans of the last few windows spread over more buckets."""
    cut: set[Key | None] = set()
    for plan, _ in _recent_plans(dataset, window):
        before, after = (load_function(dataset.name, plan[name]) for name in ("from_function", "to_function"))
        cut |= {key for key in after.splits if _n_buckets(after, key) > _n_buckets(before, key)}
    return frozenset(position for position, key in enumerate(items.key, start=items.n_slots) if key in cut)


def _n_buckets(function: PartitioningFunction, key: Key | None) -> int:
    return len({part.bucket for part in function.parts_of(key)})


def _recent_plans(dataset: Dataset, window: Window) -> list[tuple[Row, int]]:
    """The plans that were applied in the last few windows before this one, and how many windows ago."""
    applied = set(applied_plans(dataset))
    plans = [plan for plan in read_rows(PLANS, dataset=dataset.name).to_pylist() if plan["plan"] in applied]
    most = History().n_windows
    aged = [
        (plan, intervals_between(dataset.schedule, plan["window_start"], window.start, most=most))
        for plan in plans
    ]
    return [(plan, age) for plan, age in aged if 1 <= age <= most]


def _name(name: Row) -> Item:
    return name["kind"], name["slot"], text_of_key(name["key"])
