"""
Sliding windows from panes (Balkesen et al., Sec. 4.2 and 5): every row is aggregated once, whatever the overlap.

Windows of size w that begin every s fall apart into panes of size gcd(w, s). A row belongs to exactly one pane, so panes can be worked
on anywhere, in pieces even, and a window is the merge of its w / gcd(w, s) panes. Exact for counts, minima, maxima and sums of
whole numbers; sums of fractions differ from a direct sum by rounding, since they are added in another order.
"""

import math
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from partitioning.errors import PaneError

Scalar = TypeVar("Scalar", bound=np.generic)


@dataclass(frozen=True, kw_only=True)
class Sliding:
    """Windows [k * slide, k * slide + size), k = 0, 1, …; in rows, or in whole units of time."""

    size: int
    slide: int

    def __post_init__(self) -> None:
        for name in ("size", "slide"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise PaneError(
                    f"Sliding.{name} must be a whole number from 1. Got {value!r}. Give it in rows, or in a finer unit of time."
                )

    @property
    def pane(self) -> int:
        """The size of a pane. Worked: windows of 12 that begin every 4 have panes of 4, and 3 of them each."""
        return math.gcd(self.size, self.slide)

    @property
    def panes_a_window(self) -> int:
        return self.size // self.pane

    @property
    def panes_a_slide(self) -> int:
        return self.slide // self.pane

    def count_windows(self, n_panes: int) -> int:
        """Windows that so many panes fill wholly."""
        return max(0, (n_panes - self.panes_a_window) // self.panes_a_slide + 1)


def pane_of(time: ArrayLike, sliding: Sliding) -> NDArray[np.int64]:
    """The pane of each row, by its time (or its number)."""
    times = np.asarray(time)
    if times.size and (times.dtype.kind not in "iu" or times.min() < 0):
        got = (
            f"{times.min()} at position {times.argmin()}"
            if times.dtype.kind in "iu"
            else f"dtype {times.dtype}"
        )
        raise PaneError(
            f"time must hold whole numbers, 0 or more. Got {got}. Count from the first window's begin."
        )
    return np.asarray(times // sliding.pane, dtype=np.int64)


@dataclass(frozen=True, kw_only=True, eq=False)
class Aggregates:
    """Count, sum, minimum and maximum, one row a pane (or window), one column a group; all that merging needs."""

    count: NDArray[np.int64]
    total: NDArray[np.float64]
    least: NDArray[np.float64]  # infinite where there are no rows
    most: NDArray[np.float64]  # minus infinity where there are no rows

    @property
    def mean(self) -> NDArray[np.float64]:
        """NaN where there are no rows."""
        return np.where(self.count > 0, self.total / np.maximum(self.count, 1), np.nan)

    def merge(self, other: "Aggregates") -> "Aggregates":
        """Of the rows of both: partial results of the same panes from two nodes."""
        return Aggregates(
            count=self.count + other.count,
            total=self.total + other.total,
            least=np.minimum(self.least, other.least),
            most=np.maximum(self.most, other.most),
        )


def aggregate_panes(
    pane: NDArray[np.int64], group: NDArray[np.int64], value: ArrayLike, shape: tuple[int, int]
) -> Aggregates:
    """The pane-level query: one pass over the rows. ``shape`` is (panes, groups)."""
    values = np.asarray(value, dtype=np.float64)
    _check_rows(pane, group, values, shape)
    cell = pane * shape[1] + group
    n_cells = shape[0] * shape[1]
    least, most = np.full(n_cells, np.inf), np.full(n_cells, -np.inf)
    np.minimum.at(least, cell, values)
    np.maximum.at(most, cell, values)
    return Aggregates(
        count=np.bincount(cell, minlength=n_cells).reshape(shape),
        total=np.bincount(cell, weights=values, minlength=n_cells).astype(np.float64).reshape(shape),
        least=least.reshape(shape),
        most=most.reshape(shape),
    )


def _check_rows(
    pane: NDArray[np.int64], group: NDArray[np.int64], values: NDArray[np.float64], shape: tuple[int, int]
) -> None:
    if not pane.shape == group.shape == values.shape:
        raise PaneError(
            f"pane, group and value must have one value a row. Got shapes {pane.shape}, {group.shape} and {values.shape}."
            " Take them from the same rows."
        )
    for name, numbers, end in (("pane", pane, shape[0]), ("group", group, shape[1])):
        if numbers.size and not 0 <= numbers.min() <= numbers.max() < end:
            raise PaneError(
                f"{name} must lie in [0, {end}). Got {numbers.min()} to {numbers.max()}. Give a shape that holds all rows."
            )


def merge_panes(panes: Aggregates, sliding: Sliding) -> Aggregates:
    """The window-level query: row k is window k, merged from its panes; windows that are not full are left out."""
    return Aggregates(
        count=_slide(panes.count, sliding, np.add),
        total=_slide(panes.total, sliding, np.add),
        least=_slide(panes.least, sliding, np.minimum),
        most=_slide(panes.most, sliding, np.maximum),
    )


def _slide(panes: NDArray[Scalar], sliding: Sliding, merge: np.ufunc) -> NDArray[Scalar]:
    """Merges every run of ``panes_a_window`` panes by doubling, in as many steps as that number has binary digits."""
    n_windows = sliding.count_windows(len(panes))
    starts = np.arange(n_windows) * sliding.panes_a_slide
    merged, left, length, run = None, sliding.panes_a_window, 1, panes
    while left and n_windows:
        if left & 1:
            part = run[starts]
            merged = part if merged is None else merge(merged, part)
            starts = starts + length
        left >>= 1
        if left:
            run = merge(run[:-length], run[length:])
            length *= 2
    return panes[:0] if merged is None else np.asarray(merged)
