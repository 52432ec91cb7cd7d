"""Off-Greedy (Nasir et al., Sec. 6.2 Q1): On-Greedy by someone who knows all rows in advance."""

import numpy as np
from numpy.typing import NDArray

from partitioning.splitters.on_greedy import split_on_greedy
from partitioning.splitters.options import LOCAL, Estimation
from partitioning.splitters.request import SplitRequest


def split_off_greedy(request: SplitRequest, estimation: Estimation = LOCAL) -> NDArray[np.int64]:
    """
    The bucket of each row: keys by falling frequency, each to the least loaded bucket. Keys are whole.

    As the paper says it: rows are sorted by how often their key occurs, keys of equal frequency by first arrival, and
    handed to On-Greedy, each still by its own source. Known to all sources, the loads make this LPT scheduling.

    Worked, 2 buckets, rows a b c c c: c (3) to bucket 0, a to 1, b to 1.
    """
    _, first, code, count = np.unique(
        request.key_hash, return_index=True, return_inverse=True, return_counts=True
    )
    order = np.lexsort((first[code], -count[code]))  # stable: the rows of a key stay in order of arrival
    ordered = SplitRequest(
        key_hash=request.key_hash[order], n_buckets=request.n_buckets, source=request.source[order]
    )
    bucket = np.empty(request.n_rows, dtype=np.int64)
    bucket[order] = split_on_greedy(ordered, estimation)
    return bucket
