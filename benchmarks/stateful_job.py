"""
The stateful job of the benchmark: every user's clicks cut into sessions, the day's beside those of all the time before.

A click begins a session if the user's click before it is more than half an hour older. What a user usually does is all that the
table has of the user: that is the state. The token of every click of the day is made a pseudonym by PBKDF2, which costs the same for
each row and can be neither skipped nor shared. So most of the work is in proportion to the day's rows: ``rounds`` says how much.

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
    " seconds double, pseudonyms bigint, all_clicks bigint, all_sessions bigint, all_seconds double"
)
COLUMNS = ["user_id", "stretch", "clicked_at", "session"]  # of the clicks; a stretch is a part of the day
SUMS = ["clicks", "sessions", "seconds", "pseudonyms", "all_clicks", "all_sessions", "all_seconds"]

Frames = Iterable[pd.DataFrame]


def sessionise(
    start: datetime, rounds: int, count: Callable[[int], None] = lambda _: None
) -> Callable[[Frames], Frames]:
    """
    What a task does with its rows: one line for each user and stretch. Clicks before ``start`` count in ``all_`` alone.

    ``count`` is told how many clicks of the day the task worked on.
    """
    begin = pd.Timestamp(start).tz_convert(None)

    def work(frames: Frames) -> Frames:
        clicks = pd.concat(list(frames), ignore_index=True)
        if len(clicks):
            lines = _sessions(clicks, begin, rounds)
            count(int(lines["clicks"].sum()))
            yield lines

    return work


def _sessions(clicks: pd.DataFrame, begin: pd.Timestamp, rounds: int) -> pd.DataFrame:
    clicks = clicks.sort_values(["user_id", "stretch", "clicked_at"], ignore_index=True)
    is_counted = (clicks["clicked_at"] >= begin).to_numpy()
    same = (clicks[["user_id", "stretch"]] == clicks[["user_id", "stretch"]].shift()).all(axis=1)
    silence = clicks["clicked_at"].diff()
    goes_on = (same & (silence <= GAP)).to_numpy()
    seconds = np.where(goes_on, silence.dt.total_seconds(), 0.0)
    lines = clicks.assign(
        clicks=is_counted,
        sessions=is_counted & ~goes_on,
        seconds=np.where(is_counted, seconds, 0.0),
        pseudonyms=_pseudonyms(clicks["session"], is_counted, rounds),
        all_clicks=1,
        all_sessions=~goes_on,
        all_seconds=seconds,
    ).groupby(["user_id", "stretch"], as_index=False)
    totals = lines[SUMS].sum()
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
    # The first click of a stretch was taken for the begin of a session. All but the first stretch are of the day alone.
    joined = ((lines["user_id"] == lines["user_id"].shift()) & (silence <= GAP)).to_numpy()
    for of in ("", "all_"):
        lines[f"{of}sessions"] -= joined
        lines[f"{of}seconds"] += np.where(joined, silence.dt.total_seconds(), 0.0)
    users = lines.groupby("user_id", as_index=False)
    sums = users[SUMS].sum()
    ends = users.agg(first_at=("first_at", "min"), last_at=("last_at", "max"))
    yield sums.merge(ends, on="user_id").assign(stretch=0)


def totals_of(lines: Iterable[pd.DataFrame]) -> dict[str, float]:
    """What the results of one window come to: equal for every way of spreading the rows."""
    whole = pd.concat(list(lines))
    return {"users": len(whole), **{name: np.asarray(whole[name]).sum().item() for name in SUMS}}
