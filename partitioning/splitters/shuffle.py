"""Shuffle grouping (SG, SH): rows to the buckets in turn, whatever their key."""

import numpy as np
from numpy.typing import NDArray

from partitioning.splitters.request import SplitRequest, turns_of


def split_shuffle(request: SplitRequest) -> NDArray[np.int64]:
    """
    The bucket of each row: every source deals its rows to the buckets in cyclic order, source s from bucket s on.

    One source leaves all buckets within one row of each other, S sources within S. A key may end up in every bucket:
    its partial results are as many as it has rows or buckets, whichever is less.

    Worked: 5 rows, 2 buckets, one source: 0, 1, 0, 1, 0.
    """
    return (turns_of(request.source) + request.source % request.n_buckets) % request.n_buckets
