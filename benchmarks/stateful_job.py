"""
The stateful job of the benchmark: a day's clicks of every user, cut into sessions.

A click begins a session if the user's click before it is more than half an hour older, so the clicks just before the day are
needed too: that is the state. Every click's token is made a pseudonym by PBKDF2, which costs the same for each row and can be
neither skipped nor shared. The work is therefore in proportion to rows, and ``rounds`` says how much of it a row is.

Results of consecutive stretches of one user can be merged: that is what salting by hand needs, and most jobs cannot offer.
"""

import hashlib
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta

import numpy as np
import pandas as pd
from numpy.typing import NDArray

GAP = timedelta(minutes=30)  # a longer silence ends a session
RESULT = (
    "user_id bigint, stretch int, first_at timestamp, last_at timestamp, clicks bigint, sessions bigint,"
    " seconds double, pseudonyms bigint, task int"
)
COLUMNS = ["user_id", "stretch", "clicked_at", "session"]  # of the clicks; a stretch is a part of the day

Frames = Iterable[pd.DataFrame]


def sessionise(start: datetime, rounds: int) -> Callable[[Frames], Frames]:
    """What a task does with its rows: one line for each user and stretch. Clicks before ``start`` are only looked back at."""
    begin = pd.Timestamp(start).tz_convert(None)

    def work(frames: Frames) -> Frames:
        clicks = pd.concat(list(frames), ignore_index=True)
        if len(clicks):
            yield _sessions(clicks, begin, rounds).assign(task=_task_number())

    return work


def _sessions(clicks: pd.DataFrame, begin: pd.Timestamp, rounds: int) -> pd.DataFrame:
    clicks = clicks.sort_values(["user_id", "stretch", "clicked_at"], ignore_index=True)
    is_counted = (clicks["clicked_at"] >= begin).to_numpy()
    same = (clicks[["user_id", "stretch"]] == clicks[["user_id", "stretch"]].shift()).all(axis=1)
    silence = clicks["clicked_at"].diff()
    goes_on = (same & (silence <= GAP)).to_numpy()
    lines = clicks.assign(
        clicks=is_counted,
        sessions=is_counted & ~goes_on,
        seconds=np.where(is_counted & goes_on, silence.dt.total_seconds(), 0.0),
        pseudonyms=_pseudonyms(clicks["session"], is_counted, rounds),
    ).groupby(["user_id", "stretch"], as_index=False)
    totals = lines[["clicks", "sessions", "seconds", "pseudonyms"]].sum()
    times = lines["clicked_at"].agg(first_at="min", last_at="max")
    return totals.assign(first_at=times["first_at"], last_at=times["last_at"])


def _pseudonyms(tokens: "pd.Series[str]", is_counted: NDArray[np.bool_], rounds: int) -> NDArray[np.int64]:
    """The first five bytes of each counted token's pseudonym as a number: small enough to sum millions of."""
    numbers = np.zeros(len(tokens), dtype=np.int64)
    texts = tokens.to_list()
    for i in np.flatnonzero(is_counted):
        digest = hashlib.pbkdf2_hmac("sha256", texts[i].encode(), b"evenkeel", rounds)
        numbers[i] = int.from_bytes(digest[:5], "big")
    return numbers


def merge_stretches(frames: Frames) -> Frames:
    """One line a user, from the lines of the user's stretches, which must all be here."""
    lines = pd.concat(list(frames), ignore_index=True)
    if not len(lines):
        return
    lines = lines.sort_values(["user_id", "stretch"], ignore_index=True)
    silence = lines["first_at"] - lines["last_at"].shift()
    is_same = (lines["user_id"] == lines["user_id"].shift()) & (silence <= GAP)
    # The first click of a stretch was taken for the begin of a session. A stretch without counted clicks began none.
    joined = (is_same & (lines["clicks"] > 0)).to_numpy()
    lines["sessions"] -= joined
    lines["seconds"] += np.where(joined, silence.dt.total_seconds(), 0.0)
    users = lines.groupby("user_id", as_index=False)
    sums = users[["clicks", "sessions", "seconds", "pseudonyms"]].sum()
    ends = users.agg(first_at=("first_at", "min"), last_at=("last_at", "max"))
    yield sums.merge(ends, on="user_id").assign(stretch=0, task=_task_number())


def totals_of(lines: Iterable[pd.DataFrame]) -> dict[str, float]:
    """What the results of one window come to: equal for every way of spreading the rows."""
    whole = pd.concat(list(lines))
    whole = whole[whole["clicks"] > 0]
    return {
        "users": len(whole),
        "clicks": int(whole["clicks"].sum()),
        "sessions": int(whole["sessions"].sum()),
        "seconds": float(whole["seconds"].sum()),
        "pseudonyms": int(whole["pseudonyms"].sum()),
    }


def _task_number() -> int:
    from pyspark import TaskContext

    context = TaskContext.get()
    return context.partitionId() if context else 0
