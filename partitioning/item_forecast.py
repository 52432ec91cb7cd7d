"""
The next window's cost of slots and heavy keys, each kind by the forecast that suits it.

Slots are sums of many keys and waver around a level; single keys rise and fall. One method for both would be chosen by the kind that has more
cost, and be wrong for the other: on keys that walk at random beside slots that do not, plans made on such a forecast had θ 0.121
where those on the last window had 0.089.
"""

from dataclasses import dataclass, replace
from typing import cast

import numpy as np
from numpy.typing import NDArray

from partitioning.forecast import ForecastOptions, forecast
from partitioning.forecast_choice import choose_forecast
from partitioning.forecast_history import CostHistory
from partitioning.forecast_methods import METHODS, SEASONAL, Method

Floats = NDArray[np.float64]

LAST = "last"  # the last window as it was
CHOSEN = "chosen"  # the method with the least error on windows that it had not seen, for each kind of items
FORECASTS = (LAST, CHOSEN, *METHODS)


@dataclass(frozen=True, kw_only=True, eq=False)
class ItemForecast:
    """One number an item: slots first, then keys, as in the history."""

    expected: Floats
    low: Floats
    high: Floats
    methods: tuple[str, ...]  # of the slots, and of the keys if there are any


def forecasts_for(period: int | None) -> tuple[str, ...]:
    """The names that can be asked for: seasons only where a period is declared."""
    return tuple(name for name in FORECASTS if period or name not in SEASONAL)


def forecast_items(history: CostHistory, n_slots: int, name: str, options: ForecastOptions) -> ItemForecast:
    """
    ``name`` is one of ``FORECASTS``; ``options`` give all but the method, for one window ahead.

    ``LAST`` is the last window itself, with nothing to say about intervals: [0, ∞).
    """
    if name == LAST:
        last = np.nan_to_num(history.cost[-1])
        return ItemForecast(
            expected=last, low=np.zeros(last.size), high=np.full(last.size, np.inf), methods=(LAST,)
        )
    kinds = [history.columns(slice(0, n_slots)), history.columns(slice(n_slots, None))]
    made = [forecast(kind, _options(name, kind, options)) for kind in kinds if kind.n_items]
    return ItemForecast(
        expected=np.concatenate([one.expected[0] for one in made]),
        low=np.concatenate([one.low[0] for one in made]),
        high=np.concatenate([one.high[0] for one in made]),
        methods=tuple(one.method for one in made),
    )


def _options(name: str, history: CostHistory, options: ForecastOptions) -> ForecastOptions:
    if name == CHOSEN:
        return choose_forecast(history, options).options
    return replace(options, method=cast("Method", name))
