"""Forecasts of items' costs: the paper's recursion, what becomes of new and vanished items, intervals, and the fit."""

from dataclasses import replace
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from partitioning.errors import ForecastError
from partitioning.forecast import BLOCK, MANY, ForecastOptions, forecast
from partitioning.forecast_fit import STEPS, fit_smoothing
from partitioning.forecast_history import CostHistory
from partitioning.forecast_methods import FIXED, METHODS, Run
from partitioning.smoothing import Smoothing

FEW = settings(max_examples=25, deadline=None, derandomize=True)
HALVES = Smoothing(alpha=0.5, gamma=0.5)
costs = st.one_of(st.integers(0, 9), st.floats(0, 1e6, allow_nan=False, width=32))
shares = st.floats(0, 1, allow_nan=False)


def holt_by_the_paper(series, alpha, gamma, n_ahead):
    """Sec. 2.3 of Balkesen et al., letter by letter, with L1 = X1 and T1 = 0."""
    level, trend = series[0], 0.0
    for cost in series[1:]:
        previous = level
        level = alpha * cost + (1 - alpha) * (previous + trend)
        trend = gamma * (level - previous) + (1 - gamma) * trend
    return [max(0.0, level + k * trend) for k in range(1, n_ahead + 1)]


def expected(history, **options):
    return forecast(history, ForecastOptions(**options)).expected


def test_holt_worked_example():
    """10, 20 with halves: level 15, trend 2.5; its one error of 10 is the interval's sigma."""
    result = forecast([[10], [20]], ForecastOptions(smoothing=HALVES, n_ahead=2, coverage=0.8))

    assert result.expected.ravel().tolist() == [17.5, 20.0]
    z = NormalDist().inv_cdf(0.9)
    assert result.high[0, 0] == pytest.approx(17.5 + 10 * z)
    assert result.high[1, 0] == pytest.approx(20 + 10 * z * np.sqrt(1 + 0.75**2))  # c_1 = 0.5 (1 + 0.5)
    assert result.low[0, 0] == pytest.approx(17.5 - 10 * z)


@FEW
@given(
    st.integers(1, 8).flatmap(
        lambda n: st.lists(st.lists(costs, min_size=n, max_size=n), min_size=1, max_size=5)
    ),
    shares,
    shares,
)
def test_holt_is_the_papers_recursion(items, alpha, gamma):
    """The error form that runs is the form that is printed, for every item of an array at once."""
    result = expected(
        np.array(items, dtype=float).T, smoothing=Smoothing(alpha=alpha, gamma=gamma), n_ahead=3
    )

    by_hand = [holt_by_the_paper(series, alpha, gamma, 3) for series in items]
    np.testing.assert_allclose(result.T, by_hand, rtol=1e-6, atol=1e-6 * (1 + np.max(items)))


@FEW
@given(
    st.sampled_from(METHODS),
    st.floats(0, 1e9, allow_nan=False),
    st.integers(1, 20),
    st.integers(2, 6),
    shares,
    shares,
)
def test_a_constant_is_forecast_as_itself(method, cost, n_windows, period, alpha, gamma):
    """Whatever the method and the smoothing: no drift may be invented where there is none."""
    for smoothing in (Smoothing(alpha=alpha, gamma=gamma, delta=0.3), None):
        result = forecast(
            np.full((n_windows, 2), cost),
            ForecastOptions(method=method, period=period, n_ahead=4, smoothing=smoothing),
        )
        np.testing.assert_allclose(result.expected, cost, rtol=1e-9)
        if n_windows > 2 * period:
            np.testing.assert_allclose(result.high, cost, rtol=1e-6)


@FEW
@given(st.integers(0, 1000), st.integers(0, 50), st.integers(3, 30), st.sampled_from([None, 2, 5]))
def test_a_line_is_continued_once_three_windows_are_known(start, slope, n_windows, period):
    """The fit finds that a line is a line; the season of a line is none."""
    line = start + slope * np.arange(n_windows + 3.0)
    method = "holt" if period is None else "seasonal_holt"

    result = expected(line[:n_windows, np.newaxis], method=method, period=period, n_ahead=3)

    np.testing.assert_allclose(result[:, 0], line[n_windows:], rtol=1e-9, atol=1e-7)


@FEW
@given(st.integers(1, 50), st.floats(0.3, 1), st.floats(0.3, 1))
def test_a_line_is_continued_after_warm_up_with_any_lively_smoothing(slope, alpha, gamma):
    """The error of a line obeys the recursion's characteristic roots: it dies out, it does not settle at a lag."""
    line = slope * np.arange(203.0)

    result = expected(line[:200, np.newaxis], smoothing=Smoothing(alpha=alpha, gamma=gamma), n_ahead=3)

    np.testing.assert_allclose(result[:, 0], line[200:], rtol=1e-6)


def test_the_forecasts_beside_holt():
    """Naive: the last window. Mean: all of them. Seasonal naive: one period ago, phase by phase."""
    history = [[1, 5], [2, 5], [6, 5], [3, 8]]

    assert expected(history, method="naive", n_ahead=2).tolist() == [[3, 8], [3, 8]]
    assert expected(history, method="mean", n_ahead=2)[1].tolist() == pytest.approx([3, 5.75])
    assert expected(history, method="seasonal_naive", period=3, n_ahead=4)[:, 0].tolist() == [2, 6, 3, 2]


@FEW
@given(st.lists(costs, min_size=1, max_size=9))
def test_naive_is_the_last_window_to_the_last_bit(series):
    """A level that keeps nothing of a miss is the cost itself: a plan on the naive forecast is a plan on the last window."""
    assert expected(np.array(series, dtype=float)[:, np.newaxis], method="naive")[0, 0] == series[-1]


def test_a_season_on_a_trend_is_continued():
    """Declared period, additive season: after two periods a cycle on a line is forecast exactly."""
    window = np.arange(31.0)
    series = 100 + 3 * window + np.array([0, 20, -5, 1])[np.arange(31) % 4]

    result = expected(series[:27, np.newaxis], method="seasonal_holt", period=4, n_ahead=4)

    np.testing.assert_allclose(result[:, 0], series[27:], rtol=1e-9)


def winters_by_the_book(series, smoothing, period):
    """Additive Holt-Winters in its textbook form; returns the next window and the errors after two periods."""
    first, second = np.mean(series[:period]), np.mean(series[period : 2 * period])
    trend = (second - first) / period
    level = first + trend * (period - 1) / 2
    season = [series[i] - first - trend * (i - (period - 1) / 2) for i in range(period)]
    errors = []
    for window in range(period, len(series)):
        phase, cost, previous = window % period, series[window], level
        errors.append(cost - level - trend - season[phase])
        level = smoothing.alpha * (cost - season[phase]) + (1 - smoothing.alpha) * (previous + trend)
        trend = smoothing.gamma * (level - previous) + (1 - smoothing.gamma) * trend
        season[phase] = smoothing.delta * (cost - level) + (1 - smoothing.delta) * season[phase]
    return level + trend + season[len(series) % period], errors[period:]


@FEW
@given(st.lists(st.integers(50, 99), min_size=8, max_size=20), st.tuples(shares, shares, shares))
def test_a_season_is_smoothed_as_the_book_says(series, smoothing):
    """Level, trend and season of Winters' additive form; the interval knows nothing of the windows it began with."""
    smoothing = Smoothing(alpha=smoothing[0], gamma=smoothing[1], delta=smoothing[2])

    result = forecast(
        np.array(series, dtype=float)[:, np.newaxis],
        ForecastOptions(method="seasonal_holt", period=3, smoothing=smoothing),
    )

    following, errors = winters_by_the_book(series, smoothing, 3)
    margin = NormalDist().inv_cdf(0.9) * np.sqrt(np.mean(np.square(errors)))
    assert result.expected[0, 0] == pytest.approx(max(0, following), abs=1e-6)
    assert result.high[0, 0] == pytest.approx(max(0, following + margin), abs=1e-6)


@pytest.mark.parametrize(
    ("method", "same_as", "n_windows"),
    [("seasonal_naive", "naive", 6), ("seasonal_holt", "holt", 14)],
)
def test_too_short_for_a_season_is_forecast_without_one(method, same_as, n_windows):
    """An item may be younger than a period: the plain form of its forecast serves until it is old enough."""
    history = np.random.default_rng(1).integers(0, 99, (n_windows, 5))

    result = expected(history, method=method, period=7, smoothing=HALVES)

    assert result.tolist() == expected(history, method=same_as, smoothing=HALVES).tolist()


@pytest.mark.parametrize("method", METHODS)
def test_a_new_item_is_forecast_from_the_windows_it_has(method):
    """Windows before an item appeared are not windows of cost 0: it must not look like a rising star."""
    rng = np.random.default_rng(2)
    history = rng.integers(1, 99, (12, 6)).astype(float)
    history[:5, 1] = history[:11, 3] = history[7, 4] = np.nan

    options = ForecastOptions(method=method, period=3, smoothing=HALVES, n_ahead=2)
    together = forecast(history, options)

    for item, first in enumerate([0, 5, 0, 11, 8, 0]):
        alone = forecast(history[first:, [item]], options)
        assert together.expected[:, [item]].tolist() == alone.expected.tolist()
        assert together.high[:, [item]].tolist() == alone.high.tolist()


def test_a_vanished_item_is_forecast_at_nothing():
    """An item that is away in the last window, or was never there, costs nothing and has no interval."""
    away = np.nan
    result = forecast([[5, away, away], [5, away, 3], [away, away, 3]], ForecastOptions(n_ahead=2))

    assert result.expected.tolist() == [[0, 0, 3], [0, 0, 3]]
    assert result.high[:, :2].tolist() == [[0, 0], [0, 0]]


def test_nothing_is_forecast_below_zero():
    """A falling line ends at 0: no planner is given negative cost."""
    result = forecast([[9], [6], [3]], ForecastOptions(n_ahead=3))

    assert result.expected.ravel().tolist() == [0, 0, 0]
    assert (result.low == 0).all()


def test_one_window_is_its_own_forecast_with_no_idea_how_wrong():
    """Without a single error there is nothing to measure an interval by."""
    result = forecast([[7]])

    assert (result.expected, result.low, result.high) == ([[7]], [[0]], [[np.inf]])


def test_no_windows_and_no_items_are_no_trouble():
    """The first run of a dataset has no history."""
    assert forecast(np.empty((0, 3))).expected.tolist() == [[0, 0, 0]]
    assert forecast(np.empty((4, 0))).expected.shape == (1, 0)


def test_more_items_than_a_block_are_forecast_alike():
    """Blocks are for the cache: no item may feel where one ends."""
    column = np.array([3.0, 8, 4, 9])
    history = np.repeat(column[:, np.newaxis], BLOCK + 3, axis=1)

    result = forecast(history, ForecastOptions(smoothing=HALVES))

    assert np.unique(result.expected).tolist() == holt_by_the_paper(column, 0.5, 0.5, 1)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("n_windows", [1, 2, 4, 7, 14])
@pytest.mark.parametrize(("n_items", "n_ahead"), [(3, 1), (MANY + 500, 1), (MANY + 500, 3)])
def test_without_intervals_the_same_is_expected(method, n_windows, n_items, n_ahead):
    """A sum of windows by weights is the recursion in another order: only the last bits may differ, and nothing is known of errors."""
    rng = np.random.default_rng(n_windows)
    history = rng.integers(0, 1000, (n_windows, n_items)).astype(float)
    history[rng.integers(n_windows, size=20), rng.integers(n_items, size=20)] = np.nan
    options = ForecastOptions(
        method=method, period=3, n_ahead=n_ahead, smoothing=Smoothing(alpha=0.7, gamma=0.2, delta=0.4)
    )

    bare = forecast(history, replace(options, coverage=None))

    np.testing.assert_allclose(bare.expected, forecast(history, options).expected, rtol=1e-9, atol=1e-9)
    assert (bare.low == 0).all()
    assert (bare.high == np.where(np.isnan(history[-1]), 0.0, np.inf)).all()


def test_weights_are_what_each_window_counts_for():
    """The worked example of ``weights``; naive looks at the last window alone, and so copies it to the last bit."""
    assert Run.of("holt", 2, None).weights(HALVES, 2).tolist() == [0.25, 0.75]
    assert Run.of("naive", 3, None).weights(FIXED["naive"], 3).tolist() == [0, 0, 1]
    assert Run.of("mean", 4, None).weights(FIXED["mean"], 4) == pytest.approx([0.25] * 4)


@pytest.mark.parametrize("coverage", [0.8, None])
def test_blocks_do_not_change_a_bit(coverage):
    """An item's forecast may not depend on which others share its block, whether windows are weighed or run through."""
    history = np.random.default_rng(8).random((9, 2 * BLOCK + 7))
    options = ForecastOptions(smoothing=Smoothing(alpha=0.3, gamma=0.1), coverage=coverage)

    whole, part = forecast(history, options), forecast(history[:, BLOCK // 2 :], options)

    assert (whole.expected[:, BLOCK // 2 :] == part.expected).all()


def test_an_item_beside_others_has_the_season_it_has_alone():
    """NumPy's mean over windows adds in another order for a single item: the last bits would depend on the company."""
    options = ForecastOptions(
        method="seasonal_holt", period=24, smoothing=Smoothing(alpha=0.3, gamma=0.1, delta=0.2)
    )
    for seed in range(20):
        history = np.random.default_rng(seed).random((60, 3))
        together, alone = forecast(history, options), forecast(history[:, :1], options)

        assert together.expected[:, 0].tolist() == alone.expected[:, 0].tolist()
        assert together.high[:, 0].tolist() == alone.high[:, 0].tolist()


@pytest.mark.parametrize("coverage", [0.5, 0.8, 0.95])
def test_intervals_cover_what_they_promise(coverage):
    """On random walks, whose naive errors are normal, two and three windows ahead too."""
    rng = np.random.default_rng(3)
    walks = 1000 + np.cumsum(rng.normal(size=(203, 4000)), axis=0)

    result = forecast(walks[:200], ForecastOptions(method="naive", n_ahead=3, coverage=coverage))

    inside = (result.low <= walks[200:]) & (walks[200:] <= result.high)
    assert inside.mean(axis=1) == pytest.approx([coverage] * 3, abs=0.03)


@FEW
@given(st.integers(0, 2**32 - 1), st.integers(2, 9))
def test_the_fit_is_the_least_error_on_the_grid(seed, n_windows):
    """
    The matrix of windows by windows stands for all items, whenever each appeared: trying every smoothing on every item finds no better one.
    """
    rng = np.random.default_rng(seed)
    history = rng.integers(0, 20, (n_windows, 6)).astype(float)
    history[np.arange(n_windows)[:, np.newaxis] < rng.integers(0, n_windows, 6)] = np.nan

    def squares(smoothing):
        total = 0.0
        for series in history.T:
            series = series[~np.isnan(series)]  # noqa: PLW2901  (the same item, from where it begins)
            for window in range(1, len(series)):
                level, trend = _state(series[:window], smoothing)
                total += (series[window] - level - trend) ** 2
        return total

    fitted = fit_smoothing(CostHistory.of(history), "holt")

    coarse = [Smoothing(alpha=alpha, gamma=gamma) for alpha in STEPS[::4] for gamma in STEPS[::4]]
    assert squares(fitted) <= min(map(squares, coarse)) * (1 + 1e-6)


def _state(series, smoothing):
    level, trend = series[0], 0.0
    for cost in series[1:]:
        error = cost - level - trend
        level, trend = (
            level + trend + smoothing.alpha * error,
            trend + smoothing.alpha * smoothing.gamma * error,
        )
    return level, trend


def test_without_evidence_holt_is_naive():
    """Two windows tell nothing about a trend."""
    result = forecast([[10.0], [20.0]])

    assert result.smoothing == Smoothing(alpha=1.0)
    assert result.expected[0, 0] == 20


@FEW
@given(st.integers(0, 2**32 - 1))
def test_items_do_not_disturb_each_other(seed):
    """Given its smoothing, an item's forecast is its own: order and company change no bit."""
    rng = np.random.default_rng(seed)
    history = np.where(rng.random((9, 7)) < 0.1, np.nan, rng.random((9, 7)))
    order = rng.permutation(7)
    options = ForecastOptions(smoothing=HALVES)
    before = history.copy()

    shuffled = forecast(history[:, order], options)

    assert shuffled.high.tolist() == forecast(history, options).high[:, order].tolist()
    np.testing.assert_array_equal(history, before)


@pytest.mark.parametrize(
    ("history", "message"),
    [
        ([1, 2, 3], r"history must have one row a window and one column an item\. Got shape \(3,\)\."),
        (
            [[1, 2], [3, -4]],
            r"history must hold costs from 0 up .* Got -4\.0 in window 1, item 1 \(1 of 4 costs\)",
        ),
        ([[np.inf]], r"Got inf in window 0, item 0"),
        ([["many"]], r"history must hold numbers"),
        ([[10**400]], r"history must hold numbers\. Got something else \(int too large"),
        ([[1, 2], [3]], r"history must hold numbers"),
    ],
)
def test_a_history_that_cannot_be_is_refused(history, message):
    """A forecast of nonsense is nonsense with an interval."""
    with pytest.raises(ForecastError, match=message):
        forecast(history)


def test_a_negative_zero_is_a_zero():
    """The quick look at the bits takes it for something bad; the closer one lets it pass."""
    assert forecast([[-0.0], [4.0]], ForecastOptions(method="mean")).expected[0, 0] == 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "guess"}, r"ForecastOptions\.method must be one of naive, mean, holt, .* Got 'guess'"),
        (
            {"method": "seasonal_holt"},
            r"ForecastOptions\.period must be given for seasonal_holt\. Got None",
        ),
        ({"period": 1}, r"ForecastOptions\.period must be a whole number from 2 to 100000\. Got 1"),
        ({"n_ahead": 0}, r"ForecastOptions\.n_ahead must be a whole number from 1 to 10000\. Got 0"),
        ({"n_ahead": True}, r"ForecastOptions\.n_ahead must be .* Got True"),
        (
            {"coverage": "0.8"},
            r"ForecastOptions\.coverage must lie between 0\.01 and 0\.9999, or be None\. Got '0\.8'",
        ),
        ({"smoothing": 0.5}, r"ForecastOptions\.smoothing must be a Smoothing, or None\. Got 0\.5"),
        (
            {"coverage": 1.0},
            r"ForecastOptions\.coverage must lie between 0\.01 and 0\.9999, or be None\. Got 1\.0",
        ),
        (
            {"coverage": 1e-20},
            r"ForecastOptions\.coverage must lie between 0\.01 and 0\.9999, or be None\. Got 1e-20",
        ),
    ],
)
def test_options_that_cannot_be_are_refused(options, message):
    """Which field, what it must be, what it was."""
    with pytest.raises(ForecastError, match=message):
        ForecastOptions(**options)


@pytest.mark.parametrize("value", [-0.1, 1.5, float("nan"), True, "0.5"])
def test_a_smoothing_outside_zero_and_one_is_refused(value):
    """Beyond 1 the recursion may run away."""
    with pytest.raises(ForecastError, match=r"Smoothing\.gamma must be a number from 0 to 1\. Got "):
        Smoothing(alpha=0.5, gamma=value)
