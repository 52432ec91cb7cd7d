"""
The stateful job of the benchmark: every user's clicks cut into sessions, the day's beside those of all the time before.

A click begins a session if the user's click before it is more than half an hour older. What a user usually does is all that the
table has of the user: that is the state. The token of every click of the day is looked up in a service that a task asks through one
connection, click after click: ``wait`` seconds each, in which the task needs no core. So two cores can hold as many tasks as
there are buckets, and a stage takes as long as its longest task, as on a cluster with a core for each.

Results of consecutive stretches of one user can be merged: that is what salting by hand needs, and most jobs cannot offer.
"""

import hashlib
import time
from collections.abc import Callable, Iterable
from datetime import datetime

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

GAP = 30 * 60 * 1_000_000  # microseconds; a longer silence ends a session
AT_ONCE = 256  # look-ups between two rests: so short a wait as that for one is not kept exactly
SUMS = ["clicks", "sessions", "seconds", "pseudonyms", "all_clicks", "all_sessions", "all_seconds"]
_TYPES = {name: "double" if name.endswith("seconds") else "bigint" for name in SUMS}
_TIMES = {"first_at": "bigint", "last_at": "bigint"}  # microseconds
RESULT = ", ".join(
    f"{name} {of}" for name, of in {"user_id": "bigint", "stretch": "int", **_TIMES, **_TYPES}.items()
)
COLUMNS = ["user_id", "stretch", "clicked_at", "session"]  # of the clicks; a stretch is a part of the day

Batches = Iterable[pa.RecordBatch]
Numbers = NDArray[np.int64]


def sessionise(
    start: datetime, wait: float, count: Callable[[int], None] = lambda _: None
) -> Callable[[Batches], Batches]:
    """
    What a task does with its rows: one line for each user and stretch. Clicks before ``start`` count in ``all_`` alone.

    ``count`` is told how many clicks of the day the task worked on.
    """
    begin = int(start.timestamp()) * 1_000_000

    def work(batches: Batches) -> Batches:
        found = list(batches)
        clicks = pa.Table.from_batches(found) if found else None
        if clicks:
            lines = _sessions(clicks, begin, wait)
            count(int(lines["clicks"].sum()))
            yield pa.RecordBatch.from_pydict(lines)

    return work


def _sessions(clicks: pa.Table, begin: int, wait: float) -> dict[str, NDArray[np.generic]]:
    at = clicks["clicked_at"].cast(pa.int64()).to_numpy()
    user, stretch = clicks["user_id"].to_numpy(), clicks["stretch"].to_numpy()
    order = np.lexsort((at, stretch, user))
    user, stretch, at = user[order], stretch[order], at[order]
    is_counted = at >= begin
    silence = np.diff(at, prepend=at[0])
    same = (np.diff(user, prepend=user[0] - 1) == 0) & (np.diff(stretch, prepend=stretch[0]) == 0)
    goes_on = same & (silence <= GAP)
    seconds = np.where(goes_on, silence / 1e6, 0.0)
    first = np.flatnonzero(~same)
    of_click = {
        "clicks": is_counted,
        "sessions": is_counted & ~goes_on,
        "seconds": np.where(is_counted, seconds, 0.0),
        "pseudonyms": _looked_up(clicks["session"].take(pa.array(order)), is_counted, wait),
        "all_clicks": np.ones(at.size, np.int64),
        "all_sessions": ~goes_on,
        "all_seconds": seconds,
    }
    sums = {name: np.add.reduceat(of_click[name], first, dtype=_dtype(name)) for name in SUMS}
    last = np.append(first[1:], at.size) - 1
    return {
        "user_id": user[first],
        "stretch": stretch[first],
        "first_at": at[first],
        "last_at": at[last],
        **sums,
    }


def _dtype(name: str) -> type[np.generic]:
    return np.float64 if _TYPES[name] == "double" else np.int64


def _looked_up(tokens: pa.ChunkedArray, is_counted: NDArray[np.bool_], wait: float) -> Numbers:
    """The pseudonym of each counted token, a number of five bytes: small enough to sum millions of."""
    numbers = np.zeros(len(tokens), dtype=np.int64)
    positions = np.flatnonzero(is_counted)
    texts = tokens.filter(pa.array(is_counted)).to_pylist()
    for first in range(0, positions.size, AT_ONCE):
        some = texts[first : first + AT_ONCE]
        time.sleep(wait * len(some))
        numbers[positions[first : first + AT_ONCE]] = [_pseudonym(text) for text in some]
    return numbers


def _pseudonym(token: str) -> int:
    return int.from_bytes(hashlib.sha256(token.encode()).digest()[:5], "big")


def merge_stretches(batches: Batches) -> Batches:
    """One line a user, from the lines of the user's stretches, which must all be here."""
    found = list(batches)
    lines = pa.Table.from_batches(found).to_pandas() if found else pd.DataFrame()
    if not len(lines):
        return
    lines = lines.sort_values(["user_id", "stretch"], ignore_index=True)
    silence = lines["first_at"] - lines["last_at"].shift()
    # The first click of a stretch was taken for the begin of a session. All but the first stretch are of the day alone.
    joined = ((lines["user_id"] == lines["user_id"].shift()) & (silence <= GAP)).to_numpy()
    for of in ("", "all_"):
        lines[f"{of}sessions"] -= joined
        lines[f"{of}seconds"] += np.where(joined, silence / 1e6, 0.0)
    users = lines.groupby("user_id", as_index=False)
    ends = users.agg(first_at=("first_at", "min"), last_at=("last_at", "max"))
    merged = users[SUMS].sum().merge(ends, on="user_id").assign(stretch=np.int32(0))
    columns = ["user_id", "stretch", *_TIMES, *SUMS]
    yield pa.RecordBatch.from_pandas(merged[columns], preserve_index=False)


def totals_of(lines: Iterable[pd.DataFrame]) -> dict[str, float]:
    """What the results of one window come to: equal for every way of spreading the rows."""
    whole = pd.concat(list(lines))
    return {"users": len(whole), **{name: np.asarray(whole[name]).sum().item() for name in SUMS}}
