"""One strategy along one trace: how many feeds it redirects, how many loaders it takes, and how many of them get too much."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.feed_traces import AHEAD, HALF, N_FEEDS, Trace
from partitioning.feeds import (
    NO_LOADER,
    STRATEGIES,
    Assignment,
    FeedRequest,
    assign_by_hash,
    assign_feeds,
    assign_round_robin,
    bound_loaders,
)
from partitioning.forecast import ForecastOptions, forecast

CAPACITY = 50_000.0  # about five feeds a loader, so 16 loaders: the paper's middle load level
SPREADING = ("round_robin", "hash")
STRATEGY_NAMES = (*STRATEGIES, *SPREADING)
FORECASTING = ("drf", "drf_m")
N_HISTORY = 30  # windows that forecasts look back on
NAMES = [f"feed-{feed}" for feed in range(N_FEEDS)]


@dataclass(frozen=True, kw_only=True)
class Followed:
    """Means over the windows, the first ones aside."""

    redirected: float
    loaders: float  # over the bound on the window's real rows
    overfull: float  # share of loaders


def follow_feeds(trace: Trace, strategy: str) -> Followed:
    """Assigns before every window, and counts what came of it; the first HALF windows only build up the assignment."""
    owner = np.full(N_FEEDS, NO_LOADER)
    counted = []
    for window in range(2, len(trace.rows)):
        request = _request(trace, window, owner, strategy)
        assignment = _assign(request, strategy)
        owner = assignment.owner
        fill = assignment.fill(trace.rows[window])
        bound = bound_loaders(trace.rows[window], CAPACITY)
        if window >= HALF:
            counted.append((assignment.redirected.size, fill.size / max(1, bound), float(np.mean(fill > 1))))
    redirected, loaders, overfull = np.mean(counted, axis=0).tolist()
    return Followed(redirected=redirected, loaders=loaders, overfull=overfull)


def _request(trace: Trace, window: int, owner: NDArray[np.int64], strategy: str) -> FeedRequest:
    past = trace.rows[max(0, window - N_HISTORY) : window]
    if strategy not in FORECASTING:
        return FeedRequest.of(rate=past[-1], owner=owner, capacity=CAPACITY)
    expected = forecast(past, ForecastOptions(n_ahead=AHEAD)).expected
    return FeedRequest.of(
        rate=past[-1],
        forecast=expected[0],
        later=expected[-1],
        declared=trace.declared[window - 1],
        declared_later=trace.declared_later[window - 1],
        owner=owner,
        capacity=CAPACITY,
    )


def _assign(request: FeedRequest, strategy: str) -> Assignment:
    if strategy not in SPREADING:
        return assign_feeds(request, strategy)
    n_loaders = bound_loaders(
        request.rate, CAPACITY
    )  # told how many would do: they cannot find out themselves
    if strategy == "hash":
        return assign_by_hash(request, NAMES, max(1, n_loaders))
    return assign_round_robin(request, max(1, n_loaders))
