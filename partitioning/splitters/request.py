"""What every splitter is given: rows in arrival order, who sent them, and when."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from partitioning.errors import SplitRequestError
from partitioning.hashing import hash_keys, is_whole

__all__ = ["SplitRequest", "deal_round_robin", "turns_of"]


@dataclass(frozen=True, kw_only=True, eq=False)
class SplitRequest:
    """
    Rows to send to ``n_buckets`` buckets. Position i of each array describes the same row, in arrival order.

    Keys are told apart by their hash. That of a bigint or an int is one of a kind; of K other keys, any two share
    one with a probability below K² / 2⁶⁵ (3e-8 for a million), and would then be treated as one key. Everything is
    checked before any work, and the arrays are read-only copies afterwards.
    """

    key_hash: NDArray[np.int64]  # xxhash64 of the row's key, as ``hash_keys`` answers
    n_buckets: int
    # None stands for one source, one window, and is replaced by an array that says so.
    source: NDArray[np.int64] = None  # type: ignore[assignment]  # who sent the row: any numbers from 0 on
    window: NDArray[np.int64] = None  # type: ignore[assignment]  # number of the row's window; never falls

    def __post_init__(self) -> None:
        if not is_whole(self.n_buckets) or self.n_buckets < 1:
            raise SplitRequestError(
                f"SplitRequest.n_buckets must be a whole number, at least 1. Got {self.n_buckets!r}."
                " Give the number of buckets the rows are sent to."
            )
        self._set("n_buckets", int(self.n_buckets))
        self._set("key_hash", _as_integers("SplitRequest.key_hash", self.key_hash))
        for name in ("source", "window"):
            values = getattr(self, name)
            array = np.zeros(self.n_rows, np.int64) if values is None else values
            self._set(name, _as_integers(f"SplitRequest.{name}", array))
            _check_length(f"SplitRequest.{name}", getattr(self, name), self.n_rows)
        _check_source(self.source)
        _check_window(self.window)

    def _set(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)  # the way a frozen dataclass normalises its own fields

    @classmethod
    def of_keys(
        cls,
        keys: Iterable[Any],
        key_type: str,
        *,
        n_buckets: int,
        source: ArrayLike | None = None,
        window: ArrayLike | None = None,
    ) -> "SplitRequest":
        """A request for keys as they are; ``key_type`` is that of the column in Spark."""
        return cls(
            key_hash=hash_keys(keys, key_type),
            n_buckets=n_buckets,
            source=source,  # type: ignore[arg-type]  # checked and converted above
            window=window,  # type: ignore[arg-type]
        )

    @property
    def n_rows(self) -> int:
        return self.key_hash.size

    @cached_property
    def source_place(self) -> NDArray[np.int64]:
        """The row's source by its place among the sources that sent anything, from 0."""
        return np.unique(self.source, return_inverse=True)[1]

    @property
    def n_sources(self) -> int:
        """How many sources sent anything; 1 where there are no rows."""
        return int(self.source_place.max()) + 1 if self.n_rows else 1


def deal_round_robin(n_rows: int, n_sources: int) -> NDArray[np.int64]:
    """The source of each row when the sources are fed in turn, as in the simulations of Nasir et al. (Sec. 6.1)."""
    return np.arange(n_rows, dtype=np.int64) % n_sources


def turns_of(source: NDArray[np.int64]) -> NDArray[np.int64]:
    """How many rows the row's source sent before it."""
    order = np.argsort(source, kind="stable")
    is_first = np.diff(source[order], prepend=-1) != 0
    first = np.flatnonzero(is_first)
    turn = np.empty(source.size, dtype=np.int64)
    turn[order] = np.arange(source.size) - first[np.cumsum(is_first) - 1]
    return turn


def _as_integers(field: str, values: ArrayLike) -> NDArray[np.int64]:
    array = np.asarray(values)
    if array.size == 0:
        array = array.astype(np.int64)
    if array.ndim != 1 or array.dtype.kind not in "iu" or not np.can_cast(array.dtype, np.int64):
        raise SplitRequestError(
            f"{field} must be a one-dimensional array of integers that fit 64 bits, with a sign."
            f" Got dtype {array.dtype}, shape {array.shape}. Hash keys with hash_keys, or use SplitRequest.of_keys."
        )
    copy = array.astype(np.int64)
    copy.setflags(write=False)
    return copy


def _check_length(field: str, array: NDArray[np.int64], n_rows: int) -> None:
    if array.size != n_rows:
        raise SplitRequestError(
            f"{field} must have one value a row: {n_rows}. Got {array.size}. Give every row its own, or None."
        )


def _check_source(source: NDArray[np.int64]) -> None:
    wrong = np.flatnonzero(source < 0)
    if wrong.size:
        raise SplitRequestError(
            f"SplitRequest.source must be 0 or more. Got {source[wrong[0]]} at position {wrong[0]}; such rows:"
            f" {wrong.size}. Number the sources from 0."
        )


def _check_window(window: NDArray[np.int64]) -> None:
    falls = np.flatnonzero(window[1:] < window[:-1])
    if falls.size:
        raise SplitRequestError(
            f"SplitRequest.window must never fall: rows come in arrival order. Got {window[falls[0] + 1]} after"
            f" {window[falls[0]]} at position {falls[0] + 1}; falls: {falls.size}."
            " Count a late row to the window that is open, or sort the rows by window."
        )
