"""Which forecast to believe: the one that would have been right on windows it had not seen."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from partitioning.forecast import ForecastOptions, forecast
from partitioning.forecast_fit import fit_smoothing
from partitioning.forecast_history import CostHistory
from partitioning.forecast_methods import FITTED, METHODS, SEASONAL, Method

MAX_TESTS = 24  # windows that are forecast to find out
MAX_ITEMS = 10_000  # that are forecast to find out: enough to tell methods apart
_SAME = 1e-9
_NOISE = 1e-12  # of all cost: what sums of floats leave of no error


@dataclass(frozen=True, kw_only=True)
class Choice:
    """The chosen forecast, and how wrong each one was."""

    options: ForecastOptions  # for ``forecast``; the smoothing is fitted anew, on all windows
    errors: Mapping[
        Method, float
    ]  # sum of absolute errors over the sum of cost; empty: too few windows to tell
    n_tests: int  # windows that were forecast


def choose_forecast(history: ArrayLike | CostHistory, options: ForecastOptions | None = None) -> Choice:
    """
    The method with the least absolute error one window ahead, out of sample; ``options`` give all but the method.

    The last third of the windows (at most ``MAX_TESTS``) are forecast one by one, each from the windows before it alone.
    What is fitted, is fitted once, on the windows before the first of these. The error is the sum of |cost - forecast|
    over the sum of cost, all items and tested windows together; an item that is not there has cost 0. Seasonal methods take
    part where a period is declared. Ties go to the simpler method, and without windows to test on it is the naive one. Of more than
    ``MAX_ITEMS`` items, as many at even distances are looked at.
    """
    options = options or ForecastOptions()
    known = CostHistory.of(history)
    if known.n_items > MAX_ITEMS:
        known = known.columns(np.arange(MAX_ITEMS) * known.n_items // MAX_ITEMS)
    n_tests = min(max(known.n_windows // 3, 1), known.n_windows - 1, MAX_TESTS)
    simplest = replace(options, method=METHODS[0])
    if n_tests < 1 or known.n_items == 0:
        return Choice(options=simplest, errors={}, n_tests=0)
    methods = [method for method in METHODS if options.period or method not in SEASONAL]
    next_alone = replace(options, n_ahead=1, coverage=None)
    errors = {method: _error(known, n_tests, replace(next_alone, method=method)) for method in methods}
    limit = min(errors.values()) * (1 + _SAME) + _NOISE
    best = next(method for method in methods if errors[method] <= limit)
    return Choice(options=replace(options, method=best), errors=errors, n_tests=n_tests)


def _error(known: CostHistory, n_tests: int, options: ForecastOptions) -> float:
    first = known.n_windows - n_tests
    if options.method in FITTED and options.smoothing is None:
        fitted = fit_smoothing(known.before(first), options.method, options.period)
        options = replace(options, smoothing=fitted)
    wrong = total = 0.0
    for window in range(first, known.n_windows):
        actual = np.nan_to_num(known.cost[window], nan=0.0)
        wrong += float(np.abs(actual - forecast(known.before(window), options).expected[0]).sum())
        total += float(actual.sum())
    return wrong / total if total > 0 else wrong
