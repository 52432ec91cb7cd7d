"""LM, hybrid imbalance minimisation (Katsipoulakis et al., Alg. 5): rows and keys of a bucket weighed together."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from partitioning.splitters.options import LmOptions
from partitioning.splitters.request import SplitRequest
from partitioning.splitters.row_by_row import Known, RowByRowSource
from partitioning.splitters.sending import Source, send_by_window


def split_lm(request: SplitRequest, options: LmOptions | None = None) -> NDArray[np.int64]:
    """
    The bucket of each row: the candidate with the least p·L' + (1 - p)·CL', in at most ``n_choices`` buckets a key.

    L' and CL' are rows and keys scaled to [0, 1] over all buckets (Eq. 7 and 8; Alg. 5 prints them without the primes),
    0 where all buckets have the same. Ties go to the first candidate. p = 1 is PKG, p = 0 is CM.
    """
    options = options or LmOptions()
    return send_by_window(request, lambda: lm_source(request.n_buckets, options))


def lm_source(n_buckets: int, options: LmOptions) -> Source:
    """One source in one window."""
    return RowByRowSource(n_buckets, options, _least_hybrid(options.row_weight))


def _least_hybrid(row_weight: float) -> Callable[[Known, Sequence[int], int], int]:
    def decide(known: Known, options: Sequence[int], _key: int) -> int:
        rows, keys = known.rows, known.keys.n_keys
        least_rows, row_spread = _scale(rows)
        least_keys, key_spread = _scale(keys)

        def hybrid(bucket: int) -> float:
            scaled_rows = (rows[bucket] - least_rows) / row_spread
            scaled_keys = (keys[bucket] - least_keys) / key_spread
            return row_weight * scaled_rows + (1 - row_weight) * scaled_keys

        return min(options, key=hybrid)

    return decide


def _scale(load: Sequence[float]) -> tuple[float, float]:
    """The least load, and the spread that scales the most to 1; any spread will do where all are the same."""
    least = min(load)
    return least, (max(load) - least) or 1.0
