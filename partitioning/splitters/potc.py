"""Static PoTC (Nasir et al., Sec. 3.1): the power of two choices for whole keys, which sources must agree on."""

import numpy as np
from numpy.typing import NDArray

from partitioning.splitters.candidates import candidates_of
from partitioning.splitters.options import PkgOptions
from partitioning.splitters.request import SplitRequest
from partitioning.splitters.sending import send_with
from partitioning.splitters.whole_keys import WholeKeySenders


def split_potc(request: SplitRequest, options: PkgOptions | None = None) -> NDArray[np.int64]:
    """
    The bucket of each row: a new key goes to the least loaded of its candidates, and stays there for ever.

    The source that meets a key first decides, by the loads it knows; all others follow. Ties go to the first
    candidate. Keys are whole: Γ is their number. Unlike PKG this needs a table of all keys at every source.
    """
    options = options or PkgOptions()
    options.check_fits(request.n_buckets)
    return send_with(
        request,
        options.estimation,
        lambda n_sources: WholeKeySenders(
            request.n_buckets, n_sources, lambda keys: candidates_of(keys, request.n_buckets, options)
        ),
    )
