"""One source of each splitter whose sources need not agree on anything: what a partition of Spark can be."""

from collections.abc import Callable, Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from partitioning.errors import SplitRequestError
from partitioning.splitters import SPLITTERS
from partitioning.splitters.am import am_source
from partitioning.splitters.cam import cam_source
from partitioning.splitters.cm import cm_source
from partitioning.splitters.lm import lm_source
from partitioning.splitters.options import CardinalityOptions, Choices, LmOptions, PkgOptions
from partitioning.splitters.pkg import DealtPkgSource
from partitioning.splitters.sending import Source

_SOURCES: dict[str, tuple[type[Choices], Callable[..., Source]]] = {
    "pkg": (PkgOptions, DealtPkgSource),
    "cm": (CardinalityOptions, cm_source),
    "am": (CardinalityOptions, am_source),
    "cam": (CardinalityOptions, cam_source),
    "lm": (LmOptions, lm_source),
}
BY_POSITION = ("hash", "shuffle")  # need no memory: a row's key, or its position, says its bucket
LOCAL_SPLITTERS = (*BY_POSITION, *_SOURCES)
_GATHERED = 65_536  # rows that are sent at once: half a megabyte of hashes


def check_local(splitter: str) -> str:
    """The splitter itself, if each of its sources goes by what it sent itself."""
    if splitter not in LOCAL_SPLITTERS:
        why = " Its sources would have to agree on every key." if splitter in SPLITTERS else ""
        raise SplitRequestError(
            f"splitter must be one of {', '.join(LOCAL_SPLITTERS)}. Got {splitter!r}.{why} Take pkg, or leave it out"
            " for one that fits the window."
        )
    return splitter


def source_of(splitter: str, *, n_buckets: int, n_choices: int) -> Source:
    """
    A new source, for one partition of one window; it knows what it sent itself, and nothing else.

    Candidates are distinct: where hashes coincide a hot key would stay whole.
    """
    options, make = _SOURCES[check_local(splitter)]
    return make(n_buckets, options(n_choices=min(n_choices, n_buckets), is_distinct=True))


def send_gathered(source: Source, batches: Iterable[NDArray[np.int64]]) -> Iterator[NDArray[np.int64]]:
    """
    The bucket of each row, in order, in fewer and larger batches than came: many small ones cost more to send.

    Never holds more than a batch and ``_GATHERED`` rows.
    """
    held: list[NDArray[np.int64]] = []
    for batch in batches:
        held.append(batch)
        if sum(one.size for one in held) >= _GATHERED:
            yield source.send(np.concatenate(held))
            held = []
    if held:
        yield source.send(np.concatenate(held))
