"""Sliding windows are whole panes, and panes go to nodes; what is computed from panes is tested in tests/spark_jobs."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from partitioning.errors import PaneError
from partitioning.pane_routing import route_panes, route_panes_by_rate
from partitioning.panes import Sliding
from partitioning.sub_keys import spread

FEW = settings(max_examples=150, deadline=None, derandomize=True)
sizes = st.lists(st.integers(0, 400), max_size=60)


def test_the_papers_example():
    """Sec. 5.3: w = 12 and s = 4 have panes of 4."""
    assert Sliding(size=12, slide=4).pane == 4


@FEW
@given(st.lists(st.integers(0, 120), max_size=60), st.integers(1, 40), st.integers(1, 40))
def test_windows_are_the_sums_of_their_panes(times, size, slide):
    """Every window is whole panes, so that what is counted by pane adds up to it exactly; coarser panes would not do."""
    pane = Sliding(size=size, slide=slide).pane
    in_pane = Counter(time // pane for time in times)

    for begin in range(0, 120, slide):
        panes = range(begin // pane, (begin + size) // pane)
        assert sum(in_pane[one] for one in panes) == sum(begin <= time < begin + size for time in times)
    assert not any(size % more == slide % more == 0 for more in range(pane + 1, 41))


@pytest.mark.parametrize("route", [route_panes, route_panes_by_rate])
@FEW
@given(rows=sizes, n_nodes=st.integers(1, 6))
def test_pieces_add_up_to_panes(route, rows, n_nodes):
    """Exactly, in the order of panes: no row is lost, doubled or sent to a node that is not there."""
    pieces = route(np.array(rows, dtype=np.int64), n_nodes)

    assert np.bincount(pieces.pane, weights=pieces.rows, minlength=len(rows)).tolist() == rows
    assert (np.diff(pieces.pane) >= 0).all()
    assert ((pieces.node >= 0) & (pieces.node < n_nodes)).all()
    assert pieces.load(n_nodes).sum() == sum(rows)


def test_plain_panes_go_round():
    """Pane by pane, whatever their size."""
    pieces = route_panes([5, 50, 500, 5], 3)

    assert (pieces.node.tolist(), pieces.rows.tolist()) == ([0, 1, 2, 0], [5, 50, 500, 5])


@pytest.mark.parametrize(
    ("rows", "pieces"),
    [
        pytest.param([10, 10, 35], [(0, 0, 10), (1, 1, 10), (2, 2, 10), (2, 0, 10), (2, 1, 10), (2, 2, 5)], id="cut-at-mean"),
        pytest.param([10, 14, 14], [(0, 0, 10), (1, 1, 14), (2, 2, 14)], id="mean-12-plus-deviation-2-is-not-cut"),
        pytest.param([10, 14, 15], [(0, 0, 10), (1, 1, 14), (2, 2, 12), (2, 0, 3)], id="just-above-is"),
        pytest.param([10, 10, 4, 3, 9], [(0, 0, 10), (1, 1, 10), (2, 2, 4), (3, 2, 3), (4, 2, 9)], id="turn-until-the-mean"),
        pytest.param([10, 10, 4, 6, 9], [(0, 0, 10), (1, 1, 10), (2, 2, 4), (3, 2, 6), (4, 0, 9)], id="then-the-next"),
    ],
)  # fmt: skip
def test_rate_aware_panes_are_cut_and_made_up_for(rows, pieces):
    """Each case dies if one rule is dropped: the limit, the piece, the turn."""
    routed = route_panes_by_rate(rows, 3)

    assert list(zip(routed.pane, routed.node, routed.rows, strict=True)) == pieces


def test_only_recent_panes_count():
    """A rate that was high an hour ago must not keep today's jumps from being cut."""
    rows = [100, 100, 10, 10, 15]

    assert (route_panes_by_rate(rows, 3).pane == 4).sum() == 1  # 15 is small beside a mean of 55
    assert (route_panes_by_rate(rows, 3, n_recent=2).pane == 4).sum() == 2  # and large beside the last two


def test_rate_aware_panes_even_out_jumps():
    """The paper's workload: 18 to 22 thousand rows a second, five times that with a chance of 0.1; 16 nodes."""
    rng = np.random.default_rng(5)
    rows = rng.integers(18_000, 22_000, 1600) * np.where(rng.random(1600) < 0.1, 5, 1)

    plain, aware = (route(rows, 16) for route in (route_panes, route_panes_by_rate))

    assert spread(aware.load(16)) < 0.2 * spread(plain.load(16))
    assert mean_spread(aware) < 0.75 * mean_spread(plain)


def mean_spread(pieces):
    """Over stretches of 16 panes: what a node had too much in one turn it must be spared in the next."""
    stretches = [(pieces.pane >= first) & (pieces.pane < first + 16) for first in range(64, 1600, 16)]
    return np.mean(
        [spread(np.bincount(pieces.node[one], weights=pieces.rows[one], minlength=16)) for one in stretches]
    )


def test_a_rate_that_falls_sends_no_node_away_for_long():
    """What a node had beyond its turn is counted once: after a flood every node has panes again within two rounds."""
    rows = [10**6] * 60 + [1] * 120

    nodes = route_panes_by_rate(rows, 4).node

    assert set(nodes[-8:].tolist()) == {0, 1, 2, 3}


@pytest.mark.parametrize("idle", [0, 1])
def test_the_first_rush_after_an_idle_hour_is_not_cut_into_rows(idle):
    """The mean of panes without rows is nothing: pieces of it would be as many as rows, each with a price of its own to send and merge."""
    pieces = route_panes_by_rate([idle] * 50 + [10**12 + 7], 4)

    rush = pieces.pane == 50
    assert rush.sum() <= 400
    assert pieces.rows[rush].sum() == 10**12 + 7
    assert spread(pieces.load(4)) < 0.01


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Sliding(size=0, slide=1), r"Sliding\.size must be a whole number from 1\. Got 0"),
        (lambda: Sliding(size=2, slide=0.5), r"Sliding\.slide must be a whole number from 1\. Got 0\.5"),
        (lambda: route_panes([1.5], 2), r"rows must hold a whole number a pane"),
        (lambda: route_panes_by_rate([-1], 2), r"rows must hold a whole number a pane"),
        (lambda: route_panes_by_rate([1], 2, n_recent=0), r"n_recent must be a whole number from 2\. Got 0"),
        (lambda: route_panes([1], 0), r"n_nodes must be a whole number from 1\. Got 0"),
    ],
)
def test_panes_that_cannot_be_are_refused(make, message):
    """Which field, what it must be, what it was."""
    with pytest.raises(PaneError, match=message):
        make()
