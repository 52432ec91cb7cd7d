"""
Which loader reads which feed: few loaders, none above its capacity, few feeds that change loader from window to window.

Balkesen, Tatbul, Özsu, *Adaptive input admission and management for parallel stream processing*, DEBS 2013, Sec. 2.
"""

from partitioning.feeds.assignment import Assignment
from partitioning.feeds.packing import bound_loaders
from partitioning.feeds.request import NO_LOADER, FeedRequest
from partitioning.feeds.skeleton import assign_feeds
from partitioning.feeds.spreading import assign_by_hash, assign_round_robin
from partitioning.feeds.strategies import STRATEGIES

__all__ = [
    "NO_LOADER",
    "STRATEGIES",
    "Assignment",
    "FeedRequest",
    "assign_by_hash",
    "assign_feeds",
    "assign_round_robin",
    "bound_loaders",
]
