"""Make the demo's events: clicks of 50,000 users, Zipf-distributed, whose hot users change from day to day."""

from datetime import datetime, timedelta

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from spark_jobs.job import Result, Task, run_job

SEED = 20_260_103
N_USERS = 50_000
CLICKS_A_DAY = 200_000
ZIPF = 1.0
HOT = 400  # ranks whose users change
N_FILES = 4
PAGES = np.array(["home", "search", "basket", "product", "help", "account"])


def ranking(day: int) -> NDArray[np.int64]:
    """Users by popularity on a day: the order of a fixed draw, in which a few hot ranks change hands every day."""
    users = np.random.default_rng(SEED).permutation(N_USERS)
    for past in range(1, day + 1):
        rng = np.random.default_rng([SEED, past])
        ranks = rng.choice(HOT, size=HOT // 4, replace=False)
        strangers = rng.choice(np.arange(HOT, N_USERS), size=ranks.size, replace=False)
        users[ranks], users[strangers] = users[strangers], users[ranks]
    return users


def clicks_of_day(day: int, midnight: datetime) -> pd.DataFrame:
    """One day's clicks, the same on every machine."""
    rng = np.random.default_rng([SEED, 1_000_000 + day])
    weights = 1.0 / np.arange(1, N_USERS + 1) ** ZIPF
    users = rng.choice(ranking(day), size=CLICKS_A_DAY, p=weights / weights.sum())
    seconds = np.sort(rng.integers(0, 24 * 60 * 60, CLICKS_A_DAY))
    return pd.DataFrame(
        {
            "click_id": day * CLICKS_A_DAY + np.arange(CLICKS_A_DAY),
            "user_id": users,
            "clicked_at": pd.Timestamp(midnight) + pd.to_timedelta(seconds, unit="s"),
            "page": PAGES[rng.integers(0, PAGES.size, CLICKS_A_DAY)],
            "session": [f"{number:016x}" for number in rng.integers(0, 2**63, CLICKS_A_DAY)],
        }
    )


def generate_clicks(task: Task) -> Result:
    """Write all days of the window, once, in one commit."""
    n_days = (task.window.end - task.window.start) // timedelta(days=1)
    days = [clicks_of_day(day, task.window.start + timedelta(days=day)) for day in range(n_days)]
    clicks = task.spark.createDataFrame(pa.Table.from_pandas(pd.concat(days), preserve_index=False))
    (
        clicks.coalesce(N_FILES)
        .write.format("delta")
        .mode("append")
        .option(
            "txnAppId", f"evenkeel/generate/{task.window.start.isoformat()}/{task.window.end.isoformat()}"
        )
        .option("txnVersion", 1)
        .save(task.dataset.events)
    )
    task.say(f"{n_days} days of {CLICKS_A_DAY:,} clicks by {N_USERS:,} users written")
    return {"days": n_days, "clicks": n_days * CLICKS_A_DAY}


if __name__ == "__main__":
    run_job(generate_clicks, about=__doc__, needs=("window",))
