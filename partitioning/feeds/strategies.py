"""
The paper's five strategies: what a feed counts for, which feeds leave a loader that has too much, and in which order.

All of them place what is to be placed by descending size (PlacementOrder), and call a loader overloaded if its feeds' sizes exceed
its capacity (isOverloaded; the paper watches queues, of which there are none here).
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

    size: Callable[[FeedRequest], Floats]  # rows a feed counts for
    urgency: Callable[[FeedRequest], Floats]  # pickStreamsToMove: the highest leaves first
    begins_anew: bool = False  # every feed may move, and all loaders begin empty


def _rate(request: FeedRequest) -> Floats:
    return request.rate


def _negative_rate(request: FeedRequest) -> Floats:
    return -request.rate


def _forecast(request: FeedRequest) -> Floats:
    return request.forecast


def _declared_or_forecast(request: FeedRequest) -> Floats:
    return np.where(np.isnan(request.declared), request.forecast, request.declared)


def _rise(request: FeedRequest) -> Floats:
    """Delta RF: what the feed is forecast to bring later, above what it brings next."""
    return request.later - request.forecast


def _declared_rise(request: FeedRequest) -> Floats:
    """Delta RF-M: the same, with what was declared in place of the later forecast."""
    later = np.where(np.isnan(request.declared), request.later, request.declared)
    return later - request.forecast


STRATEGIES: dict[str, Strategy] = {
    "par": Strategy(size=_rate, urgency=_rate, begins_anew=True),  # plain average rate
    "ari": Strategy(size=_rate, urgency=_negative_rate),  # average rate, increasing
    "ard": Strategy(size=_rate, urgency=_rate),  # average rate, decreasing
    "drf": Strategy(size=_forecast, urgency=_rise),  # delta rate forecast
    "drf_m": Strategy(size=_declared_or_forecast, urgency=_declared_rise),  # with meta-data
}
