"""Which stretches of time come next, which windows are alike, and how many lie in between."""

from datetime import UTC, datetime

import pytest

from spark_jobs.job import Window
from spark_jobs.scheduled_windows import are_alike, intervals_between, next_spans

WORKING_DAYS = "0 0 * * 1-5"  # 2026-01-02 is a Friday: its window ends on Monday


def at(day, hour=0, month=1):
    return datetime(2026, month, day, hour, tzinfo=UTC)


@pytest.mark.parametrize(
    ("schedule", "one", "other", "is_alike"),
    [
        pytest.param("@daily", (at(1), at(2)), (at(4), at(5)), True, id="days"),
        pytest.param("@daily", (at(1), at(2)), (at(1, 22), at(1, 23)), False, id="an-hour-by-hand"),
        pytest.param("@daily", (at(1), at(2)), (at(1, 23), at(2)), False, id="the-last-hour-of-a-day"),
        pytest.param("@daily", (at(1, 7), at(1, 8)), (at(1, 9), at(1, 10)), True, id="two-hours-by-hand"),
        pytest.param("@monthly", (at(1), at(1, month=2)), (at(1, month=2), at(1, month=3)), True, id="months"),
        pytest.param("@monthly", (at(1), at(1, month=2)), (at(28, month=2), at(1, month=3)), False, id="last-day-of-a-month"),
        pytest.param(WORKING_DAYS, (at(1), at(2)), (at(2), at(5)), True, id="over-a-weekend"),
    ],
)  # fmt: skip
def test_windows_are_alike_if_equally_long_or_both_whole_intervals(schedule, one, other, is_alike):
    """What an hour brought says nothing of a day; a month of 28 days is one like that of 31."""
    windows = [Window(start=start, end=end) for start, end in (one, other)]

    assert are_alike(schedule, *windows) == are_alike(schedule, *windows[::-1]) == is_alike


@pytest.mark.parametrize(
    ("schedule", "after", "spans"),
    [
        pytest.param("@daily", at(2), [(at(2), at(3)), (at(3), at(4))], id="days"),
        pytest.param("@daily", at(1, 11), [(at(2), at(3)), (at(3), at(4))], id="whole-ones-only"),
        pytest.param(WORKING_DAYS, at(2), [(at(2), at(5)), (at(5), at(6))], id="over-a-weekend"),
    ],
)
def test_what_comes_next_are_whole_intervals(schedule, after, spans):
    """A peak of six hours fills a fourth of the day to come, whenever somebody asks by hand."""
    assert [(span.start, span.end) for span in next_spans(schedule, after, 2)] == spans


@pytest.mark.parametrize(
    ("schedule", "earlier", "later", "n_intervals"),
    [
        pytest.param("@daily", at(1), at(1), 0, id="the-same"),
        pytest.param("@daily", at(1), at(3), 2, id="days"),
        pytest.param("@daily", at(1, 10), at(1, 11), 1, id="hours-by-hand"),
        pytest.param(WORKING_DAYS, at(1), at(2), 1, id="before-a-weekend"),
        pytest.param(WORKING_DAYS, at(2), at(6), 2, id="over-a-weekend"),
        pytest.param("@hourly", at(1), at(30), 4, id="more-than-asked-for"),
        pytest.param("@daily", at(3), at(1), 0, id="the-wrong-way-round"),
    ],
)
def test_age_is_counted_in_intervals(schedule, earlier, later, n_intervals):
    """By its length a window over the weekend is three days: what moved the day before would have no age, and could move back."""
    assert intervals_between(schedule, earlier, later, most=3) == n_intervals
