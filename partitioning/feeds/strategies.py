"""
The paper's five strategies: what a feed counts for, how much room it is given, which feeds leave a loader that has too much.

All of them call a loader overloaded if its feeds' sizes exceed its capacity (isOverloaded; the paper watches queues, of which there are none
here). Feeds leave it until the others' room fits, and what is to be placed is, by descending room (PlacementOrder). The room of the
forecasting ones reaches k windows ahead: "initial movements are provisioned for future rates" (Sec. 6.2.1). With room for the next
window alone a rising feed would move in every window.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from partitioning.feeds.request import FeedRequest

Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Strategy:
    """The methods that Algorithm 1 leaves open."""

    size: Callable[[FeedRequest], Floats]  # rows a feed counts for in the next window
    room: Callable[[FeedRequest], Floats]  # rows it is given room for where it is placed: no less
    urgency: Callable[[FeedRequest], Floats]  # pickStreamsToMove: the highest leaves first
    begins_anew: bool = False  # every feed may move, and all loaders begin empty
    looks_ahead: bool = False  # goes by what is forecast and declared, and not by the last window alone


def _rate(request: FeedRequest) -> Floats:
    return request.rate


def _negative_rate(request: FeedRequest) -> Floats:
    return -request.rate


def _forecast(request: FeedRequest) -> Floats:
    return request.forecast


def _declared_or_forecast(request: FeedRequest) -> Floats:
    return np.where(np.isnan(request.declared), request.forecast, request.declared)


def _forecast_room(request: FeedRequest) -> Floats:
    return np.maximum(request.forecast, request.later)


def _declared_or_forecast_room(request: FeedRequest) -> Floats:
    return np.maximum(_declared_or_forecast(request), _declared_later(request))


def _declared_later(request: FeedRequest) -> Floats:
    return np.where(np.isnan(request.declared_later), request.later, request.declared_later)


def _rise(request: FeedRequest) -> Floats:
    """Delta RF: what the feed is forecast to bring later, above what it brings next."""
    return request.later - request.forecast


def _declared_rise(request: FeedRequest) -> Floats:
    """Delta RF-M: the same, with what was declared in place of the later forecast."""
    return _declared_later(request) - request.forecast


STRATEGIES: dict[str, Strategy] = {
    "par": Strategy(size=_rate, room=_rate, urgency=_rate, begins_anew=True),  # plain average rate
    "ari": Strategy(size=_rate, room=_rate, urgency=_negative_rate),  # average rate, increasing
    "ard": Strategy(size=_rate, room=_rate, urgency=_rate),  # average rate, decreasing
    "drf": Strategy(
        size=_forecast, room=_forecast_room, urgency=_rise, looks_ahead=True
    ),  # delta rate forecast
    "drf_m": Strategy(  # with meta-data
        size=_declared_or_forecast,
        room=_declared_or_forecast_room,
        urgency=_declared_rise,
        looks_ahead=True,
    ),
}
