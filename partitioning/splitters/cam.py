"""cAM, group affinity with imbalance minimisation (Katsipoulakis et al., Alg. 4)."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from partitioning.splitters.candidates import candidates_of
from partitioning.splitters.options import CardinalityOptions
from partitioning.splitters.request import SplitRequest
from partitioning.splitters.row_by_row import Known, RowByRowSource, decide_by_affinity
from partitioning.splitters.sending import Source, send_by_window
from partitioning.splitters.whole_keys import WholeKeySenders


def split_cam(request: SplitRequest, options: CardinalityOptions | None = None) -> NDArray[np.int64]:
    """
    The bucket of each row: a key stays where its source sent it first in this window, the candidate with the fewest rows.

    One source splits no key within a window; several may send a key to different candidates, so to at most
    ``n_choices`` buckets. Ties go to the first candidate. Sketches (``hll``) may take a new key for seen.
    """
    options = options or CardinalityOptions()
    return send_by_window(request, lambda: cam_source(request.n_buckets, options))


def cam_source(n_buckets: int, options: CardinalityOptions) -> Source:
    """One source in one window."""
    if options.counter == "exact":
        return ExactCamSource(n_buckets, options)
    return RowByRowSource(n_buckets, options, _by_affinity_and_rows)


class ExactCamSource:
    """
    cAM with exact sets: one source that keeps keys whole.

    An exact set answers "yes" for one candidate of a key at most, and for ever: cAM is static PoTC within one source
    and one window.
    """

    def __init__(self, n_buckets: int, options: CardinalityOptions) -> None:
        options.check_fits(n_buckets)
        self._senders = WholeKeySenders(n_buckets, 1, lambda keys: candidates_of(keys, n_buckets, options))

    def send(self, key_hash: NDArray[np.int64]) -> NDArray[np.int64]:
        """The bucket of each row. However the window is cut into batches, the answers are the same."""
        return self._senders.send(key_hash, np.zeros(key_hash.size, dtype=np.int64))


def _by_affinity_and_rows(known: Known, options: Sequence[int], key: int) -> int:
    return decide_by_affinity(known, options, key, known.rows)
