"""The benchmark's job: sessions are what they are however a user's day is cut."""

import time
from datetime import UTC, datetime, timedelta

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from benchmarks.stateful_job import merge_stretches, sessionise, totals_of

START = datetime(2026, 1, 4, tzinfo=UTC)
MIDNIGHT = pd.Timestamp("2026-01-04")


def clicks_at(*minutes: float, user: int = 1, stretch: int = 0) -> pd.DataFrame:
    """One user's clicks, in minutes after midnight."""
    return pd.DataFrame(
        {
            "user_id": user,
            "stretch": stretch,
            "clicked_at": [MIDNIGHT + timedelta(minutes=minute) for minute in minutes],
            "session": [f"{minute}" for minute in minutes],
        }
    )


def batches_of(*frames: pd.DataFrame) -> list[pa.RecordBatch]:
    """As Spark hands them over, times with their zone."""
    zoned = (frame.assign(clicked_at=frame["clicked_at"].dt.tz_localize("UTC")) for frame in frames)
    return [
        batch
        for frame in zoned
        for batch in pa.Table.from_pandas(
            frame.assign(clicked_at=frame["clicked_at"].dt.as_unit("us"))
        ).to_batches()
    ]


def sessions_of(*frames: pd.DataFrame, wait: float = 0.0) -> list[pa.RecordBatch]:
    return list(sessionise(START, wait)(batches_of(*frames)))


def lines_of(batches: list[pa.RecordBatch]) -> list[pd.DataFrame]:
    return [batch.to_pandas() for batch in batches]


def line_of(*frames: pd.DataFrame) -> pd.Series:
    (result,) = lines_of(sessions_of(*frames))
    assert len(result) == 1
    return result.iloc[0]


def test_a_longer_silence_than_half_an_hour_begins_a_session():
    """Gaps of 30 minutes go on, longer ones do not; time between sessions is nobody's."""
    line = line_of(clicks_at(10, 40), clicks_at(71))

    assert (line["clicks"], line["sessions"], line["seconds"]) == (3, 2, 30 * 60)


def test_a_session_that_began_yesterday_is_not_begun_again():
    """The clicks before midnight are why the job needs state; they are looked at and not counted."""
    line = line_of(clicks_at(-20, 5))

    assert (line["clicks"], line["sessions"], line["seconds"]) == (1, 0, 25 * 60)


@pytest.mark.parametrize("seed", range(5))
def test_merged_stretches_are_the_whole_day(seed):
    """Salting by hand must give the same answer, or its time would be that of another job."""
    rng = np.random.default_rng(seed)
    frames = [clicks_at(*rng.uniform(-30, 24 * 60, 60), user=user) for user in range(8)]
    whole = pd.concat(frames, ignore_index=True)
    hours = (whole["clicked_at"] - MIDNIGHT) / timedelta(hours=3)
    cut = whole.assign(stretch=np.maximum(np.floor(hours), 0).astype(int))

    at_once = lines_of(sessions_of(whole))
    merged = lines_of(merge_stretches(sessions_of(cut)))

    assert len(merged[0]) == 8
    assert totals_of(merged) == pytest.approx(totals_of(at_once), rel=1e-12)


def test_every_row_is_worked_on_once():
    """The sum of pseudonyms tells a row that was left out, or came twice, from one that did not."""
    once = totals_of([line_of(clicks_at(1, 2, 3)).to_frame().T])
    twice = totals_of([line_of(clicks_at(1, 2, 2)).to_frame().T])

    assert once["clicks"] == twice["clicks"]
    assert once["pseudonyms"] != twice["pseudonyms"]


def test_only_clicks_of_the_day_are_waited_for():
    """The wait stands for the work that is balanced: the day's clicks, not all that the state holds."""
    began = time.perf_counter()
    sessions_of(clicks_at(*range(-1000, 0)), clicks_at(1, 2), wait=0.05)
    took = time.perf_counter() - began

    assert 0.1 <= took < 10


def test_nothing_comes_of_nothing():
    """An empty bucket is a task too."""
    assert sessions_of() == []
    assert list(merge_stretches([])) == []
