"""
Split routes: a key whose rows live in several buckets, each row in the one that its grain says.

A row's grain is a number from 0 to 4095, a hash of what tells the row from others of its key (``partitioning.grains``), so that the
same row always has the same grain. A split key has its grains cut into parts, in order; a part is a bucket and a weight, the number of
grains in a row that belong to it.

Worked: ``((3, 2048), (5, 2048))`` sends rows of grains 0 … 2047 to bucket 3 and the others to bucket 5.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate, groupby
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from partitioning.errors import FunctionError
from partitioning.hashing import is_whole
from partitioning.key_types import Key

N_GRAINS = 4096

Integers = NDArray[np.int64]


class Part(NamedTuple):
    """Some of a split key's rows."""

    bucket: int
    weight: int  # grains, of N_GRAINS in all


Parts = tuple[Part, ...]


class Stretch(NamedTuple):
    """Grains ``low`` to ``high``, without ``high``, and where they live under each of some functions."""

    low: int
    high: int
    buckets: tuple[int, ...]

    @property
    def share(self) -> float:
        """Of the key's rows, as far as a hash is even."""
        return (self.high - self.low) / N_GRAINS


def parts_of(given: Any, n_buckets: int, *, key: Key | None) -> Parts:
    """The parts in their one form: neighbours of the same bucket are one part. What cannot be parts is refused."""
    is_list = isinstance(given, Sequence) and not isinstance(given, str | bytes)
    if not is_list or not all(isinstance(part, Sequence) and len(part) == 2 for part in given):  # noqa: PLR2004  (pairs)
        raise FunctionError(
            f"The parts of a split key must be (bucket, weight) pairs. Got {given!r} for key {key!r}. Give a list of pairs."
        )
    for bucket, weight in given:
        if not is_whole(bucket) or not 0 <= bucket < n_buckets or not is_whole(weight) or weight < 1:
            raise FunctionError(
                f"A part must be a bucket in [0, {n_buckets}) and a weight of 1 or more, whole numbers both. Got"
                f" ({bucket!r}, {weight!r}) for key {key!r}. Plan for this function's n_buckets."
            )
    total = sum(weight for _, weight in given)
    if total != N_GRAINS:
        raise FunctionError(
            f"The weights of a split key must sum to {N_GRAINS}. Got {total} for key {key!r}. Use even_weights."
        )
    runs = groupby(given, key=lambda part: int(part[0]))
    return tuple(Part(bucket, sum(int(weight) for _, weight in run)) for bucket, run in runs)


def even_weights(n_parts: int) -> list[int]:
    """Weights of parts as alike as whole numbers can be, the larger ones first."""
    if not is_whole(n_parts) or not 1 <= n_parts <= N_GRAINS:
        raise FunctionError(f"n_parts must lie in [1, {N_GRAINS}]. Got {n_parts!r}. Cut into fewer parts.")
    least, n_larger = divmod(N_GRAINS, n_parts)
    return [least + 1] * n_larger + [least] * (n_parts - n_larger)


def held_by(parts: Parts) -> Counter[int]:
    """How many grains each bucket holds."""
    held: Counter[int] = Counter()
    for bucket, weight in parts:
        held[bucket] += weight
    return held


def concentration(parts: Parts) -> int:
    """
    How far a key's rows are together: the squares of what its buckets hold, added up. Grains that go to a bucket that holds as many raise it.

    Worked: whole 4096², in two halves half of that, in five fifths about a fifth.
    """
    return sum(weight**2 for weight in held_by(parts).values())


def bucket_of_grain(parts: Parts, grain: int) -> int:
    """The bucket of a row of this grain."""
    if not is_whole(grain) or not 0 <= grain < N_GRAINS:
        raise FunctionError(f"A grain must lie in [0, {N_GRAINS}). Got {grain!r}. Use grain_of or grains_of.")
    end = 0
    for bucket, weight in parts:
        end += weight
        if grain < end:
            return bucket
    raise AssertionError("weights sum to N_GRAINS")


def bucket_per_grain(parts: Parts) -> list[int]:
    """The bucket of each grain."""
    return [bucket for bucket, weight in parts for _ in range(weight)]


def stretches(all_parts: Sequence[Parts]) -> Iterator[Stretch]:
    """The longest stretches of grains that each of these functions' parts keeps in one bucket, in order."""
    cuts = {end for parts in all_parts for end in accumulate(weight for _, weight in parts)}
    lows = [0, *sorted(cuts)][:-1]
    runs = groupby(lows, key=lambda low: tuple(bucket_of_grain(parts, low) for parts in all_parts))
    starts = [(next(run), buckets) for buckets, run in runs]
    ends = [*(low for low, _ in starts[1:]), N_GRAINS]
    yield from (Stretch(low, high, buckets) for (low, buckets), high in zip(starts, ends, strict=True))


class SplitTable:
    """The parts of all split keys in one pair of arrays, to look many rows up at once."""

    def __init__(self, splits: Mapping[Key | None, Parts]) -> None:
        self._buckets = np.array([part.bucket for parts in splits.values() for part in parts], dtype=np.int64)
        # The end of each part, counted through all keys: key i has the numbers from i * N_GRAINS on.
        self._ends = np.cumsum([part.weight for parts in splits.values() for part in parts], dtype=np.int64)

    def buckets(self, split: Integers, grains: Integers) -> Integers:
        """The bucket of each row, from the number of its split key and its grain."""
        place = np.searchsorted(self._ends, split * N_GRAINS + grains, side="right")
        return np.asarray(self._buckets[place])
