"""Every splitter by name: a pure function of rows in arrival order and, where it has any, its options."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from partitioning.splitters.am import split_am
from partitioning.splitters.cam import split_cam
from partitioning.splitters.cm import split_cm
from partitioning.splitters.hash import split_hash
from partitioning.splitters.lm import split_lm
from partitioning.splitters.off_greedy import split_off_greedy
from partitioning.splitters.on_greedy import split_on_greedy
from partitioning.splitters.pkg import split_pkg
from partitioning.splitters.potc import split_potc
from partitioning.splitters.shuffle import split_shuffle
from partitioning.splitters.shuffle_heavy import split_shuffle_heavy

# (request: SplitRequest, options: that splitter's own, optional) -> the bucket of each row
Splitter = Callable[..., NDArray[np.int64]]

SPLITTERS: dict[str, Splitter] = {
    "shuffle": split_shuffle,
    "hash": split_hash,
    "pkg": split_pkg,
    "potc": split_potc,
    "on_greedy": split_on_greedy,
    "off_greedy": split_off_greedy,
    "cm": split_cm,
    "am": split_am,
    "cam": split_cam,
    "lm": split_lm,
    "shuffle_heavy": split_shuffle_heavy,
}
