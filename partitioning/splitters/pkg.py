"""
PKG, partial key grouping (Nasir et al., Sec. 3): each row to the least loaded of its key's d candidates.

A key may live in all its candidates, so nobody has to remember or agree on anything (key splitting); every source
goes by the rows it sent itself (local load estimation). Each source's choices depend on its earlier ones, row after
row, but sources do not depend on each other: many of them are sent in step, the t-th row of all at once, which
makes the very same choices in about half the time. Whoever has one long stream may thus deal it to a thousand
sources and still do exactly what the paper does, with S = 1000; the imbalance is at most the sum of the sources' own.
"""

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from partitioning.splitters.candidates import candidates_of
from partitioning.splitters.options import Choices, PkgOptions
from partitioning.splitters.request import SplitRequest, turns_of
from partitioning.splitters.sending import send_with

_TWO = 2
_CHUNK = 2**20  # rows whose candidates are in memory at a time
_STEP = 64  # a step of all sources at once costs about as much as this many rows one by one
N_DEALT = 256  # sources that one long stream is dealt to: more are quicker, and less even by two rows each


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
        most_rows = int(np.bincount(source).max())  # of any source: the number of steps
        send = send_in_step if most_rows * _STEP <= source.size else send_in_turn
        return send(self.load, candidates, source)


class DealtPkgSource:
    """One long stream, its rows dealt to ``N_DEALT`` sources in turn: each of them is a source of the paper."""

    def __init__(self, n_buckets: int, options: Choices) -> None:
        self._senders = PkgSenders(n_buckets, N_DEALT, options)
        self._n_sent = 0

    def send(self, key_hash: NDArray[np.int64]) -> NDArray[np.int64]:
        """The bucket of each row. However the stream is cut into batches, the answers are the same."""
        source = (self._n_sent + np.arange(key_hash.size)) % N_DEALT
        self._n_sent += key_hash.size
        return self._senders.send(key_hash, source)


def send_in_turn(
    load: NDArray[np.int64], candidates: NDArray[np.int64], source: NDArray[np.int64]
) -> NDArray[np.int64]:
    """The bucket of each row, source after source, row after row; raises ``load``."""
    bucket = np.empty(source.size, dtype=np.int64)
    order = np.argsort(source, kind="stable")
    send = _send_to_two if candidates.shape[0] == _TWO else _send_to_any
    for rows in np.split(order, np.flatnonzero(np.diff(source[order])) + 1):
        if rows.size:
            known = load[source[rows[0]]].tolist()
            bucket[rows] = send(known, candidates[:, rows].tolist())
            load[source[rows[0]]] = known
    return bucket


def _send_to_any(known: list[int], candidates: list[list[int]]) -> list[int]:
    bucket = []
    for options in zip(*candidates, strict=True):
        best = min(options, key=known.__getitem__)  # the first of the least loaded
        known[best] += 1
        bucket.append(best)
    return bucket


def _send_to_two(known: list[int], candidates: list[list[int]]) -> list[int]:
    """The same for two candidates, faster: what nearly everybody asks for."""
    bucket = []
    for first, second in zip(*candidates, strict=True):
        best = second if known[second] < known[first] else first
        known[best] += 1
        bucket.append(best)
    return bucket


def send_in_step(
    load: NDArray[np.int64], candidates: NDArray[np.int64], source: NDArray[np.int64]
) -> NDArray[np.int64]:
    """The same answers and loads as ``send_in_turn``: the t-th row of every source at once, for each t."""
    flat = load.reshape(-1)  # a view: source s has its loads from s * n_buckets on
    turn = turns_of(source)
    order = np.argsort(turn, kind="stable")
    own = source[order] * load.shape[1]
    places = candidates[:, order] + own
    sent = np.empty(source.size, dtype=np.int64)
    for start, end in pairwise([0, *np.cumsum(np.bincount(turn)).tolist()]):
        best = places[0, start:end]
        least = flat[best]
        for other in places[1:, start:end]:
            other_load = flat[other]
            best = np.where(other_load < least, other, best)
            least = np.minimum(other_load, least)
        flat[best] = least + 1
        sent[start:end] = best
    bucket = np.empty(source.size, dtype=np.int64)
    bucket[order] = sent - own
    return bucket
