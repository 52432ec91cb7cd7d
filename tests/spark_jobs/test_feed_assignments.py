"""Who reads which feed: from the windows before, with what is declared, and judged against round robin and hash. No Spark."""

from dataclasses import dataclass, replace
from datetime import UTC, datetime

import numpy as np
import pytest

from partitioning.peaks import MOST
from schemas.feeds import DeclaredFeed
from schemas.peaks import DeclaredPeak
from spark_jobs.feed_assignments import (
    assign_window,
    assigned_windows,
    counted_rates,
    feed_facts,
    feed_sentences,
    known_rates,
    n_loaders_of,
    save_window,
    window_feed_facts,
)
from spark_jobs.job import Window
from tests.spark_jobs.conftest import DAY, START, visits, window_of


@dataclass(frozen=True)
class Input:
    name: str
    rate: float | None = None
    location: str = "somewhere"


FEEDS = [Input(name) for name in "abcdef"]
BROUGHT = {"a": 90, "b": 10, "c": 60, "d": 40, "e": 50, "f": 50}


def dataset(**fields):
    return visits(
        **{"loader_capacity": 100.0, "feeds": (DeclaredFeed(field="feeds.0.table", location="x"),), **fields}
    )


def by_start(windows):
    """Windows as ``assigned_windows`` has them: the first is day 0."""
    return {
        START + day * DAY: [{**row, "window_end": START + (day + 1) * DAY} for row in rows]
        for day, rows in enumerate(windows)
    }


def known(feeds, windows, **fields):
    """What is known of the day after these windows."""
    return known_rates(dataset(**fields), window_of(len(windows)), feeds, by_start(windows))


def assigned(rows_of, *, feeds=FEEDS, earlier=(), **fields):
    """The rows of the day after these windows, loaded with these rows; None: not loaded yet."""
    made = assign_window(dataset(**fields), window_of(len(earlier)), feeds, known(feeds, earlier, **fields))
    return [{**row, "rows": rows_of.get(row["feed"]) if rows_of else None} for row in made.rows]


def loaders(rows):
    return {row["feed"]: row["loader"] for row in rows}


def first_window():
    counted = [BROUGHT[feed.name] for feed in FEEDS]
    rates = counted_rates(dataset(), window_of(0), FEEDS, known(FEEDS, []), counted)
    made = assign_window(dataset(), window_of(0), FEEDS, rates)
    return [{**row, "rows": BROUGHT[row["feed"]]} for row in made.rows]


def test_first_window_is_packed_by_what_it_brings():
    """Nothing is known of anybody: counting beats one loader for all."""
    assert known(FEEDS, []).is_nothing
    assert loaders(first_window()) == {"a": 0, "b": 0, "c": 1, "d": 1, "e": 2, "f": 2}


def test_declared_rates_do_before_anything_was_seen():
    """Who declares what feeds bring needs no counting; the feed without a rate is an average one."""
    feeds = [Input("a", 90), Input("b", 30), Input("c")]
    rows = assigned(None, feeds=feeds)

    assert not known(feeds, []).is_nothing
    assert [row["expected"] for row in rows] == [90, 30, 60]
    assert loaders(rows) == {"a": 0, "b": 1, "c": 1}


def test_feeds_stay_where_they_are_while_their_loader_can():
    """A feed that moves for nothing is a connection that is opened for nothing."""
    earlier = [first_window()]
    again = assigned(BROUGHT, earlier=earlier)
    grown = assigned(
        None, earlier=[*earlier, [{**row, "rows": 80} if row["feed"] == "b" else row for row in again]]
    )

    assert loaders(again) == loaders(earlier[0])
    moved = [feed for feed, loader in loaders(grown).items() if loader != loaders(again)[feed]]
    assert len(moved) == 1
    assert moved[0] in ("a", "b")


def test_window_that_was_never_loaded_says_who_read_but_not_how_much():
    """A run that died between the assignment and the load must not make its feeds look empty."""
    rates = known(FEEDS, [first_window(), [{**row, "rows": None, "loader": 7} for row in first_window()]])

    assert rates.rate.tolist() == [90, 10, 60, 40, 50, 50]
    assert rates.owner == [7] * 6


def test_forecast_is_of_the_windows_before_and_a_feed_that_was_away_is_new():
    """A feed that grows by ten a window is expected to go on; one without a last window is as the others are, now and later."""
    windows = [
        [
            {"feed": "a", "loader": 0, "rows": 10 * n},
            *([{"feed": "b", "loader": 0, "rows": 5}] if n < 5 else []),
        ]
        for n in range(1, 6)
    ]
    rates = known([Input("a"), Input("b")], windows)

    assert rates.ahead[0, 0] == pytest.approx(60, abs=1)
    assert rates.ahead[2, 0] == pytest.approx(80, abs=2)
    assert rates.rate.tolist() == [50, 50]
    assert rates.ahead[:, 1].tolist() == rates.ahead[:, 0].tolist()


def test_a_peak_to_come_has_room_before_it_comes():
    """A feed that is new today and announced to bring 90 tomorrow is not put where only its 10 of today fit."""
    peak = DeclaredPeak(key=None, feed="new", start=START + 2 * DAY, end=START + 3 * DAY, rate=90)
    feeds = [*FEEDS, Input("new", 10)]
    rates = known(feeds, [[{**row, "rows": 60} for row in first_window()]])

    plain = assign_window(dataset(), window_of(1), feeds, rates)
    told = assign_window(dataset(expect=(peak,)), window_of(1), feeds, rates)

    assert loaders(plain.rows)["new"] in loaders(plain.rows[:-1]).values()
    assert loaders(told.rows)["new"] not in loaders(told.rows[:-1]).values()


def test_declared_peak_of_a_feed_counts_in_its_window_only():
    """Black Friday is in no history; a peak of a feed that does not exist is said."""
    peaks = tuple(
        DeclaredPeak(key=None, feed=feed, start=START + DAY, end=START + 2 * DAY, factor=2.0)
        for feed in ("f", "ghost")
    )
    earlier = [first_window()]
    rates = known(FEEDS, earlier)
    during = assign_window(dataset(expect=peaks), window_of(1), FEEDS, rates)
    after = assign_window(dataset(expect=peaks), window_of(2), FEEDS, rates)

    assert [row["expected"] for row in during.rows] == [90, 10, 60, 40, 50, 100]
    assert loaders(during.rows)["f"] != loaders(during.rows)["e"]
    assert during.sentences == (
        "a declared peak of feed f counts",
        "a peak of feed ghost is declared, but there is no such feed",
    )
    assert [row["expected"] for row in after.rows] == [90, 10, 60, 40, 50, 50]
    declared = [*FEEDS[:5], Input("f", 45.0)]
    twice = assign_window(dataset(expect=peaks), window_of(1), declared, known(declared, earlier))
    assert twice.rows[-1]["expected"] == 90  # the peak lies over what its owner declares, too
    assert after.sentences == ()


def peak_of(feed, first, last, **what):
    """From the first of these days to the end of the last."""
    return DeclaredPeak(key=None, feed=feed, start=START + first * DAY, end=START + (last + 1) * DAY, **what)


@pytest.mark.parametrize("strategy", ["drf", "drf_m"])
@pytest.mark.parametrize("what", [{"factor": 5.0}, {"rate": 250.0}])
@pytest.mark.parametrize("declared", [None, 50.0])
def test_peak_of_many_windows_neither_compounds_nor_outlives_its_end(strategy, what, declared):
    """Two days at five times the usual 50, as declared; by the third it is over, and nothing of it is left."""
    feeds, windows, expected = [Input("a", declared), Input("b")], [], []
    for brought in (50, 250, 250, 50, 50):
        rows = assigned(
            {"a": brought, "b": 40}, feeds=feeds, earlier=windows, feed_strategy=strategy, expect=(peak_of("a", 1, 2, **what),)
        )  # fmt: skip
        windows.append(rows)
        expected.append([row["expected"] for row in rows])

    np.testing.assert_allclose(expected[1:], [[250, 40], [250, 40], [50, 40], [50, 40]])


@pytest.mark.parametrize("strategy", ["drf", "drf_m"])
def test_rate_that_did_not_come_in_full_makes_no_stranger_of_a_feed(strategy):
    """Ten rows less than the two hours of every day were declared to bring: it is what it was, and not as large as all others are."""
    nightly = replace(peak_of("a", 0, 0, rate=9000.0), end=START + DAY / 12, every=DAY)
    expected = {}
    for last in (760, 740):
        days = [
            [{"feed": "a", "loader": 0, "rows": rows}, {"feed": "b", "loader": 0, "rows": 900_000}]
            for rows in [800] * 9 + [last]
        ]
        rows = assigned(None, feeds=[Input("a"), Input("b")], earlier=days, expect=(nightly,),
                        feed_strategy=strategy, loader_capacity=1e6)  # fmt: skip
        expected[last] = rows[0]["expected"]
        assert loaders(rows) == {"a": 0, "b": 0}

    assert 750 < expected[760] < expected[740] <= 800


def test_announced_peak_has_room_from_the_first_window_on():
    """Counted at 30 today, announced at three times that for tomorrow: beside the 40 of b there is no room for it."""
    feeds, peak = [Input("a"), Input("b")], peak_of("a", 1, 1, factor=3.0)
    for strategy in ("drf", "drf_m"):
        fed = dataset(expect=(peak,), feed_strategy=strategy)
        rates = counted_rates(fed, window_of(0), feeds, known(feeds, []), [30, 40])

        assert loaders(assign_window(fed, window_of(0), feeds, rates).rows) == {"a": 0, "b": 1}


def test_rate_of_one_window_ahead_says_nothing_about_the_others():
    """n rises to 60, 70 and 80, and 62 are declared for the second of these: the third needs its 80 all the same."""
    days = [
        [
            {"feed": "b", "loader": 0, "rows": 60},
            {"feed": "c", "loader": 1, "rows": 35},
            {"feed": "n", "loader": 0, "rows": 10 * day},
        ]
        for day in range(1, 6)
    ]
    for peaks in ((), (peak_of("n", 6, 6, rate=62.0),)):
        rows = assigned(None, feeds=[Input("b"), Input("c"), Input("n")], earlier=days, expect=peaks)

        assert loaders(rows) == {"b": 0, "c": 1, "n": 2}


def test_rate_of_a_newcomer_counts_where_nothing_else_is_known():
    """Of a only a window with a rate is known, of b nothing but the 90 that are announced for tomorrow: not beside a's 40."""
    days = [[{"feed": "a", "loader": 0, "rows": 40}]]
    peaks = peak_of("a", 0, 0, rate=50.0), peak_of("b", 2, 2, rate=90.0)

    rows = assigned(None, feeds=[Input("a"), Input("b")], earlier=days, expect=peaks)

    assert loaders(rows) == {"a": 0, "b": 1}


def test_first_window_that_is_counted_holds_its_peak_already():
    """What was counted is what comes: a factor laid over it again would be room for nobody."""
    fed = dataset(expect=(peak_of("a", 0, 0, factor=3.0), peak_of("b", 0, 0, rate=10.0)))
    rates = counted_rates(fed, window_of(0), FEEDS, known(FEEDS, []), [BROUGHT[feed.name] for feed in FEEDS])

    made = assign_window(fed, window_of(0), FEEDS, rates)

    assert [row["expected"] for row in made.rows] == [BROUGHT[feed.name] for feed in FEEDS]


@pytest.mark.parametrize("strategy", ["drf", "drf_m"])
def test_what_was_counted_beats_what_was_declared(strategy):
    """A rate that is too low, or a factor that leaves too little to tell from: the rows are there all the same."""
    fed = dataset(
        feed_strategy=strategy,
        expect=(peak_of("a", 0, 0, rate=BROUGHT["a"] / 3), peak_of("b", 0, 0, factor=0.05)),
    )
    rates = counted_rates(fed, window_of(0), FEEDS, known(FEEDS, []), [BROUGHT[feed.name] for feed in FEEDS])

    made = assign_window(fed, window_of(0), FEEDS, rates)

    assert [row["expected"] for row in made.rows] == [BROUGHT[feed.name] for feed in FEEDS]


def test_peak_of_a_newcomer_counts_and_no_peak_makes_the_average():
    """Nothing is known of c: it is one like b and like a without its peak, and its own peak lies over that, if for part of a day."""
    feeds = [Input("a"), Input("b"), Input("c")]
    windows = [[{"feed": "a", "loader": 0, "rows": 900}, {"feed": "b", "loader": 0, "rows": 60}]]
    noon = START + 1.5 * DAY
    peaks = (
        peak_of("a", 0, 0, factor=9.0),
        DeclaredPeak(key=None, feed="c", start=START + DAY, end=noon, rate=500.0),
    )

    rows = assigned(None, feeds=feeds, earlier=windows, expect=peaks)

    assert [row["expected"] for row in rows] == [100, 60, 290]


def test_window_of_another_length_says_nothing_about_rates():
    """An hour by hand after ten days: the next day is a day again, and still nobody changes loader for it."""
    days = [[{**row, "loader": 3} for row in first_window()] for _ in range(10)]
    hour = START + 10 * DAY
    by_hand = [{**row, "rows": 2, "loader": 5, "window_end": hour + DAY / 24} for row in first_window()]

    rates = known_rates(dataset(), window_of(11), FEEDS, by_start(days) | {hour: by_hand})

    assert rates.rate.tolist() == [90, 10, 60, 40, 50, 50]
    np.testing.assert_allclose(rates.ahead[0], rates.rate)
    assert rates.owner == [5] * 6


def test_windows_ahead_are_as_long_as_the_schedule_has_them():
    """Friday's window lasts until Monday: a peak on Tuesday is in the second window after it, and one on Saturday in none of them."""
    friday = Window(start=datetime(2026, 1, 9, tzinfo=UTC), end=datetime(2026, 1, 12, tzinfo=UTC))
    tuesday = datetime(2026, 1, 13, tzinfo=UTC)
    feeds = [*FEEDS, Input("new", 10)]
    before = {
        datetime(2026, 1, 8, tzinfo=UTC): [{**row, "window_end": friday.start} for row in first_window()]
    }
    peak = DeclaredPeak(key=None, feed="new", start=tuesday, end=tuesday + DAY, rate=90)
    fed = dataset(schedule="0 0 * * 1-5", expect=(peak,))

    rates = known_rates(fed, friday, feeds, before)
    request = assign_window(fed, friday, feeds, rates)

    assert rates.rate.tolist() == [
        90,
        10,
        60,
        40,
        50,
        50,
        10,
    ]  # Thursday is another length, and of the same schedule
    assert loaders(request.rows)["new"] not in loaders(request.rows[:-1]).values()


def test_strategies_that_look_back_say_that_a_peak_does_not_count():
    """Who declares a peak should read that it is of no use, and not that it counts."""
    fed = dataset(feed_strategy="ard", expect=(peak_of("f", 1, 1, factor=2.0),))

    made = assign_window(fed, window_of(1), FEEDS, known(FEEDS, [first_window()]))

    assert made.rows[-1]["expected"] == 50
    assert made.sentences == ("a peak of feed f is declared, but ard goes by the last window alone",)


def test_peaks_that_cannot_be_counted_are_cut_and_said():
    """Peaks that overlap by mistake must not end the load."""
    fed = dataset(expect=tuple(peak_of("f", 1, 1, factor=1e6) for _ in range(3)))

    made = assign_window(fed, window_of(1), FEEDS, known(FEEDS, [first_window()]))

    assert made.rows[-1]["expected"] == MOST - 250
    assert made.sentences[-1] == (
        "what is declared for feed f is cut to 4,503,599,627,370,246: more rows in all than can be counted"
    )


def test_facts_worked():
    """Three loaders filled to the brim, against round robin (a d | b e | c f) with the same rows."""
    window = first_window()
    facts = feed_facts(window, [])
    ours, round_robin, hashed = facts["by"]

    assert (facts["loaders"], facts["fewest_loaders"], facts["rows"]) == (3, 3, 300)
    assert (ours["straggler"], ours["fullest"], ours["overloaded"]) == (1.0, 1.0, 0)
    assert (round_robin["fullest"], round_robin["overloaded"]) == (pytest.approx(1.3), 2)
    assert hashed["mean_fill"] == 1.0  # of three loaders, empty ones among them
    assert hashed["straggler"] == hashed["fullest"] > 1.0
    assert feed_sentences(facts)[0] == (
        "6 feeds, 300 rows brought, 3 loaders of 100 rows; no assignment needs fewer than 3"
    )


def test_redirections_are_counted_for_everybody():
    """A newcomer needs a fourth loader: b and c move under round robin by it, and nobody of ours."""
    feeds = sorted([*FEEDS, Input("aa")], key=lambda feed: feed.name)
    before = first_window()
    after = assigned(BROUGHT | {"aa": 0}, feeds=feeds, earlier=[before])
    ours, round_robin, _ = feed_facts(after, before)["by"]

    assert ours["redirected"] == 0
    assert round_robin["redirected"] == 2


def test_window_is_kept_and_found(warehouse):
    """What the report reads is what the load wrote."""
    save_window(dataset(), window_of(0), first_window())
    save_window(dataset(), window_of(1), assigned(None, earlier=[first_window()]))

    windows = assigned_windows("visits")
    assert list(windows) == [START, START + DAY]
    assert loaders(windows[START]) == loaders(first_window())
    assert n_loaders_of("visits", START) == 3
    assert n_loaders_of("visits", START + 5 * DAY) is None
    facts = window_feed_facts("visits", START + DAY)
    assert not facts["is_loaded"]
    assert facts["by"][0]["redirected"] == 0
    assert window_feed_facts("visits", START + 5 * DAY) is None
    assert replace(dataset(), feeds=()).events_name.endswith("visits/events")
    assert dataset().events_name == "the feeds"
