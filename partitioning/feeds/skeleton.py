"""Algorithm 1 of Balkesen et al.: relieve loaders that have too much, and pack what left them and what is new."""

import numpy as np
from numpy.typing import NDArray

from partitioning.errors import FeedError
from partitioning.feeds.assignment import Assignment
from partitioning.feeds.packing import ROUNDING, Loaders
from partitioning.feeds.request import NO_LOADER, FeedRequest
from partitioning.feeds.strategies import STRATEGIES

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


def assign_feeds(request: FeedRequest, strategy: str = "drf_m") -> Assignment:
    """
    Gives every feed a loader, by a strategy of ``STRATEGIES``.

    No loader gets more than its capacity, in the sizes that the strategy goes by, unless a single feed is above it: that feed has a
    loader for itself. A feed moves only if its loader would have too much (``par`` asks nobody and packs everything anew).
    As in the paper, a loader that was relieved takes no feeds in the same window, and only an empty one is given back. Ties
    go to the feed that comes first and to the loader with the lower id.
    """
    if strategy not in STRATEGIES:
        raise FeedError(f"strategy must be one of {', '.join(STRATEGIES)}. Got {strategy!r}. Take drf_m.")
    chosen = STRATEGIES[strategy]
    size, room, urgency = chosen.size(request), chosen.room(request), chosen.urgency(request)
    owner = np.full(request.n_feeds, NO_LOADER) if chosen.begins_anew else request.owner.copy()
    loaders = Loaders(capacity=request.capacity)
    limit = request.capacity * (1 + ROUNDING)
    for loader in np.unique(owner[owner != NO_LOADER]).tolist():
        feeds = np.flatnonzero(owner == loader)
        is_overloaded = size[feeds].sum() > limit
        leaving = _pick(feeds, room, urgency, limit) if is_overloaded else feeds[:0]
        owner[leaving] = NO_LOADER
        if leaving.size:
            loaders.taken_ids.add(loader)
        else:
            loaders.add(loader, float(room[feeds].sum()))
    waiting = np.flatnonzero(owner == NO_LOADER)
    for feed in waiting[np.argsort(-room[waiting], kind="stable")]:
        owner[feed] = loaders.place(float(room[feed]))
    return Assignment(request=request, owner=owner, strategy=strategy)


def _pick(feeds: Integers, room: Floats, urgency: Floats, limit: float) -> Integers:
    """The feeds that leave a loader: the most urgent, until there is room for the others or one is left that would fit nowhere."""
    order = feeds[np.argsort(-urgency[feeds], kind="stable")]
    left = np.append(np.cumsum(room[order][::-1])[::-1], 0.0)  # what stays if the first 0, 1, … feeds leave
    n_leaving = int(np.argmax(left <= limit))
    return order[: min(n_leaving, feeds.size - 1)]
