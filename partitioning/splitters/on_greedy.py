"""On-Greedy (Nasir et al., Sec. 6.2 Q1): a new key goes to the least loaded of all buckets."""

import numpy as np
from numpy.typing import NDArray

from partitioning.splitters.options import LOCAL, Estimation
from partitioning.splitters.request import SplitRequest
from partitioning.splitters.sending import send_with
from partitioning.splitters.whole_keys import WholeKeySenders


def split_on_greedy(request: SplitRequest, estimation: Estimation = LOCAL) -> NDArray[np.int64]:
    """
    The bucket of each row: a new key goes to the least loaded bucket, ties to the lower, and stays there for ever.

    The source that meets a key first decides, by the loads it knows; all others follow. Keys are whole.
    """
    every_bucket = np.arange(request.n_buckets)[:, np.newaxis]
    return send_with(
        request,
        estimation,
        lambda n_sources: WholeKeySenders(
            request.n_buckets,
            n_sources,
            lambda keys: np.broadcast_to(every_bucket, (request.n_buckets, keys.size)),
        ),
    )
