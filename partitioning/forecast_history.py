"""What forecasts are made from: the cost of every item in every window, checked, and grouped by when items appeared."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from partitioning.errors import ForecastError

Floats = NDArray[np.float64]

MAX_COST = 2.0**53  # from here on a float64 no longer holds every whole number
_MAX_BITS = np.float64(MAX_COST).view(np.uint64)


@dataclass(frozen=True, kw_only=True, eq=False)
class Cohort:
    """Items that appeared in the same window. All of them were there in every window since."""

    items: NDArray[np.int64] | slice  # columns of the history
    cost: Floats  # a row a window since they appeared, a column an item


@dataclass(frozen=True, kw_only=True, eq=False)
class CostHistory:
    """The cost of every item in every window: one row a window, the oldest first; one column an item."""

    cost: Floats  # NaN where the item was not there
    has_gaps: bool  # False: no NaN

    @classmethod
    def of(cls, history: "ArrayLike | CostHistory") -> "CostHistory":
        """The history, checked: costs are finite, 0 or more and below 2^53, or NaN."""
        if isinstance(history, CostHistory):
            return history
        cost = _as_floats(history)
        has_gaps = not _is_plain(cost)
        if has_gaps:
            _check_costs(cost)
        return cls(cost=cost, has_gaps=has_gaps)

    @property
    def n_windows(self) -> int:
        return len(self.cost)

    @property
    def n_items(self) -> int:
        return int(self.cost.shape[1])

    def before(self, window: int) -> "CostHistory":
        """What was known when this window began."""
        return replace(self, cost=self.cost[:window])

    def columns(self, items: "slice | NDArray[np.int64]") -> "CostHistory":
        """The same windows of some items."""
        cost = np.ascontiguousarray(self.cost[:, items])
        return CostHistory(cost=cost, has_gaps=self.has_gaps and not _is_plain(cost))

    def newest(self, n_windows: int) -> "CostHistory":
        return replace(self, cost=self.cost[-n_windows:])

    def cohorts(self) -> Iterator[Cohort]:
        """
        The items by the window they appeared in, which is the one after their last NaN.

        So an item that was away begins anew when it returns, and one that is away in the last window (gone, or never
        there) is in no cohort.
        """
        if not self.has_gaps:
            if self.n_windows:
                yield Cohort(items=slice(None), cost=self.cost)
            return
        is_away = np.isnan(self.cost)
        since = np.where(is_away.any(axis=0), self.n_windows - is_away[::-1].argmax(axis=0), 0)
        for first in np.unique(since[since < self.n_windows]):
            items = np.flatnonzero(since == first)
            yield Cohort(items=items, cost=np.ascontiguousarray(self.cost[first:, items]))


def _as_floats(history: ArrayLike) -> Floats:
    try:
        n_axes = np.ndim(history)
        cost = np.ascontiguousarray(history, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise ForecastError(
            f"history must hold numbers. Got something else ({error}). Give one row a window, one column an item."
        ) from None
    if n_axes != 2:  # noqa: PLR2004  (windows and items)
        raise ForecastError(
            f"history must have one row a window and one column an item. Got shape {np.shape(history)}."
            " Stack the windows with np.stack."
        )
    return cost


def _is_plain(cost: Floats) -> bool:
    """
    Whether there is neither NaN nor a cost that may not be; False for -0.0, too, which a closer look lets pass.

    One pass: the bits of floats from 0 up, read as whole numbers, are in the order of the floats; a sign, an infinity or a
    NaN sets higher bits than any cost has.
    """
    return cost.size == 0 or bool(cost.view(np.uint64).max() < _MAX_BITS)


def _check_costs(cost: Floats) -> None:
    is_bad = (cost < 0) | (cost >= MAX_COST)
    if is_bad.any():
        window, item = np.argwhere(is_bad)[0].tolist()
        raise ForecastError(
            "history must hold costs from 0 up and below 2^53, or NaN where an item was not there. Got"
            f" {cost[window, item].item()!r} in window {window}, item {item} ({is_bad.sum()} of {cost.size} costs)."
            " Clip or drop these items, or give a coarser unit."
        )
