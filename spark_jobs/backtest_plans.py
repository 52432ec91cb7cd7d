"""
Replay the stored windows with every planner on every forecast, and say which would have served the dataset best.

Every plan is made from what was known when it was made, and judged by the window that followed. Reads item_stats; writes backtests and a page, and
touches nothing else. The same windows give the same answer.
"""

import argparse
from collections.abc import Sequence
from dataclasses import replace
from datetime import MAXYEAR, UTC, datetime
from typing import Any

import numpy as np

from pages.reports import report_path
from pages.store import write_text
from partitioning import PLANNERS, Budgets
from partitioning.backtest import CLAIRVOYANT, Backtest, Replays, run_backtest
from partitioning.forecast import ForecastOptions
from partitioning.item_forecast import CHOSEN, FORECASTS, LAST, forecasts_for
from partitioning.planning import RIVALS
from partitioning.replay import Contender, Score, Setting
from schemas.dataset import Dataset
from schemas.tables import BACKTESTS
from spark_jobs.backtest_advice import advice, choosable_planners, why_not_as_replayed
from spark_jobs.backtest_page import render_backtest
from spark_jobs.control_tables import Row, replace_rows
from spark_jobs.job import JobError, RefusalError, Result, Task, run_job
from spark_jobs.plan_record import plan_name_of
from spark_jobs.plan_request import target_of
from spark_jobs.replay_pool import replaying
from spark_jobs.stored_windows import StoredWindows, read_windows
from spark_jobs.table_log import initial_function

NAIVE = "naive"
FEWEST = 3  # windows: one to plan on, one to judge by, one more to choose a forecast
QUICK = ("evenkeel", "mixed", "llfd", "min_table", "min_mig", "mixed_compact")  # on any number of items
PAGE = "backtest"  # beside the dataset's reports
FOR_EVER = datetime(MAXYEAR, 1, 1, tzinfo=UTC)


def backtest_plans(task: Task) -> Result:
    dataset = task.dataset
    stored = read_windows(
        dataset, until=FOR_EVER, n_windows=task.options.get("windows") or dataset.forecast_windows
    )
    if len(stored.starts) < FEWEST:
        raise JobError(
            f"item_stats must hold at least {FEWEST} windows of {dataset.name}. Got {len(stored.starts)}. Wait for more windows, or"
            " backfill older ones."
        )
    champion = Contender(planner=dataset.planner, forecast=dataset.forecast)
    caveat = why_not_as_replayed(dataset, stored.items)
    choosable = choosable_planners(dataset, caveat)
    asked = _contenders(task, stored, champion)
    contenders = [replace(one, is_choosable=one.planner in choosable) for one in asked]
    task.say(f"replaying {len(stored.starts)} windows from {stored.starts[0]:%Y-%m-%d %H:%M} on")
    replays = Replays(
        setting=setting_of(dataset, stored),
        options=ForecastOptions(period=dataset.period),
        n_history=dataset.forecast_windows,
    )
    with replaying(replays) as each:
        result = run_backtest(replays, contenders, champion=champion, each=each, say=task.say)
    told = _told(dataset, stored, result, caveat)
    replace_rows(_rows(result, stored, caveat), BACKTESTS, dataset=dataset.name, backtest=told["backtest"])
    write_text(told["page"], render_backtest(dataset.name, told))
    task.say(f"{told['advice']}; page at {told['page']}")
    return told


def _told(dataset: Dataset, stored: StoredWindows, result: Backtest, caveat: str | None) -> Result:
    """All there is to tell, as plain values that JSON can hold; the same windows and contenders give the same name."""
    rows = _rows(result, stored, caveat)
    starts = [start.isoformat() for start in stored.starts]
    contenders = [[row["planner"], row["forecast"], row["imbalance"]] for row in rows]
    times = ("first_window", "last_window")
    return {
        "backtest": plan_name_of(dataset.name, starts, contenders),
        "advice": advice(result, caveat),
        "regret": result.regret,
        "goal": dataset.max_imbalance,
        "windows": starts[1:],
        "rows": [{**row, **{moment: row[moment].isoformat() for moment in times}} for row in rows],
        "page": report_path(dataset.name, PAGE),
    }


def setting_of(dataset: Dataset, stored: StoredWindows) -> Setting:
    """The dataset's own N, budgets and ring; every window but the first is judged."""
    return Setting(
        windows=stored.items,
        home=initial_function(dataset).slots.astype(np.int64),
        n_buckets=dataset.n_buckets,
        budgets=Budgets(
            max_imbalance=dataset.max_imbalance,
            target_imbalance=target_of(dataset),
            max_routes=dataset.max_routes,
            max_migration=dataset.max_migration,
        ),
    )


def _contenders(task: Task, stored: StoredWindows, champion: Contender) -> list[Contender]:
    n_items = stored.items.n_slots + max(
        stored.items.tracked(window).size for window in range(len(stored.starts))
    )
    planners = task.options.get("planners") or [
        name for name in PLANNERS if name in QUICK or n_items <= RIVALS.get(name, 0)
    ]
    forecasts = task.options.get("forecasts")
    if forecasts:
        _refuse_seasons_without_period(task.dataset, forecasts)
        return all_pairs(planners, forecasts)
    return usual_contenders(planners, champion, task.dataset.period)


def _refuse_seasons_without_period(dataset: Dataset, forecasts: Sequence[str]) -> None:
    unknown = [name for name in forecasts if name not in forecasts_for(dataset.period)]
    if unknown:
        raise RefusalError(
            f"forecast.period must be given for {', '.join(unknown)}. Got none in datasets/{dataset.name}.yaml. Give the windows after which"
            " the load repeats itself, or leave these forecasts out."
        )


def usual_contenders(planners: Sequence[str], champion: Contender, period: int | None) -> list[Contender]:
    """
    The champion's planner on all forecasts, every planner on the last window and on the chosen forecast.

    The naive forecast is the last window by another name. What takes longest comes first, so that no processor waits for it at the end.
    """
    forecasts = [name for name in forecasts_for(period) if name != NAIVE]
    return list(
        dict.fromkeys([*all_pairs([champion.planner], forecasts), *all_pairs(planners, (LAST, CHOSEN))])
    )


def all_pairs(planners: Sequence[str], forecasts: Sequence[str]) -> list[Contender]:
    return [Contender(planner=planner, forecast=forecast) for planner in planners for forecast in forecasts]


def _rows(result: Backtest, stored: StoredWindows, caveat: str | None) -> list[Row]:
    common = {"first_window": stored.starts[1], "last_window": stored.starts[-1], "caveat": caveat}
    rows = [
        {**_score_row(score), "place": place, "role": _role(score, result)}
        for place, score in enumerate(result.scores, start=1)
    ]
    rows.append({**_score_row(result.clairvoyant), "place": None, "role": "clairvoyant"})
    rows.append({
        **_of_windows(result.hash_imbalance), "place": None, "role": "hash", "planner": "hash", "forecast": "", "net": 0.0,
        "payback": 0.0, "migration": 0.0, "n_routes": 0, "n_thrash": 0,
    })  # fmt: skip
    return [{**common, **row} for row in rows]


def _role(score: Score, result: Backtest) -> str:
    if score is result.champion:
        return "champion"
    return "challenger" if score is result.challenger else "contender"


def _score_row(score: Score) -> Row:
    return {
        **_of_windows(score.imbalance),
        "planner": score.contender.planner,
        "forecast": score.contender.forecast,
        "net": score.net,
        "payback": score.payback,
        "migration": float(np.mean(score.migration)),
        "n_routes": score.n_routes[-1],
        "n_thrash": score.n_thrash,
    }


def _of_windows(imbalance: Sequence[float]) -> dict[str, Any]:
    return {
        "imbalance": list(imbalance),
        "mean_imbalance": float(np.mean(imbalance)),
        "worst_imbalance": float(np.max(imbalance)),
    }


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--windows",
        type=_count,
        metavar="N",
        help="how many of the stored windows; forecast.windows if not given",
    )
    parser.add_argument(
        "--planners",
        nargs="+",
        choices=sorted(PLANNERS),
        metavar="NAME",
        help=f"instead of all that are quick enough; of {', '.join(sorted(PLANNERS))}",
    )
    parser.add_argument(
        "--forecasts",
        nargs="+",
        choices=FORECASTS,
        metavar="NAME",
        help=f"instead of {LAST} and {CHOSEN}; {CLAIRVOYANT} is always told; of {', '.join(FORECASTS)}",
    )


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < FEWEST:
        raise argparse.ArgumentTypeError(f"must be a whole number from {FEWEST}. Got {text!r}.")
    return int(text)


if __name__ == "__main__":
    run_job(backtest_plans, about=__doc__, add_options=add_options)
