"""Make the demo's events: clicks of 50,000 users, Zipf-distributed, whose hot users change from day to day."""

import argparse
from datetime import datetime, timedelta

import numpy as np
import pandas as pd
import pyarrow as pa
from deltalake import CommitProperties, DeltaTable, Transaction, write_deltalake
from numpy.typing import NDArray

from spark_jobs.job import Result, Task, moment, run_job

SEED = 20_260_103
N_USERS = 50_000
CLICKS_A_DAY = 200_000
ZIPF = 1.0
HOT = 400  # ranks whose users change
QUIET = {4}  # days on which popularity stays as it was
DAY = timedelta(days=1)
PAGES = np.array(["home", "search", "basket", "product", "help", "account"])


def ranking(day: int) -> NDArray[np.int64]:
    """Users by popularity on a day: the order of a fixed draw, in which a few hot ranks change hands on most days."""
    users = np.random.default_rng(SEED).permutation(N_USERS)
    for past in sorted(set(range(1, day + 1)) - QUIET):
        rng = np.random.default_rng([SEED, past])
        ranks = rng.choice(HOT, size=HOT // 4, replace=False)
        strangers = rng.choice(np.arange(HOT, N_USERS), size=ranks.size, replace=False)
        users[ranks], users[strangers] = users[strangers], users[ranks]
    return users


def clicks_of_day(day: int, midnight: datetime, n_clicks: int = CLICKS_A_DAY) -> pd.DataFrame:
    """One day's clicks, the same on every machine."""
    rng = np.random.default_rng([SEED, 1_000_000 + day])
    weights = 1.0 / np.arange(1, N_USERS + 1) ** ZIPF
    users = rng.choice(ranking(day), size=n_clicks, p=weights / weights.sum())
    seconds = np.sort(rng.integers(0, 24 * 60 * 60, n_clicks))
    return pd.DataFrame(
        {
            "click_id": day * n_clicks + np.arange(n_clicks),
            "user_id": users,
            "clicked_at": pd.Timestamp(midnight) + pd.to_timedelta(seconds, unit="s"),
            "page": PAGES[rng.integers(0, PAGES.size, n_clicks)],
            "session": [f"{number:016x}" for number in rng.integers(0, 2**63, n_clicks)],
        }
    )


def generate_clicks(task: Task) -> Result:
    """
    Append all days of the window, one commit a day, each day once; ``copies`` more than 1 deliver it so many times over.

    Days are counted from the window's first one, or from ``first_day``; ``clicks`` are how many a day has.
    """
    first: datetime = task.options.get("first_day") or task.window.start
    n_clicks: int = task.options.get("clicks") or CLICKS_A_DAY
    n_days = (task.window.end - task.window.start) // DAY
    for midnight in (task.window.start + n * DAY for n in range(n_days)):
        day = pa.Table.from_pandas(
            clicks_of_day((midnight - first) // DAY, midnight, n_clicks), preserve_index=False
        )
        for copy in range(task.options.get("copies") or 1):
            _append(task.dataset.events, day, mark=f"evenkeel/generate/{midnight.isoformat()}/{copy}")
    task.say(f"{n_days} days of {n_clicks:,} clicks by {N_USERS:,} users written")
    return {"days": n_days, "clicks": n_days * n_clicks}


def _append(events: str, day: pa.Table, *, mark: str) -> None:
    if DeltaTable.is_deltatable(events) and DeltaTable(events).transaction_version(mark) is not None:
        return
    properties = CommitProperties(app_transactions=[Transaction(mark, 1)])
    write_deltalake(events, day, mode="append", commit_properties=properties)


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--first-day", type=moment, help="day that users' ranks begin with; the window's own")
    parser.add_argument("--copies", type=int, default=1, help="how often each day is delivered")


if __name__ == "__main__":
    run_job(generate_clicks, about=__doc__, needs=("window",), add_options=add_options)
