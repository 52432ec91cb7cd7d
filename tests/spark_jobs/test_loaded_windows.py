"""Windows of any length and in any order: no moment comes into the state twice, and how long a window is decides nothing that expires."""

from datetime import UTC, datetime, timedelta

import pytest

from spark_jobs.job import Window
from spark_jobs.loaded_windows import is_covered, oldest_kept
from tests.spark_jobs.conftest import DAY, START, visits

HOUR = timedelta(hours=1)


def window(first, last):
    return Window(start=START + first * HOUR, end=START + last * HOUR)


@pytest.mark.parametrize(
    ("loaded", "covered"),
    [
        pytest.param([], False, id="nothing"),
        pytest.param([(6, 12)], True, id="itself"),
        pytest.param([(0, 24)], True, id="inside-a-longer-one"),
        pytest.param([(9, 12), (6, 9)], True, id="in-two-halves"),
        pytest.param([(6, 9), (10, 12)], False, id="a-gap"),
        pytest.param([(0, 6), (12, 24)], False, id="neighbours"),
        pytest.param([(6, 11)], False, id="the-end-is-missing"),
        pytest.param([(7, 12)], False, id="the-begin-is-missing"),
        pytest.param([(0, 8), (1, 2), (8, 24)], True, id="one-inside-another"),
    ],
)
def test_a_window_is_in_when_all_its_moments_are(loaded, covered):
    """Exactly these moments must not be loaded again, and all others must be."""
    assert is_covered(window(6, 12), [window(*hours) for hours in loaded]) == covered


def test_the_same_moments_in_another_zone_are_the_same_window():
    """A run by hand may be given local times."""
    there = datetime.fromisoformat("2026-01-03T07:00:00+01:00")
    local = Window(start=there, end=there + 6 * HOUR)

    assert is_covered(local, [window(6, 12)])


@pytest.mark.parametrize(
    ("schedule", "end", "oldest"),
    [
        pytest.param("@daily", datetime(2026, 1, 5, tzinfo=UTC), datetime(2026, 1, 3, tzinfo=UTC), id="days"),
        pytest.param("@daily", datetime(2026, 1, 5, 1, tzinfo=UTC), datetime(2026, 1, 4, tzinfo=UTC), id="an-hour-by-hand"),
        pytest.param("@hourly", datetime(2026, 1, 5, tzinfo=UTC), datetime(2026, 1, 4, 22, tzinfo=UTC), id="hours"),
        pytest.param("@monthly", datetime(2026, 3, 1, tzinfo=UTC), datetime(2026, 1, 1, tzinfo=UTC), id="months"),
        pytest.param("0 6 * * 1-5", datetime(2026, 1, 5, 6, tzinfo=UTC), datetime(2026, 1, 1, 6, tzinfo=UTC), id="weekdays"),
    ],
)  # fmt: skip
def test_what_is_kept_is_counted_by_the_schedule(schedule, end, oldest):
    """keep_windows = 2. A window of one hour by hand must not make of two days of state two hours."""
    dataset = visits(schedule=schedule)

    assert (
        oldest_kept(dataset, [Window(start=end - HOUR, end=end), Window(start=START - DAY, end=START)])
        == oldest
    )


def test_nothing_expires_where_nothing_is_loaded_or_all_is_kept():
    """No window, no clock: the newest window is what the others are old beside."""
    assert oldest_kept(visits(), []) is None
    assert oldest_kept(visits(keep_windows=None), [window(0, 24)]) is None
