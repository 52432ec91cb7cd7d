"""
PKG, partial key grouping (Nasir et al., Sec. 3): each row to the least loaded of its key's d candidates.

A key may live in all its candidates, so nobody has to remember or agree on anything (key splitting); every source
goes by the rows it sent itself (local load estimation). Each source's choices depend on its earlier ones, row after
row, but sources do not depend on each other: many of them are sent in step, the t-th row of all at once, which
makes the very same choices. Whoever has one long stream and little time may thus deal it to a thousand sources and still
do exactly what the paper does, with S = 1000; the imbalance is at most the sum of the sources' own.
"""

import numpy as np
from numpy.typing import NDArray

from partitioning.splitters.candidates import candidates_of
from partitioning.splitters.options import Choices, PkgOptions
from partitioning.splitters.request import SplitRequest
from partitioning.splitters.sending import send_with

_TWO = 2
_CHUNK = 2**20  # rows whose candidates are in memory at a time
_STEP = 64  # a step of all sources at once costs about as much as this many rows one by one


def split_pkg(request: SplitRequest, options: PkgOptions | None = None) -> NDArray[np.int64]:
    """
    The bucket of each row, in at most ``n_choices`` buckets a key. Ties go to the first candidate.

    Worked, d = 2, one source, key a with candidates 0, 1 and key b with 1, 2: rows a a a b go to 0, 1, 0 and, since
    bucket 1 holds a row and 2 none, to 2.
    """
    options = options or PkgOptions()
    return send_with(
        request, options.estimation, lambda n_sources: PkgSenders(request.n_buckets, n_sources, options)
    )


class PkgSenders:
    """
    S sources, each knowing only what it sent itself; the state of PKG between batches.

    A partition of Spark is one source, or as many as it cares to deal its rows to, see above.
    """

    def __init__(self, n_buckets: int, n_sources: int = 1, choices: Choices | None = None) -> None:
        self._choices = choices or PkgOptions()
        self._choices.check_fits(n_buckets)
        self.load = np.zeros((n_sources, n_buckets), dtype=np.int64)

    def send(self, key_hash: NDArray[np.int64], source: NDArray[np.int64]) -> NDArray[np.int64]:
        """The bucket of each row. However a stream is cut into batches, the answers are the same."""
        bucket = np.empty(key_hash.size, dtype=np.int64)
        chunk = max(_CHUNK, _STEP * self.load.shape[0])  # enough rows a source for steps to pay
        for start in range(0, key_hash.size, chunk):
            rows = slice(start, start + chunk)
            candidates = candidates_of(key_hash[rows], self.load.shape[1], self._choices)
            bucket[rows] = self._send_chunk(candidates, source[rows])
        return bucket

    def _send_chunk(self, candidates: NDArray[np.int64], source: NDArray[np.int64]) -> NDArray[np.int64]:
        by_source = np.argsort(source, kind="stable")
        count = np.bincount(source, minlength=self.load.shape[0])
        send = send_in_step if int(count.max()) * _STEP <= source.size else send_in_turn
        bucket = np.empty(source.size, dtype=np.int64)
        bucket[by_source] = send(self.load, candidates[:, by_source], count)
        return bucket


def send_in_turn(
    load: NDArray[np.int64], candidates: NDArray[np.int64], count: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Source after source, row after row. ``candidates`` are grouped by source, ``count`` rows each; raises ``load``."""
    bucket: list[int] = []
    ends = np.cumsum(count).tolist()
    send = _send_to_two if candidates.shape[0] == _TWO else _send_to_any
    for source in np.flatnonzero(count).tolist():
        known = load[source].tolist()
        rows = slice(ends[source] - int(count[source]), ends[source])
        bucket += send(known, candidates[:, rows].tolist())
        load[source] = known
    return np.array(bucket, dtype=np.int64)


def _send_to_any(known: list[int], candidates: list[list[int]]) -> list[int]:
    bucket = []
    for options in zip(*candidates, strict=True):
        best = min(options, key=known.__getitem__)  # the first of the least loaded
        known[best] += 1
        bucket.append(best)
    return bucket


def _send_to_two(known: list[int], candidates: list[list[int]]) -> list[int]:
    """The same for two candidates, in a third of the time: what nearly everybody asks for."""
    bucket = []
    for first, second in zip(*candidates, strict=True):
        best = second if known[second] < known[first] else first
        known[best] += 1
        bucket.append(best)
    return bucket


def send_in_step(
    load: NDArray[np.int64], candidates: NDArray[np.int64], count: NDArray[np.int64]
) -> NDArray[np.int64]:
    """The same answers and loads as ``send_in_turn``: the t-th row of every source at once, for each t."""
    n_buckets = load.shape[1]
    flat = load.reshape(-1)  # a view: source s has its loads from s * n_buckets on
    most_first = np.argsort(-count, kind="stable")  # so that sources with a t-th row are always the first few
    start = (np.cumsum(count) - count)[most_first]
    base = most_first * n_buckets
    n_sending = np.searchsorted(-count[most_first], -np.arange(int(count.max())), side="left")
    bucket = np.empty(candidates.shape[1], dtype=np.int64)
    for step, n in enumerate(n_sending.tolist()):
        row, own = start[:n] + step, base[:n]
        best = candidates[0, row] + own
        least = flat[best]
        for other in candidates[1:, row] + own:
            other_load = flat[other]
            is_less = other_load < least
            best = np.where(is_less, other, best)
            least = np.where(is_less, other_load, least)
        flat[best] = least + 1
        bucket[row] = best - own
    return bucket
