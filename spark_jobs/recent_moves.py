"""What moved lately, for a planner that is not to send it there and back."""

from datetime import datetime

import numpy as np

from partitioning import History
from partitioning.function_json import text_of_key
from schemas.dataset import Dataset
from schemas.tables import MOVES, PLANS
from spark_jobs.control_tables import Row, read_rows
from spark_jobs.item_stats import ItemStats
from spark_jobs.job import Window
from spark_jobs.table_log import applied_plans

Item = tuple[str, int, str | None]  # kind, slot and key, as tables name an item


def recent_moves(dataset: Dataset, window: Window, items: ItemStats) -> History:
    """The moves of plans that were applied in the windows before this one; those of the last few count."""
    position = {_name(items.name_of(i)): i for i in range(items.slot.size)}
    applied = set(applied_plans(dataset))
    plans = [plan for plan in read_rows(PLANS, dataset=dataset.name).to_pylist() if plan["plan"] in applied]
    entries = [
        (position[item], move["from_bucket"], age)
        for plan in plans
        if 1 <= (age := _windows_between(plan, window)) <= History().n_windows
        for move in read_rows(MOVES, dataset=dataset.name, plan=plan["plan"]).to_pylist()
        if (item := (move["kind"], move["slot"], move["key"])) in position
    ]
    columns = np.array(entries, dtype=np.int64).reshape(-1, 3)
    return History(item=columns[:, 0], source=columns[:, 1], age=columns[:, 2])


def _name(name: Row) -> Item:
    return name["kind"], name["slot"], text_of_key(name["key"])


def _windows_between(plan: Row, window: Window) -> int:
    before: datetime = plan["window_start"]
    return round((window.start - before) / (window.end - window.start))
