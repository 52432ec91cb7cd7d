"""Who reads which feed: from the windows before, with what is declared, and judged against round robin and hash. No Spark."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

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


def assigned(rows_of, *, day=0, feeds=FEEDS, earlier=(), **fields):
    """The window's rows of the table, loaded with these rows; None: not loaded yet."""
    made = assign_window(dataset(**fields), window_of(day), feeds, known_rates(feeds, earlier))
    return [{**row, "rows": rows_of.get(row["feed"]) if rows_of else None} for row in made.rows]


def loaders(rows):
    return {row["feed"]: row["loader"] for row in rows}


def first_window():
    known = counted_rates(known_rates(FEEDS, []), [BROUGHT[feed.name] for feed in FEEDS])
    made = assign_window(dataset(), window_of(0), FEEDS, known)
    return [{**row, "rows": BROUGHT[row["feed"]]} for row in made.rows]


def test_first_window_is_packed_by_what_it_brings():
    """Nothing is known of anybody: counting beats one loader for all."""
    assert known_rates(FEEDS, []).is_nothing
    assert loaders(first_window()) == {"a": 0, "b": 0, "c": 1, "d": 1, "e": 2, "f": 2}


def test_declared_rates_do_before_anything_was_seen():
    """Who declares what feeds bring needs no counting; the feed without a rate is an average one."""
    feeds = [Input("a", 90), Input("b", 30), Input("c")]
    rows = assigned(None, feeds=feeds)

    assert not known_rates(feeds, []).is_nothing
    assert [row["expected"] for row in rows] == [90, 30, 60]
    assert loaders(rows) == {"a": 0, "b": 1, "c": 1}


def test_feeds_stay_where_they_are_while_their_loader_can():
    """A feed that moves for nothing is a connection that is opened for nothing."""
    earlier = [first_window()]
    again = assigned(BROUGHT, day=1, earlier=earlier)
    grown = assigned(
        None, day=2, earlier=[*earlier, [{**row, "rows": 80} if row["feed"] == "b" else row for row in again]]
    )

    assert loaders(again) == loaders(earlier[0])
    moved = [feed for feed, loader in loaders(grown).items() if loader != loaders(again)[feed]]
    assert len(moved) == 1
    assert moved[0] in ("a", "b")


def test_window_that_was_never_loaded_says_who_read_but_not_how_much():
    """A run that died between the assignment and the load must not make its feeds look empty."""
    known = known_rates(
        FEEDS, [first_window(), [{**row, "rows": None, "loader": 7} for row in first_window()]]
    )

    assert known.rate.tolist() == [90, 10, 60, 40, 50, 50]
    assert known.owner == [7] * 6


def test_forecast_is_of_the_windows_before_and_a_feed_that_was_away_is_new():
    """A feed that grows by ten a window is expected to go on; what has no last window has no forecast."""
    windows = [
        [
            {"feed": "a", "loader": 0, "rows": 10 * n},
            *([{"feed": "b", "loader": 0, "rows": 5}] if n < 5 else []),
        ]
        for n in range(1, 6)
    ]
    known = known_rates([Input("a"), Input("b")], windows)

    assert known.ahead[0, 0] == pytest.approx(60, abs=1)
    assert known.ahead[2, 0] == pytest.approx(80, abs=2)
    assert np.isnan(known.rate[1])
    assert np.isnan(known.ahead[:, 1]).all()


def test_a_peak_to_come_has_room_before_it_comes():
    """A feed that is new today and announced to bring 90 tomorrow is not put where only its 10 of today fit."""
    peak = DeclaredPeak(key=None, feed="new", start=START + 2 * DAY, end=START + 3 * DAY, rate=90)
    feeds = [*FEEDS, Input("new", 10)]
    known = known_rates(feeds, [first_window()[:1], [{**row, "rows": 60} for row in first_window()]])

    plain = assign_window(dataset(), window_of(1), feeds, known)
    told = assign_window(dataset(expect=(peak,)), window_of(1), feeds, known)

    assert loaders(plain.rows)["new"] in loaders(plain.rows[:-1]).values()
    assert loaders(told.rows)["new"] not in loaders(told.rows[:-1]).values()


def test_declared_peak_of_a_feed_counts_in_its_window_only():
    """Black Friday is in no history; a peak of a feed that does not exist is said."""
    peaks = tuple(
        DeclaredPeak(key=None, feed=feed, start=START + DAY, end=START + 2 * DAY, factor=2.0)
        for feed in ("f", "ghost")
    )
    earlier = [first_window()]
    known = known_rates(FEEDS, earlier)
    during = assign_window(dataset(expect=peaks), window_of(1), FEEDS, known)
    after = assign_window(dataset(expect=peaks), window_of(2), FEEDS, known)

    assert [row["expected"] for row in during.rows] == [90, 10, 60, 40, 50, 100]
    assert loaders(during.rows)["f"] != loaders(during.rows)["e"]
    assert during.sentences == (
        "a declared peak of feed f counts",
        "a peak of feed ghost is declared, but there is no such feed",
    )
    assert [row["expected"] for row in after.rows] == [90, 10, 60, 40, 50, 50]
    declared = [*FEEDS[:5], Input("f", 45.0)]
    twice = assign_window(dataset(expect=peaks), window_of(1), declared, known_rates(declared, earlier))
    assert twice.rows[-1]["expected"] == 90  # the peak lies over what its owner declares, too
    assert after.sentences == ()


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
    after = assigned(BROUGHT | {"aa": 0}, day=1, feeds=feeds, earlier=[before])
    ours, round_robin, _ = feed_facts(after, before)["by"]

    assert ours["redirected"] == 0
    assert round_robin["redirected"] == 2


def test_window_is_kept_and_found(warehouse):
    """What the report reads is what the load wrote."""
    save_window(dataset(), window_of(0), first_window())
    save_window(dataset(), window_of(1), assigned(None, day=1, earlier=[first_window()]))

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
