"""Whole requests from senders that keep loads: what each source knows, and when it is told the truth."""

from collections.abc import Callable, Iterator
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from partitioning.splitters.options import Estimation
from partitioning.splitters.request import SplitRequest


class Senders(Protocol):
    """A number of sources that send rows by the load each of them knows, batch after batch."""

    load: NDArray[np.int64]  # sources x buckets: what each source believes

    def send(self, key_hash: NDArray[np.int64], source: NDArray[np.int64]) -> NDArray[np.int64]:
        """The bucket of each row. However a stream is cut into batches, the answers are the same."""
        ...


class Source(Protocol):
    """One source within one window, which needs no other."""

    def send(self, key_hash: NDArray[np.int64]) -> NDArray[np.int64]:
        """The bucket of each row. However the window is cut into batches, the answers are the same."""
        ...


def send_with(
    request: SplitRequest, estimation: Estimation, make: Callable[[int], Senders]
) -> NDArray[np.int64]:
    """The bucket of each row; ``make`` is given the number of sources."""
    if estimation.is_global:  # sources that all know the truth are one source
        return make(1).send(request.key_hash, np.zeros(request.n_rows, dtype=np.int64))
    senders = make(request.n_sources)
    if estimation.probe_every is None:
        return senders.send(request.key_hash, request.source_place)
    return _send_probing(request, estimation, senders)


def _send_probing(request: SplitRequest, estimation: Estimation, senders: Senders) -> NDArray[np.int64]:
    """The bucket of each row; before every few rows all sources, or the next one, are told the true loads."""
    bucket = np.empty(request.n_rows, dtype=np.int64)
    true_load = np.zeros(request.n_buckets, dtype=np.int64)
    n_sources, every = senders.load.shape[0], estimation.probe_every or 1
    step = max(1, every // n_sources) if estimation.is_in_turn else every
    for probe, start in enumerate(range(0, request.n_rows, step)):
        rows = slice(start, start + step)
        senders.load[probe % n_sources if estimation.is_in_turn else slice(None)] = true_load
        bucket[rows] = senders.send(request.key_hash[rows], request.source_place[rows])
        true_load += np.bincount(bucket[rows], minlength=request.n_buckets)
    return bucket


def send_by_window(request: SplitRequest, make: Callable[[], Source]) -> NDArray[np.int64]:
    """The bucket of each row, every source forgetting everything at each window (Katsipoulakis et al., Alg. 1)."""
    bucket = np.empty(request.n_rows, dtype=np.int64)
    for rows in _rows_by_source_and_window(request):
        bucket[rows] = make().send(request.key_hash[rows])
    return bucket


def _rows_by_source_and_window(request: SplitRequest) -> Iterator[NDArray[np.int64]]:
    """The rows of each source in each window, in arrival order."""
    if not request.n_rows:
        return
    order = np.argsort(request.source, kind="stable")  # windows never fall: they stay in order
    source, window = request.source[order], request.window[order]
    changes = np.flatnonzero((source[1:] != source[:-1]) | (window[1:] != window[:-1])) + 1
    yield from np.split(order, changes)
