"""
What every item will cost in the next windows, from what it cost in the last ones.

Planning on a forecast is planning on tomorrow: it pays where popularity has a trend or a cycle, and ``forecast_choice`` says
by backtest whether it does.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike, NDArray

from partitioning.aligned import empty, filled
from partitioning.errors import ForecastError
from partitioning.forecast_fit import fit_smoothing
from partitioning.forecast_history import Cohort, CostHistory
from partitioning.forecast_methods import FITTED, FIXED, METHODS, SEASONAL, Method, Run
from partitioning.smoothing import Smoothing

Floats = NDArray[np.float64]

BLOCK = 17_000  # items at once: few enough for a processor's cache, enough that calls of NumPy cost little
MANY = 2_000  # items, from which on weights for the windows are worth making, if there are ten times as many as windows
MAX_AHEAD = 10_000
MAX_PERIOD = 100_000
MIN_COVERAGE, MAX_COVERAGE = 0.01, 0.9999  # outside, an interval is a point or has no end, up to rounding


@dataclass(frozen=True, kw_only=True)
class ForecastOptions:
    """How to forecast. ``smoothing`` is fitted on the history where it is left out."""

    method: Method = "holt"
    n_ahead: int = 1  # windows
    period: int | None = None  # windows after which the load repeats itself, such as 24 for hours of a day
    smoothing: Smoothing | None = None
    coverage: float | None = 0.8  # share of windows that the interval should hold; None: look at no errors

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise ForecastError(
                f"ForecastOptions.method must be one of {', '.join(METHODS)}. Got {self.method!r}."
                " choose_forecast picks one by backtest."
            )
        _check_count("n_ahead", self.n_ahead, least=1, most=MAX_AHEAD)
        if self.period is not None:
            _check_count("period", self.period, least=2, most=MAX_PERIOD)
        elif self.method in SEASONAL:
            raise ForecastError(
                f"ForecastOptions.period must be given for {self.method}. Got None."
                " Give the windows after which the load repeats itself."
            )
        if self.smoothing is not None and not isinstance(self.smoothing, Smoothing):
            raise ForecastError(
                f"ForecastOptions.smoothing must be a Smoothing, or None. Got {self.smoothing!r}. Give Smoothing(alpha=..., gamma=...)."
            )
        if self.coverage is not None and not (
            isinstance(self.coverage, float) and MIN_COVERAGE <= self.coverage <= MAX_COVERAGE
        ):
            raise ForecastError(
                f"ForecastOptions.coverage must lie between {MIN_COVERAGE} and {MAX_COVERAGE}, or be None. Got {self.coverage!r}."
                " Give 0.8 for intervals that hold in four windows of five, None for no intervals."
            )


def _check_count(field: str, value: object, *, least: int, most: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or not least <= value <= most:
        raise ForecastError(
            f"ForecastOptions.{field} must be a whole number from {least} to {most}. Got {value!r}. Give a count of windows."
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class Forecast:
    """Row k - 1 of each array is for k windows after the last one of the history, column i for item i."""

    expected: Floats  # cost
    low: Floats  # the interval holds the cost with a chance of ``coverage``, if errors stay as they were
    high: Floats
    method: Method
    smoothing: Smoothing  # given or fitted


def forecast(history: ArrayLike | CostHistory, options: ForecastOptions | None = None) -> Forecast:
    """
    The cost of every item in the next ``n_ahead`` windows, never below 0.

    ``history`` has one row a window, the oldest first, and one column an item; NaN where the item was not there. Only what
    follows an item's last NaN counts: a new item is forecast from the windows it has, one that came back begins anew,
    and one that is away in the last window is gone: 0. An item with too few windows for a season is forecast without one.

    An interval is ``expected`` ± z sigma, where sigma comes from the item's own one-window errors on its history (with
    ``coverage`` 0.8, z is 1.28), wider further ahead, and cut at 0. An item with no error to learn from, such as one
    with a single window, has the interval [0, ∞); without a ``coverage`` every item has, if it is not gone.

    The same history and options give the same bits on every machine. Without a ``coverage`` the next window of many items takes half
    the time, and the last bits depend on whether they are many.

    Worked: with alpha = gamma = 0.5 the history 10, 20 is forecast at 17.5, then 20; its one error is 10.
    """
    options = options or ForecastOptions()
    known = CostHistory.of(history)
    smoothing = _smoothing(known, options)
    shape = (options.n_ahead, known.n_items)
    result = Forecast(
        expected=np.zeros(shape),
        low=np.zeros(shape),
        high=np.zeros(shape),
        method=options.method,
        smoothing=smoothing,
    )
    for cohort in known.cohorts():
        _forecast_cohort(cohort, options, result)
    return result


def _smoothing(known: CostHistory, options: ForecastOptions) -> Smoothing:
    if options.method not in FITTED:
        return FIXED[options.method]
    return options.smoothing or fit_smoothing(known, options.method, options.period)


def _forecast_cohort(cohort: Cohort, options: ForecastOptions, result: Forecast) -> None:
    """Fills in these items' columns."""
    n_windows, n_items = cohort.cost.shape
    run = Run.of(options.method, n_windows, options.period)
    smoothing = FIXED.get(run.method, result.smoothing)
    is_weighed = options.coverage is None and options.n_ahead == 1 and n_items >= max(MANY, 10 * n_windows)
    weights = run.weights(smoothing, n_windows) if is_weighed else None
    for first in range(0, n_items, BLOCK):
        block = slice(first, min(first + BLOCK, n_items))
        columns = block if isinstance(cohort.items, slice) else cohort.items[block]
        cost = cohort.cost[:, block]
        ahead = _run(run, cost, smoothing, options) if weights is None else _weigh(cost, weights)
        for row, (expected, margin) in enumerate(ahead):
            result.expected[row, columns] = np.maximum(expected, 0.0)
            result.low[row, columns] = np.maximum(expected - margin, 0.0)
            result.high[row, columns] = np.maximum(expected + margin, 0.0)


def _weigh(cost: Floats, weights: Floats) -> list[tuple[Floats, Floats]]:
    """The sum of the windows, each by its weight, and an interval without end; a window of no weight is not touched."""
    total, scratch = filled(0.0, cost.shape[1:]), empty(cost.shape[1:])
    for window in np.flatnonzero(weights).tolist():
        total += np.multiply(cost[window], weights[window], out=scratch)
    return [(total, np.full(total.shape, np.inf))]


def _run(
    run: Run, cost: Floats, smoothing: Smoothing, options: ForecastOptions
) -> Iterator[tuple[Floats, Floats]]:
    """Runs through the windows; then what is expected in each window ahead, and half the width of its interval."""
    n_windows, n_items = cost.shape
    state = run.begin(cost, (n_items,))
    squares = filled(0.0, (n_items,))
    for window, miss in run.misses(state, cost, smoothing.alpha, smoothing.gamma, smoothing.delta):
        if options.coverage is not None and window >= run.n_warm_up:
            squares += np.multiply(miss, miss, out=state.scratch)
    n_errors = n_windows - run.n_warm_up
    if options.coverage is None or n_errors <= 0:
        margin = np.full(n_items, np.inf)
    else:
        margin = NormalDist().inv_cdf((1 + options.coverage) / 2) * np.sqrt(squares / n_errors)
    for row, growth in enumerate(run.growth(smoothing, n_windows, options.n_ahead)):
        yield state.ahead(row + 1, (n_windows + row) % run.period), growth * margin
