"""
Lossy counting: which keys of a stream are frequent, in memory that grows with the logarithm of its length.

Sources: B. Gedik, "Partitioning functions for stateful data parallelism in stream processing", Sec. 4.1.2; the method
is Manku and Motwani's ("Approximate frequency counts over data streams", VLDB 2002). Keys come in batches; how a
stream is cut into batches changes nothing.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from partitioning.errors import PlanRequestError

ERROR_SHARE = 0.1  # ε as a share of δ: an absolute 0.1 would be far above any useful δ


@dataclass(frozen=True, kw_only=True, eq=False)
class FrequentKeys:
    """Keys, ascending, with what was counted of each among ``n_seen`` tuples."""

    keys: NDArray[np.generic]
    count: NDArray[np.int64]  # never above the true count, and below it by at most ``error``
    error: NDArray[np.int64]  # tuples of the key that may have been missed: at most ε · n_seen
    n_seen: int  # tuples counted over

    @property
    def frequency(self) -> NDArray[np.float64]:
        """Share of the stream, from ``count``: never above the truth."""
        return np.asarray(self.count / max(self.n_seen, 1), dtype=np.float64)


class LossyCounter:
    """
    Approximate counts of the frequent keys of everything added so far, n tuples.

    Promises: no count is above the truth; a count, or a key that is not kept, is below the truth by at most ε · n; so
    ``frequent(support)``, for a support above ε, holds every key of at least support · n tuples, and none of fewer than
    (support - ε) · n.

    Memory: with w = ⌈1/ε⌉ and B = n/w windows closed, at most w · (1 + 1/2 + … + 1/B) entries, about (1/ε) · ln(ε · n),
    and at most w more until the next window closes; 24 bytes each for 8-byte keys.
    Time: one sort of each window of w tuples, and one merge with the entries.
    """

    def __init__(self, epsilon: float) -> None:
        _check_epsilon(epsilon)
        self.epsilon = epsilon
        self.window = math.ceil(1.0 / epsilon)  # w of Sec. 4.1.2
        self.n_seen = 0
        self._keys: NDArray[np.generic] | None = None  # ascending; None until the first tuple tells the type
        self._count = np.zeros(0, dtype=np.int64)  # c_a
        self._error = np.zeros(0, dtype=np.int64)  # c_e

    @property
    def n_entries(self) -> int:
        return self._count.size

    def add(self, keys: ArrayLike) -> None:
        """Counts a batch of keys, one a tuple: integers, strings, bytes or dates, of one kind throughout."""
        batch = _as_keys(keys)
        if batch.size == 0:
            return
        self._check_kind(batch)
        start = 0
        while start < batch.size:
            room = self.window - self.n_seen % self.window
            piece = batch[start : start + room]
            self._count_within_window(piece)
            start += piece.size
            if self.n_seen % self.window == 0:
                self._close_window()

    def entries(self) -> FrequentKeys:
        """Everything that is kept, frequent or not."""
        keys = np.zeros(0, dtype=np.int64) if self._keys is None else self._keys.copy()
        return FrequentKeys(keys=keys, count=self._count.copy(), error=self._error.copy(), n_seen=self.n_seen)

    def frequent(self, support: float) -> FrequentKeys:
        """The keys counted at least (support - ε) · n times: all that reach support · n are among them."""
        if not support > self.epsilon:  # NaN too
            raise PlanRequestError(
                f"support must be above epsilon = {self.epsilon:g}: rarer keys may have been dropped. Got {support}."
                " Give the share of the stream from which on a key matters, or count with a smaller epsilon."
            )
        kept = self.entries()
        # A count may lack up to ε · n; the small slack keeps rounding from dropping a key at the very edge.
        is_frequent = kept.count >= (support - self.epsilon) * self.n_seen * (1.0 - 1e-12)
        return FrequentKeys(
            keys=kept.keys[is_frequent],
            count=kept.count[is_frequent],
            error=kept.error[is_frequent],
            n_seen=self.n_seen,
        )

    def _check_kind(self, batch: NDArray[np.generic]) -> None:
        if self._keys is not None and self._keys.dtype.kind != batch.dtype.kind:
            raise PlanRequestError(
                f"keys must be of one kind throughout. Got {batch.dtype} after {self._keys.dtype}."
                " Cast every batch to the type of the key column."
            )

    def _count_within_window(self, piece: NDArray[np.generic]) -> None:
        """Within a window nothing is evicted, so its tuples may be counted in any order, and together."""
        index = self.n_seen // self.window + 1  # i of Sec. 4.1.2, from 1
        fresh_keys, fresh_count = np.unique(piece, return_counts=True)
        known = fresh_keys[:0] if self._keys is None else self._keys
        merged, place = np.unique(np.concatenate([known, fresh_keys]), return_inverse=True)
        count = np.zeros(merged.size, dtype=np.int64)
        error = np.full(merged.size, index - 1, dtype=np.int64)  # what a new key may have lost so far
        count[place[: known.size]] = self._count
        error[place[: known.size]] = self._error
        count[place[known.size :]] += fresh_count
        self._keys, self._count, self._error = merged, count, error
        self.n_seen += piece.size

    def _close_window(self) -> None:
        """Evicts keys that cannot have reached ε · n, at the end of window i."""
        index = self.n_seen // self.window
        is_kept = self._count + self._error > index
        assert self._keys is not None  # noqa: S101  (a window closes only after tuples)
        self._keys, self._count, self._error = self._keys[is_kept], self._count[is_kept], self._error[is_kept]


class SlidingLossyCounter:
    """
    Lossy counting of the recent past: ``n_counters`` counters over tumbling windows take turns (Sec. 4.1.2, Fig. 2).

    The counter in use has seen at least the last ``window`` tuples, and fewer than (1 + 1/(n_counters - 1)) · window;
    before ``window`` tuples came, all there are. ``window`` is rounded up to a multiple of n_counters - 1. Promises are
    those of ``LossyCounter`` over the span the counter in use has seen, ``n_seen`` tuples; memory is n_counters times its.
    """

    def __init__(self, epsilon: float, *, window: int, n_counters: int = 3) -> None:
        _check_epsilon(epsilon)
        if n_counters < 2:  # noqa: PLR2004  (one is in use while another fills)
            raise PlanRequestError(
                f"n_counters must be 2 or more. Got {n_counters}. Give 3, as the paper does."
            )
        if window < 1:
            raise PlanRequestError(
                f"window must be 1 or more. Got {window}. Give the number of recent tuples to keep."
            )
        self.epsilon = epsilon
        self.step = -(-window // (n_counters - 1))  # tuples between the restarts of two counters
        self.window = self.step * (n_counters - 1)
        self.n_counters = n_counters
        self._n_total = 0
        self._counters = [LossyCounter(epsilon)]  # oldest first: the one in use

    @property
    def n_seen(self) -> int:
        """Tuples the counter in use has seen."""
        return self._counters[0].n_seen

    @property
    def n_entries(self) -> int:
        """Entries of all counters: what this takes in memory."""
        return sum(counter.n_entries for counter in self._counters)

    def add(self, keys: ArrayLike) -> None:
        """Counts a batch of keys, one a tuple, oldest first."""
        batch = _as_keys(keys)
        start = 0
        while start < batch.size:
            room = self.step - self._n_total % self.step
            piece = batch[start : start + room]
            for counter in self._counters:
                counter.add(piece)
            start += piece.size
            self._n_total += piece.size
            if self._n_total % self.step == 0:
                self._start_counter()

    def entries(self) -> FrequentKeys:
        """Everything that the counter in use keeps."""
        return self._counters[0].entries()

    def frequent(self, support: float) -> FrequentKeys:
        """The keys that the counter in use holds for frequent; see ``LossyCounter.frequent``."""
        return self._counters[0].frequent(support)

    def _start_counter(self) -> None:
        """A new counter begins; the oldest retires once the next one has seen a whole window."""
        self._counters.append(LossyCounter(self.epsilon))
        if len(self._counters) > self.n_counters:
            self._counters.pop(0)


def counting_error(delta: float) -> float:
    """The ε to count with when keys from frequency δ on matter: a tenth of δ, and below 1."""
    return min(ERROR_SHARE * delta, 0.5)


def _as_keys(keys: ArrayLike) -> NDArray[np.generic]:
    batch = np.asarray(keys)
    if batch.ndim != 1:
        raise PlanRequestError(f"keys must have one dimension. Got {batch.ndim}. Give one key a tuple.")
    if batch.size and batch.dtype.kind not in "biuUSMm":
        raise PlanRequestError(
            f"keys must be integers, strings, bytes, booleans or dates. Got dtype {batch.dtype}."
            " Cast the batch, for example with astype(str)."
        )
    if batch.dtype.kind in "iu":
        # int64 and uint64 together would become float64, which does not hold every key.
        return batch if batch.dtype.kind == "u" else batch.astype(np.int64)
    return batch


def _check_epsilon(epsilon: float) -> None:
    if not 0 < epsilon < 1:
        raise PlanRequestError(
            f"epsilon must lie strictly between 0 and 1. Got {epsilon}. Give about a tenth of the frequency that matters."
        )
