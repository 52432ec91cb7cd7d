"""Declared peaks over a forecast: they scale, replace, repeat, expire, and refuse nonsense."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from partitioning.errors import ForecastError
from partitioning.peaks import MOST, Peak, Span, cut_to_room, expect_peaks, without_peaks

FEW = settings(max_examples=100, deadline=None, derandomize=True)
MONDAY = datetime(2026, 11, 16, tzinfo=UTC)
HOUR, DAY = timedelta(hours=1), timedelta(days=1)


def span(start, end):
    """Hours after Monday, 0:00."""
    return Span(start=MONDAY + start * HOUR, end=MONDAY + end * HOUR)


def peak(start, end, name="a", **what):
    return Peak(name=name, during=span(start, end), **what)


def cost(*peaks, window=None, forecast=240):
    return expect_peaks([forecast], ["a"], peaks, window or span(0, 24)).cost[0]


@pytest.mark.parametrize(
    ("peaks", "expected"),
    [
        pytest.param([peak(12, 18, factor=3)], 360, id="part-of-the-window"),
        pytest.param([peak(-5, 40, factor=3)], 720, id="more-than-the-window"),
        pytest.param([peak(0, 24, factor=0)], 0, id="day-off"),
        pytest.param([peak(0, 24, rate=50)], 50, id="rate-replaces"),
        pytest.param([peak(0, 12, rate=1000)], 620, id="rate-for-half-the-window"),
        pytest.param([peak(0, 24, factor=2), peak(12, 24, factor=3)], 960, id="factors-multiply"),
        pytest.param([peak(0, 24, factor=9), peak(0, 24, rate=5)], 5, id="rate-beats-factor"),
        pytest.param([peak(0, 24, rate=7), peak(0, 24, rate=5)], 7, id="highest-rate"),
        pytest.param([peak(24, 48, factor=9)], 240, id="not-yet"),
        pytest.param([peak(-24, 0, factor=9)], 240, id="over"),
        pytest.param([peak(0, 1, factor=25, every=6 * HOUR)], 1200, id="four-times-a-day"),
        pytest.param([peak(-24 * 700, -24 * 700 + 6, factor=5, every=7 * DAY)], 480, id="weekly-for-two-years"),
        pytest.param([peak(-24 * 7, -24 * 6, factor=5, every=7 * DAY, until=MONDAY)], 240, id="no-longer"),
        pytest.param([peak(-24, 0, factor=5, every=DAY, until=MONDAY + HOUR)], 1200, id="for-the-last-time"),
    ],
)  # fmt: skip
def test_a_peak_counts_for_the_part_of_the_window_it_fills(peaks, expected):
    """240 are forecast for the day; each case dies if one rule of expect_peaks is dropped."""
    assert cost(*peaks) == pytest.approx(expected)


@FEW
@given(st.integers(-60, 60), st.integers(1, 30), st.integers(0, 40), st.floats(0, 9))
def test_days_of_hours_add_up(start, length, distance, factor):
    """A day's cost is that of its hours: no window length hides a peak or counts it twice."""
    declared = peak(start, start + length, factor=factor, every=(length + distance) * HOUR)

    hours = sum(cost(declared, window=span(hour, hour + 1), forecast=10) for hour in range(24))

    assert cost(declared) == pytest.approx(hours)


def test_the_end_of_the_calendar_is_no_trouble():
    """People write the year 9999 for "for ever", or a distance that nobody lives to see: both are answered, not crashed on."""
    forever = peak(0, 48, factor=2, every=7 * DAY, until=datetime(9999, 12, 31, tzinfo=UTC))
    once = peak(0, 48, factor=2, every=500_000 * 7 * DAY)

    assert list(forever.occurrences(span(24 * 8, 24 * 10))) == [span(24 * 8, 24 * 9)]
    assert list(once.occurrences(span(24, 96))) == [span(24, 48)]


def test_the_beginning_of_the_calendar_is_no_trouble():
    """Nor is the year 1: a window of years, taken back by as many repetitions, would begin before it."""
    first = Span(start=datetime(1, 1, 2, tzinfo=UTC), end=datetime(1, 1, 3, tzinfo=UTC))
    years = Span(start=datetime(5, 1, 1, tzinfo=UTC), end=datetime(9, 1, 1, tzinfo=UTC))

    found = list(Peak(name="a", during=first, factor=2, every=365 * DAY).occurrences(years))

    assert [one.start.year for one in found] == [5, 6, 7, 8, 8]  # the year 8 has a day more
    assert {one.length for one in found} == {DAY}


def days(*peaks, costs):
    """What is usual in as many days from Monday on, at these costs of "a"."""
    windows = [span(24 * day, 24 * day + 24) for day in range(len(costs))]
    return without_peaks([[cost] for cost in costs], ["a"], peaks, windows)[:, 0].tolist()


NAN = float("nan")


@pytest.mark.parametrize(
    ("peaks", "costs", "expected"),
    [
        pytest.param([peak(24, 72, factor=5)], [100, 500, 500, 100], [100, 100, 100, 100], id="factor"),
        pytest.param([peak(12, 18, factor=3)], [360], [240], id="part-of-the-window"),
        pytest.param([peak(0, 24, factor=2), peak(12, 24, factor=3)], [400], [100], id="factors-multiply"),
        pytest.param([peak(24, 48, factor=0)], [100, 7, 90], [100, 100, 90], id="day-off-tells-nothing"),
        pytest.param([peak(24, 47, factor=0)], [100, 9, 90], [100, 100, 90], id="an-hour-tells-too-little"),
        pytest.param([peak(24, 36, factor=0)], [100, 9, 90], [100, 18, 90], id="half-a-day-tells"),
        pytest.param([peak(24, 72, rate=900)], [100, 900, 950, 90], [100, 100, 100, 90], id="rate"),
        pytest.param([peak(24, 36, rate=900)], [100, 700, 90], [100, 100, 90], id="rate-for-half-a-day"),
        pytest.param([peak(0, 12, rate=900, every=DAY)], [500, 520], [100, 140], id="no-window-without-a-rate"),
        pytest.param([peak(0, 12, rate=900, every=DAY)], [500, 440, 600], [100, 100, 300], id="rate-that-did-not-come"),
        pytest.param([peak(0, 12, rate=900, every=DAY)], [440, 500], [NAN, 100], id="nor-before"),
        pytest.param([peak(0, 12, rate=900, every=DAY)], [500, NAN, 440], [100, NAN, NAN], id="away-in-between"),
        pytest.param([peak(0, 24, rate=900)], [900, 100], [NAN, 100], id="nothing-before"),
        pytest.param([peak(24, 72, rate=900)], [NAN, 900, 900], [NAN, NAN, NAN], id="not-there-before"),
        pytest.param([peak(24, 48, factor=5)], [100, NAN, 90], [100, NAN, 90], id="not-there-stays"),
        pytest.param([peak(24, 48, factor=1e6)] * 60, [100, 5, 90], [100, 100, 90], id="endless-factor"),
        pytest.param([peak(24, 48, factor=0.5)], [1, 8e15, 1], [1, 1, 1], id="more-than-costs-can-be"),
    ],
)  # fmt: skip
def test_what_peaks_made_of_the_past_is_taken_out(peaks, costs, expected):
    """A forecast from windows that hold a peak would lay it over itself, and go on with it when it is over."""
    np.testing.assert_allclose(days(*peaks, costs=costs), expected)


@FEW
@given(st.integers(-60, 60), st.integers(1, 30), st.integers(0, 40), st.floats(1, 9))
def test_a_peak_that_is_laid_and_taken_out_leaves_what_was(start, length, distance, factor):
    """Both go by the same shares of a window; a peak of another key is nobody's business."""
    declared = peak(start, start + length, factor=factor, every=(length + distance) * HOUR)
    windows = [span(0, 24), span(24, 31), span(31, 32)]
    laid = [expect_peaks([240, 7], ["a", "b"], [declared], window).cost for window in windows]

    usual = without_peaks(laid, ["a", "b"], [declared], windows)

    np.testing.assert_allclose(usual, [[240, 7]] * 3)


def test_peaks_that_come_to_more_than_can_be_counted_are_cut():
    """A planner refuses what floats no longer add exactly: two peaks get half of what the third item leaves, and it keeps its own."""
    endless = [peak(0, 24, name=name, factor=1e6) for name in "ab" for _ in range(60)]
    small = peak(0, 24, name="d", factor=2)

    laid = expect_peaks([5, 0, 1e15, 3], list("abcd"), [*endless, small], span(0, 24))
    cut = cut_to_room(laid)

    assert laid.cost.tolist() == [np.inf, 0, 1e15, 6]
    assert cut.cut == (0,)
    assert cut.cost.tolist() == [(MOST - 1e15) / 3, 0, 1e15, 6]
    assert cut_to_room(cut) is cut


def test_others_are_left_alone_and_unknown_items_are_named():
    """A rate for a key that is no item yet is news: the caller may make it one."""
    known, unknown = peak(0, 24, rate=9), peak(0, 24, name="new", rate=70)
    gone = peak(-9, -8, name="old", rate=70)

    result = expect_peaks([5, 6], ["b", "a"], [unknown, known, gone], span(0, 24))

    assert result.cost.tolist() == [5, 9]
    assert result.changed == (1,)
    assert result.missing == (unknown,)


def test_a_day_that_the_clocks_change_on_has_its_own_length():
    """Times may name a zone, and are kept in UTC: the longest day of the year has 25 hours, and repetitions do not shift by one."""
    berlin = ZoneInfo("Europe/Berlin")
    day = Span(start=datetime(2026, 10, 25, tzinfo=berlin), end=datetime(2026, 10, 26, tzinfo=berlin))
    noon = Span(
        start=datetime(2026, 10, 24, 12, tzinfo=berlin), end=datetime(2026, 10, 24, 13, tzinfo=berlin)
    )

    expected = expect_peaks([25.0], ["a"], [Peak(name="a", during=noon, factor=2, every=DAY)], day)

    assert day.length == 25 * HOUR
    assert expected.cost.tolist() == [pytest.approx(26)]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: peak(5, 5, factor=2), r"Span\.end must come after its start\. Got .*05:00.* to .*05:00"),
        (
            lambda: Span(start=datetime(2026, 1, 1), end=MONDAY),  # noqa: DTZ001  (what is refused)
            r"Span\.start must be a time with a time zone\. Got datetime",
        ),
        (lambda: peak(0, 1), r"Peak\.factor or Peak\.rate must be given, and not both\. Got factor None"),
        (lambda: peak(0, 1, factor=1, rate=1), r"not both\. Got factor 1 and rate 1 for 'a'"),
        (lambda: peak(0, 1, factor=-1), r"Peak\.factor must be a number from 0 up .* Got -1"),
        (lambda: peak(0, 1, rate=float("nan")), r"Peak\.rate must be .* Got nan"),
        (lambda: peak(0, 1, rate=True), r"Peak\.rate must be .* Got True"),
        (
            lambda: peak(0, 9, rate=1, every=8 * HOUR),
            r"Peak\.every must be a timedelta at least as long as the peak\. Got 8:00:00",
        ),
        (lambda: peak(0, 1, rate=1, every=-DAY), r"Peak\.every must be a timedelta at least as long"),
        (lambda: peak(0, 1, rate=1, every=24), r"Peak\.every must be a timedelta .* Got 24"),
        (lambda: Peak(name="a", during=(MONDAY, MONDAY + DAY), rate=1), r"Peak\.during must be a Span"),
        (lambda: peak(0, 1, rate=1, until=MONDAY + DAY), r"Peak\.until must .* with every None"),
        (lambda: peak(0, 1, rate=1, every=DAY, until=MONDAY), r"Peak\.until must come after the start"),
        (lambda: expect_peaks([1, 2], ["a"], [], span(0, 1)), r"forecast must have one cost a name\."),
        (
            lambda: expect_peaks([1, 2, 3], ["b", "a", "a"], [], span(0, 1)),
            r"names must differ\. Got 'a' at position 1 and at 2\.",
        ),
        (lambda: without_peaks([[1], [2]], ["a"], [], [span(0, 1)]), r"history must have one row a window"),
        (
            lambda: Span(start=datetime(1, 1, 1, tzinfo=ZoneInfo("Asia/Tokyo")), end=MONDAY),
            r"Span\.start must lie in the years 1 to 9999 of UTC\. Got 0001",
        ),
    ],
)
def test_nonsense_is_refused(make, message):
    """Which field, what it must be, what it was."""
    with pytest.raises(ForecastError, match=message):
        make()
