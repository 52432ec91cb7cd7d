"""What a forecast was worth: θ that the window would have had with a plan on the last window, and with one that knew it."""

from dataclasses import replace

from partitioning import History
from partitioning.item_forecast import LAST
from schemas.dataset import Dataset
from spark_jobs.control_tables import Row, load_function
from spark_jobs.item_stats import ItemStats, read_stats
from spark_jobs.job import Window
from spark_jobs.planned import plan_for
from spark_jobs.stored_windows import read_windows

NOTHING: Row = {"imbalance_last": None, "imbalance_clairvoyant": None}


def regret_of(dataset: Dataset, plan: Row, window: Window, now: ItemStats) -> Row:
    """
    Of a plan that was made on a forecast, judged by the window after its own, whose items are ``now``.

    Both other plans start where the plan started, with its settings. Nothing to say where the plan was made on the last window,
    or where a window lies in between.
    """
    if plan["planned_on"] == LAST:
        return NOTHING
    stored = read_windows(dataset, until=window.start, n_windows=2)
    if stored.starts != [plan["window_start"], window.start]:
        return NOTHING
    as_planned = replace(
        dataset,
        **{
            name: plan[name]
            for name in (
                "planner",
                "max_imbalance",
                "target_imbalance",
                "max_routes",
                "max_migration",
                "n_buckets",
            )
        },
    )
    then = read_stats(dataset, Window(start=plan["window_start"], end=plan["window_end"]))
    before = load_function(dataset.name, plan["from_function"])

    def realised(items: ItemStats) -> float:
        return now.imbalance(plan_for(as_planned, items, before, History()).after, plan["n_buckets"])

    return {
        "imbalance_last": realised(then),
        "imbalance_clairvoyant": realised(replace(then, cost=stored.items.next_cost(0))),
    }
