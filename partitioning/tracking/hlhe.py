"""
HLHE, half-linear-half-exponential discretisation (Fang et al., Sec. IV-B, Fig. 6).

Values, counted in units of the smallest positive one, are replaced by one of few representatives: s·R, (s-1)·R … R
and then R/2, R/4 … 1, where s = floor(largest / R). Taken from large to small, each value gets the
representative above or below it that keeps the *accumulated* deviation, the sum of (value - representative),
closest to 0, so sums over many values stay right although single values do not.

Worked (Fig. 6, R = 4): 8 6 3 2 2 1 1 1 1 1 becomes 8 4 4 2 2 2 1 1 1 1; the deviation runs 0 2 1 1 1 0 0 0 0 0.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from partitioning.errors import PlanRequestError
from partitioning.tracking.numbering import number_values

UNIT_DECIMALS = 6  # values are counted to this fraction of the unit, so that whole multiples stay whole
MAX_RADIX = 2**16  # NumPy sorts 16-bit integers in linear time


class Classes(NamedTuple):
    """Discretised values: ``representative[of[i]]`` stands for value i."""

    representative: NDArray[np.float64]  # ascending, in the values' own unit
    of: NDArray[np.int64]


def discretise(values: NDArray[np.float64], *, degree: int) -> NDArray[np.float64]:
    """
    A representative for each value, in the values' own unit; 0 stays 0.

    ``degree`` is R, a power of two: larger gives fewer representatives. Equal values are taken by position, and of
    two representatives that leave the same absolute deviation the smaller is used. The total deviation is at most
    R/2 units, or R for each value above s·R if that is more (too few values may follow to absorb it).

    O(K log K) for K values; a Python loop over the distinct ones.
    """
    representative, of = classify(values, degree=degree)
    return representative[of]


def classify(values: NDArray[np.float64], *, degree: int) -> Classes:
    """The same as ``discretise``, as few representatives and one class a value."""
    check_degree("degree", degree)
    rising, number = number_values(values)
    if not rising.any():
        return Classes(rising, number)
    falling, run_of = rising[::-1], rising.size - 1 - number  # a run: all values equal to one
    unit = float(falling[falling > 0][-1])
    counted = np.round(falling / unit, UNIT_DECIMALS)
    below, above = representatives_around(counted, degree=degree)
    representative, classes = np.unique(np.concatenate([below, above]), return_inverse=True)
    runs = _Runs.of(np.bincount(run_of), lack=counted - below, gap=above - below)
    is_up = np.zeros(values.size, dtype=np.bool_)  # written in order of value: small, for the cache
    is_up[_raised(runs, run_of)] = True
    below_class, above_class = np.split(classes.astype(np.int64), 2)
    of_run = np.concatenate([np.where(runs.all_up, above_class, below_class), above_class])
    return Classes(representative * unit, of_run[run_of + is_up * np.int64(runs.length.size)])


def check_degree(field: str, degree: int) -> None:
    """Refuse an R that is not 1, 2, 4, 8 …"""
    is_whole = isinstance(degree, int) and not isinstance(degree, bool)
    if not is_whole or degree < 1 or degree & (degree - 1):
        raise PlanRequestError(
            f"{field} must be a power of two, 1 or more. Got {degree!r}. Give 8, which the paper found ten times"
            " faster than single keys, or 1 for the finest."
        )


def representatives_around(
    value: NDArray[np.float64], *, degree: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The candidates y_j <= value < y_(j-1) of falling values, 0 or at least 1; from y_1 on twice y_1, for 0 twice 0."""
    largest = math.floor(value[0] / degree) * degree or degree / 2  # y_1; without a linear part it is R/2
    power = np.where(value > 0, np.ldexp(1.0, np.frexp(value)[1] - 1), 0.0)  # the power of two at or below
    is_linear = value >= degree
    below = np.where(is_linear, np.floor(value / degree) * degree, power)
    above = np.where(is_linear, below + degree, 2 * power)
    return np.minimum(below, largest), np.minimum(above, largest)


class _Runs(NamedTuple):
    """
    The greedy of Sec. IV-B, run by run: a run is all values equal to one, in falling order of that one.

    With lack = value - below and gap = above - below, a value goes up, to the representative above, exactly when the
    accumulated deviation exceeds gap/2 - lack. So after i values of a run that began at deviation d,
    ceil((d + i·lack) / gap - 1/2) of them went up, kept within 0 … i. Gaps are powers of two, so dividing by them is
    exact; where there is one candidate only, an endless gap keeps values down.
    """

    length: NDArray[np.int64]
    begun: NDArray[np.float64]  # d / gap
    step: NDArray[np.float64]  # lack / gap
    n_up: NDArray[np.int64]  # of the whole run

    @classmethod
    def of(cls, length: NDArray[np.int64], *, lack: NDArray[np.float64], gap: NDArray[np.float64]) -> "_Runs":
        gap = np.where(gap > 0, gap, np.inf)
        deviation, before, n_up = 0.0, [], []
        for n, run_lack, run_gap in zip(length.tolist(), lack.tolist(), gap.tolist(), strict=True):
            before.append(deviation / run_gap)
            up = min(max(math.ceil(before[-1] + n * (run_lack / run_gap) - 0.5), 0), n)
            n_up.append(up)
            deviation += n * run_lack - (up * run_gap if up else 0.0)
        return cls(length, np.array(before), lack / gap, np.array(n_up, dtype=np.int64))

    @property
    def all_up(self) -> NDArray[np.bool_]:
        return np.asarray(self.n_up == self.length)


def _raised(runs: _Runs, run_of: NDArray[np.int64]) -> NDArray[np.int64]:
    """Positions of the values that went up in runs where others did not: only these runs have to be put in order."""
    mixed = (runs.n_up > 0) & ~runs.all_up
    items = np.flatnonzero(mixed[run_of])
    in_order = items[_stable_order(run_of[items], n_runs=mixed.size)]
    return in_order[_goes_up(runs, np.flatnonzero(mixed))]


def _goes_up(runs: _Runs, chosen: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether each value of the chosen runs, run after run, goes up."""
    length = runs.length[chosen]
    first = np.cumsum(length) - length
    nth = np.arange(1.0, length.sum() + 1) - np.repeat(first.astype(np.float64), length)
    n_up = nth * np.repeat(runs.step[chosen], length)
    n_up += np.repeat(runs.begun[chosen], length)
    np.ceil(np.subtract(n_up, 0.5, out=n_up), out=n_up)
    np.minimum(np.maximum(n_up, 0.0, out=n_up), nth, out=n_up)
    goes_up = np.empty(n_up.size, dtype=np.bool_)
    np.greater(n_up[1:], n_up[:-1], out=goes_up[1:])
    goes_up[first] = n_up[first] > 0
    return goes_up


def _stable_order(run_of: NDArray[np.int64], *, n_runs: int) -> NDArray[np.int64]:
    """Positions by run, then by position."""
    return np.argsort(run_of.astype(np.uint16) if n_runs <= MAX_RADIX else run_of, kind="stable")
