"""Number the distinct values of an array, by counting where that is faster than sorting."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

MAX_CODES_PER_ITEM = 4  # up to here a table of all codes is about as small as the items themselves


class Numbering(NamedTuple):
    """``found[number[i]]`` is value i."""

    found: NDArray[np.int64]  # the distinct values, ascending
    number: NDArray[np.int64]  # which of them each value is
    times: NDArray[np.int64]  # how often each occurs


def number_codes(code: NDArray[np.int64], *, n_codes: int) -> Numbering:
    """The distinct codes of an array of codes in [0, n_codes). O(K + n_codes), or O(K log K) for sparse codes."""
    if n_codes > MAX_CODES_PER_ITEM * code.size:
        return Numbering(*np.unique(code, return_inverse=True, return_counts=True))
    times = np.bincount(code, minlength=n_codes)
    found = np.flatnonzero(times)
    number_of = np.empty(n_codes, dtype=np.int64)
    number_of[found] = np.arange(found.size)
    return Numbering(found, number_of[code], times[found])


def number_values(values: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """The distinct values, ascending, and which of them each value is; for values of 0 or more."""
    n_codes = float(values.max(initial=0.0)) + 1
    if n_codes <= MAX_CODES_PER_ITEM * values.size:
        code = values.astype(np.int64)
        if np.array_equal(code, values):
            found, number, _ = number_codes(code, n_codes=int(n_codes))
            return found.astype(np.float64), number
    rising = np.sort(values)
    rising = rising[np.flatnonzero(np.diff(rising, prepend=-1.0))]
    return rising, np.searchsorted(rising, values)
