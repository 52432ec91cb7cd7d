"""The choice of a forecast by backtest."""

import numpy as np
import pytest

from partitioning.forecast import ForecastOptions, forecast
from partitioning.forecast_choice import choose_forecast
from partitioning.forecast_fit import fit_smoothing
from partitioning.forecast_history import CostHistory


def history_of(kind, n_windows=60, n_items=300):
    rng = np.random.default_rng(4)
    base = rng.uniform(50, 500, n_items)
    window = np.arange(n_windows)[:, np.newaxis]
    noise = rng.normal(1, 0.02, (n_windows, n_items))
    if kind == "trend":
        return base * (1 + rng.uniform(0, 0.3, n_items) * window) * noise
    if kind == "cycle":
        return base * (1 + 0.8 * np.sin(2 * np.pi * (window / 12 + rng.random(n_items)))) * noise
    if kind == "walk":
        return np.abs(1000 + np.cumsum(rng.normal(0, 30, (n_windows, n_items)), axis=0))
    return base * rng.normal(1, 0.2, (n_windows, n_items)).clip(0)


@pytest.mark.parametrize(
    ("kind", "period", "method"),
    [
        ("trend", None, "holt"),
        ("cycle", 12, "seasonal_holt"),
        ("walk", None, "naive"),
        ("noise", None, "mean"),
    ],
)
def test_each_kind_of_load_has_its_forecast(kind, period, method):
    """The backtest finds what the generator did; a user need not know the words for it."""
    choice = choose_forecast(history_of(kind), ForecastOptions(period=period))

    assert choice.options.method == method
    assert choice.errors[method] == min(choice.errors.values())
    assert choice.n_tests == 20


def test_the_error_is_that_of_forecasts_made_before_the_window():
    """Out of sample: parameters from the windows before the test, and each window from those before it alone."""
    history = history_of("trend", n_windows=9, n_items=5)
    history[:7, 0] = np.nan  # appears among the tested windows
    history[8, 1] = np.nan  # vanishes there

    error = choose_forecast(history).errors["holt"]

    smoothing = fit_smoothing(CostHistory.of(history[:6]), "holt")
    options = ForecastOptions(method="holt", smoothing=smoothing)
    actual = np.nan_to_num(history[6:])
    made = np.stack([forecast(history[:window], options).expected[0] for window in (6, 7, 8)])
    assert error == pytest.approx(np.abs(actual - made).sum() / actual.sum())


def test_seasons_compete_only_where_a_period_is_declared():
    """We do not guess periods."""
    assert set(choose_forecast(history_of("walk")).errors) == {"naive", "mean", "holt"}


@pytest.mark.parametrize("shape", [(0, 3), (1, 3), (5, 0)])
def test_without_windows_to_test_on_the_choice_is_naive(shape):
    """The first days of a dataset: plan on the last window, as if nobody had asked."""
    choice = choose_forecast(np.ones(shape))

    assert (choice.options.method, choice.n_tests, choice.errors) == ("naive", 0, {})


def test_ties_go_to_the_simpler_forecast():
    """All forecasts of a constant are right; so are all of nothing."""
    assert choose_forecast(np.ones((9, 3)), ForecastOptions(period=2)).options.method == "naive"
    assert choose_forecast(np.zeros((2, 3))).errors["naive"] == 0


@pytest.mark.parametrize("step", [0.1, 0.3, 0.7])
def test_what_rounding_leaves_is_no_evidence(step):
    """Of a line Holt is as right as Holt with a season: errors of 1e-16 must not make a season of it."""
    line = 0.1 + step * np.arange(9.0)[:, np.newaxis]

    assert choose_forecast(line, ForecastOptions(period=2)).options.method == "holt"


def test_the_choice_keeps_the_other_options():
    """What was asked for ahead and around is what the forecast is then made with; the smoothing is fitted anew."""
    asked = ForecastOptions(period=12, n_ahead=3, coverage=0.9)

    chosen = choose_forecast(history_of("cycle"), asked).options

    assert (chosen.n_ahead, chosen.coverage, chosen.smoothing) == (3, 0.9, None)
