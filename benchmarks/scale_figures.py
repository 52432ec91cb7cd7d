"""What the series come to: a table for each axis, and the exponents that were designed for."""

from collections.abc import Iterable, Iterator
from itertools import groupby

from benchmarks.exponents import Series
from benchmarks.goals import Goal

CPU = "CPU s"

# Exponents in processor time, over all sizes: what must not grow, and what may grow no faster than its input.
MOST = {
    ("keys", "plan"): 0.1,
    ("keys", "classify and flip"): 0.2,
    ("keys", "load"): 1.1,
    ("keys", "profile"): 1.1,
    ("bytes", "classify and flip"): 0.2,
    ("files", "classify and flip"): 1.0,
    ("files", "verify"): 1.0,
    ("buckets", "plan"): 1.1,
    ("slots", "plan"): 1.1,
    ("slots", "classify and flip"): 1.0,
}


def goals_of(series: Iterable[Series]) -> list[Goal]:
    """An exponent for each pair that was designed for and measured, with the largest size it is fitted to."""
    found = {(one.axis, one.what): one for one in series if one.unit == CPU}
    return [
        Goal.at_most(
            f"exponent of {what} over {axis}, processor time",
            limit,
            found[axis, what].exponent,
            unit="",
            note=f" (up to {short(found[axis, what].sizes[-1])})",
        )
        for (axis, what), limit in MOST.items()
        if (axis, what) in found
    ]


def by_axis(series: Iterable[Series]) -> Iterator[tuple[str, list[Series]]]:
    """The series of each axis together, in the order of the run."""
    for axis, of_axis in groupby(series, key=lambda one: one.axis):
        yield axis, list(of_axis)


def rows_of(of_axis: list[Series]) -> list[list[str]]:
    """One row a series: its values, and both exponents."""
    return [
        [
            one.what if one.what.startswith(one.unit) else f"{one.what}, {one.unit}",
            *(short(value) for value in one.values),
            f"{one.exponent:.2f}",
            f"{one.last_exponent:.2f}",
        ]
        for one in of_axis
    ]


def head_of(axis: str, of_axis: list[Series]) -> list[str]:
    return [axis, *(short(size) for size in of_axis[0].sizes), "exponent", "of the last two"]


def short(number: float) -> str:
    """Three digits, and a unit where there are more than four."""
    for size, letter in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e4, "k")):
        if number >= size:
            return f"{number / (1e3 if letter == 'k' else size):.3g} {letter}"
    return f"{number:.3g}" if number < 1000 else f"{number:,.0f}"


def print_series(series: Iterable[Series]) -> None:
    for axis, of_axis in by_axis(series):
        print()
        for row in [head_of(axis, of_axis), *rows_of(of_axis)]:
            print(f"{row[0]:<42}" + "".join(f"{cell:>16}" for cell in row[1:]))
