"""Shuffle grouping (SG, SH): rows to the buckets in turn, whatever their key."""

import numpy as np
from numpy.typing import NDArray

from partitioning.splitters.request import SplitRequest


def split_shuffle(request: SplitRequest) -> NDArray[np.int64]:
    """
    The bucket of each row: every source deals its rows to the buckets in cyclic order, source s from bucket s on.

    One source leaves all buckets within one row of each other, S sources within S. A key may end up in every bucket:
    its partial results are as many as it has rows or buckets, whichever is less.

    Worked: 5 rows, 2 buckets, one source: 0, 1, 0, 1, 0.
    """
    order = np.argsort(request.source, kind="stable")
    count = np.bincount(request.source, minlength=1)
    turn = np.empty(request.n_rows, dtype=np.int64)  # how many rows the row's source sent before it
    turn[order] = np.arange(request.n_rows) - np.repeat(np.cumsum(count) - count, count)
    return (turn + request.source) % request.n_buckets
