"""What most systems do: feeds over a given number of loaders, whatever they bring. What the strategies are compared with."""

from collections.abc import Sequence

import numpy as np

from partitioning.errors import FeedError
from partitioning.feeds.assignment import Assignment
from partitioning.feeds.request import FeedRequest
from partitioning.hashing import hash_keys


def assign_round_robin(request: FeedRequest, n_loaders: int) -> Assignment:
    """Feed i to loader i modulo the number of loaders."""
    _check_loaders(n_loaders)
    return Assignment(request=request, owner=np.arange(request.n_feeds) % n_loaders, strategy="round_robin")


def assign_by_hash(request: FeedRequest, names: Sequence[str], n_loaders: int) -> Assignment:
    """Each feed by the hash of its name."""
    _check_loaders(n_loaders)
    if len(names) != request.n_feeds:
        raise FeedError(
            f"names must have {request.n_feeds} values, as the request has feeds. Got {len(names)}. Give one name a feed."
        )
    hashes = hash_keys(np.array(names, dtype=object), "string")
    return Assignment(request=request, owner=np.asarray(hashes % n_loaders), strategy="hash")


def _check_loaders(n_loaders: int) -> None:
    if isinstance(n_loaders, bool) or not isinstance(n_loaders, int) or n_loaders < 1:
        raise FeedError(
            f"n_loaders must be a whole number from 1. Got {n_loaders!r}. Give at least one loader."
        )
