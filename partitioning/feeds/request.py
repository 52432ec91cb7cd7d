"""What an assignment is made from: what feeds bring, and which loader reads each of them today."""

import sys
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from partitioning.errors import FeedError

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

NO_LOADER = -1
MAX_RATE = 2.0**53


@dataclass(frozen=True, kw_only=True, eq=False)
class FeedRequest:
    """
    Feeds to assign. Position i of each array describes the same feed; use ``of`` to make one.

    A feed of which nothing is known is taken for an average one (Sec. 2.4 of the paper): where its rate or forecast is NaN, it
    gets the mean of the others', or 0 if nothing is known of any.
    """

    rate: Floats  # rows in the last window
    forecast: Floats  # rows expected in the next window
    later: Floats  # rows expected k windows from now
    declared: Floats  # what its owner says it will bring in the next window; NaN: nothing was declared
    declared_later: Floats  # and the most it will within k windows, forecast where nothing is said of one; as declared unless more is said
    owner: Integers  # loader that reads it today, NO_LOADER for a new feed
    capacity: float  # rows a loader reads in a window

    @classmethod
    def of(  # noqa: PLR0913  (the front door: one argument a fact)
        cls,
        *,
        rate: ArrayLike,
        owner: ArrayLike,
        capacity: float,
        forecast: ArrayLike | None = None,
        later: ArrayLike | None = None,
        declared: ArrayLike | None = None,
        declared_later: ArrayLike | None = None,
    ) -> "FeedRequest":
        """Without a forecast the last rate is expected; without ``later``, what is forecast for the next window; so with what is declared."""
        is_number = isinstance(capacity, int | float | np.number) and not isinstance(capacity, bool)
        if not is_number or not 0 < capacity <= sys.float_info.max:
            raise FeedError(
                f"FeedRequest.capacity must be a finite number above 0. Got {capacity!r}."
                " Give the rows a loader reads in a window."
            )
        owners = _as_loaders(owner)
        rates = _as_rates("rate", rate, owners.size)
        forecasts = rates if forecast is None else _as_rates("forecast", forecast, owners.size)
        laters = forecasts if later is None else _as_rates("later", later, owners.size)
        unknown = np.full(owners.size, np.nan)
        says = unknown if declared is None else _as_rates("declared", declared, owners.size)
        says_later = (
            says if declared_later is None else _as_rates("declared_later", declared_later, owners.size)
        )
        return cls(
            rate=_with_average(rates),
            forecast=_with_average(forecasts),
            later=_with_average(laters),
            declared=says,
            declared_later=np.where(np.isnan(says_later), says, says_later),
            owner=owners,
            capacity=float(capacity),
        )

    @property
    def n_feeds(self) -> int:
        return self.owner.size


def _as_loaders(value: ArrayLike) -> Integers:
    array = np.asarray(value)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise FeedError(
            f"FeedRequest.owner must be a flat array of whole numbers. Got shape {array.shape}, dtype {array.dtype}."
            f" Give each feed's loader, {NO_LOADER} for a new feed."
        )
    if array.size and array.min() < NO_LOADER:
        raise FeedError(
            f"FeedRequest.owner must be {NO_LOADER} or more. Got {array.min()} at position {array.argmin()}."
            f" Give each feed's loader, {NO_LOADER} for a new feed."
        )
    return array.astype(np.int64)


def _as_rates(field: str, value: ArrayLike, n_feeds: int) -> Floats:
    try:
        rates = np.array(value, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise FeedError(
            f"FeedRequest.{field} must hold numbers. Got others ({error}). Give one rate a feed."
        ) from None
    if rates.shape != (n_feeds,):
        raise FeedError(
            f"FeedRequest.{field} must have {n_feeds} values, as owner has. Got shape {rates.shape}. Give one rate a feed."
        )
    bad = np.flatnonzero((rates < 0) | (rates >= MAX_RATE))
    if bad.size:
        raise FeedError(
            f"FeedRequest.{field} must hold rates from 0 up and below 2^53, or NaN where nothing is known. Got"
            f" {rates[bad[0]].item()!r} at position {bad[0]} ({bad.size} of {n_feeds} feeds). Mend or drop these feeds."
        )
    return rates


def _with_average(rates: Floats) -> Floats:
    is_known = ~np.isnan(rates)
    average = float(rates[is_known].mean()) if is_known.any() else 0.0
    return np.where(is_known, rates, average)
