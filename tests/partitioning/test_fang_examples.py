"""The worked examples of Fang et al.: Fig. 4 left and right, Fig. 6, with the values the figures show."""

import numpy as np
import pytest

from partitioning.measures import load_per_bucket
from partitioning.planners.fang_phases import (
    UNPLACED,
    Board,
    highest_cost_first,
    send_home,
    take_off_overloaded,
)
from partitioning.planners.llfd import Buckets, plan_llfd
from partitioning.planners.min_table import plan_min_table
from partitioning.tracking.hlhe import discretise
from tests.partitioning.fang_cases import make_request

K1, K2, K3, K4, K5, K6 = range(6)
D1, D2 = 0, 1
COST = [7, 4, 2, 1, 5, 1]
OWNER = [D1, D1, D2, D2, D1, D2]
HOME = [D1, D1, D1, D2, D2, D2]  # the table holds k3 → d2 and k5 → d1


@pytest.fixture
def figure_4():
    return make_request(COST, OWNER, home=HOME, n_buckets=2, theta=0.0)


def routes(request, owner):
    return {(k, int(owner[k])) for k in range(6) if owner[k] != request.home[k]}


def test_figure_4_starts_as_printed(figure_4):
    """Both examples begin with loads 16 and 4, Lmax = 10 and two routes."""
    assert load_per_bucket(figure_4.cost, figure_4.owner, 2).tolist() == [16.0, 4.0]
    assert Board.of(figure_4).limit == pytest.approx(10.0)
    assert routes(figure_4, figure_4.owner) == {(K3, D2), (K5, D1)}


def test_figure_4_left_llfd_step_by_step(figure_4):
    """S1 to S4 of the figure, one by one: what is accepted, refused and pushed out, and the loads in between."""
    owner = np.array([UNPLACED, D1, D2, D2, D1, D2])  # k1 waits
    buckets = Buckets(Board.of(figure_4), owner, np.array([9.0, 4.0]), highest_cost_first(figure_4.cost))

    assert not buckets.load.fits(D2, 7)  # S1: 4 + 7 > 10
    bucket, pushed_out = buckets.exchange(7)
    assert (bucket, pushed_out.tolist()) == (D2, [K3])
    buckets.add(D2, 7)
    assert buckets.load.to_array().tolist() == [9.0, 9.0]

    assert buckets.load.least_loaded() == D1  # S2: 9 = 9, the lower bucket first
    assert not buckets.load.fits(D1, 2)  # and neither k2 nor k5 is smaller than 2: refused
    bucket, pushed_out = buckets.exchange(2)
    assert (bucket, pushed_out.tolist()) == (D2, [K4])  # S3
    buckets.add(D2, 2)
    assert buckets.load.to_array().tolist() == [9.0, 10.0]

    assert buckets.load.least_loaded() == D1  # S4: k4 is accepted at exactly 10
    assert buckets.load.fits(D1, 1)


def test_figure_4_left_llfd(figure_4):
    """The end of the left column: 10 / 10, at the price of four routes."""
    plan = plan_llfd(figure_4)

    assert plan.load.tolist() == [10.0, 10.0]
    assert routes(figure_4, plan.owner) == {(K1, D2), (K3, D2), (K4, D1), (K5, D1)}
    assert plan.n_routes == 4
    assert plan.moved.tolist() == [K1, K4]
    assert plan.migration == 8.0


def test_figure_4_left_takes_only_k1(figure_4):
    """Phase II by highest cost: k1 alone brings d1 from 16 to 9."""
    board = Board.of(figure_4)
    load = load_per_bucket(figure_4.cost, figure_4.owner, 2)

    assert take_off_overloaded(board, figure_4.owner, load, highest_cost_first(figure_4.cost)).tolist() == [
        K1
    ]


def test_figure_4_right_min_table_cleans_first(figure_4):
    """S1 of the right column: k3 and k5 go home, for loads 13 and 7."""
    cleaned = send_home(figure_4.owner, figure_4.home, np.arange(6))

    assert cleaned.tolist() == HOME
    assert load_per_bucket(figure_4.cost, cleaned, 2).tolist() == [13.0, 7.0]


def test_figure_4_right_min_table(figure_4):
    """The end of the right column: 10 / 10 with two routes; the state of k2, k3, k4 and k5 moves, 12 in all."""
    plan = plan_min_table(figure_4)

    assert plan.load.tolist() == [10.0, 10.0]
    assert routes(figure_4, plan.owner) == {(K2, D2), (K4, D1)}
    assert plan.moved.tolist() == [K2, K3, K4, K5]
    assert plan.migration == 12.0


def test_figure_6_hlhe():
    """R = 4 over the ten costs of Sec. IV-B: values {8, 4, 2, 1}, 8→8, 6→4, 3→4, and a total deviation of 0."""
    costs = np.array([8.0, 6, 3, 2, 2, 1, 1, 1, 1, 1])
    rounded = discretise(costs, degree=4)

    assert rounded.tolist() == [8, 4, 4, 2, 2, 2, 1, 1, 1, 1]
    assert np.cumsum(costs - rounded).tolist() == [0, 2, 1, 1, 1, 0, 0, 0, 0, 0]
