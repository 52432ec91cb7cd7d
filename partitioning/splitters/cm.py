"""CM, cardinality imbalance minimisation (Katsipoulakis et al., Alg. 2): each row to the candidate with the fewest keys."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from partitioning.splitters.options import CardinalityOptions
from partitioning.splitters.request import SplitRequest
from partitioning.splitters.row_by_row import Known, RowByRowSource
from partitioning.splitters.sending import Source, send_by_window


def split_cm(request: SplitRequest, options: CardinalityOptions | None = None) -> NDArray[np.int64]:
    """
    The bucket of each row, in at most ``n_choices`` buckets a key. Ties go to the first candidate.

    For work that grows with the keys of a bucket; looks neither at rows nor at what merging will cost.
    """
    options = options or CardinalityOptions()
    return send_by_window(request, lambda: cm_source(request.n_buckets, options))


def cm_source(n_buckets: int, options: CardinalityOptions) -> Source:
    """One source in one window."""
    return RowByRowSource(n_buckets, options, fewest_keys)


def fewest_keys(known: Known, options: Sequence[int], _key: int) -> int:
    """The decision of Alg. 2."""
    return min(options, key=known.keys.n_keys.__getitem__)
