"""
What an experiment is: numbers that a run measures, and words that stand beside them.

Numbers are grids, and are kept as JSON. Words (what the paper reads, why ours differs) are joined to them when a page is made, so
that a sentence can be mended without measuring again.
"""

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, Literal

BAR = r"\|"  # of a text inside a table
Scale = Literal["full", "quick", "tiny"]  # tiny: does it still run? Says nothing about the papers
SHORT_FORM = "SHORT FORM: fewer keys, windows or hash seeds than the next lines say. What is said of ours and of differences is of the whole form."


@dataclass(frozen=True, kw_only=True)
class Grid:
    """One measure: a row a method, a column a value of the axis. Not a number where a method was not run."""

    measure: str
    axis: str
    columns: list[str]
    rows: dict[str, list[float]]
    is_for_picture: bool = False  # too many columns for a table

    def at(self, row: str, column: object) -> float:
        """One cell."""
        return self.rows[row][self.columns.index(str(column))]


Grids = dict[str, Grid]  # by measure


@dataclass(frozen=True)
class Reading:
    """A number or a shape that the paper states, and how to say the same of ours."""

    what: str
    paper: str
    ours: Callable[[Grids], str]


@dataclass(frozen=True, kw_only=True)
class Words:
    """What stands beside an experiment's numbers."""

    title: str
    place: str = ""  # the section of the paper that is read; empty for our own
    setting: str
    difference: str  # from the paper, explained
    readings: tuple[Reading, ...] = ()
    other_shape: str = ""  # how ours looks different, and why, in one sentence; empty where it does not


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """One figure of a paper, or one data set."""

    name: str  # for --only and in the JSON; its first part is the section of the page
    measure: Callable[[Scale], list[Grid]]
    words: Words


@dataclass(frozen=True, kw_only=True)
class Sheet:
    """An experiment that was run."""

    experiment: Experiment
    grids: list[Grid]

    def as_text(self, scale: Scale) -> str:
        title = self.experiment.words.title
        parts = [
            title,
            "=" * len(title),
            *([] if scale == "full" else [SHORT_FORM]),
            self.experiment.words.setting,
        ]
        for grid in self._tables:
            parts += ["", f"{grid.measure}, by {grid.axis}", _columns(_grid_cells(grid))]
        if self.experiment.words.readings:
            parts += ["", _columns(self._reading_cells())]
        return "\n".join([*parts, "", self.experiment.words.difference, ""])

    def as_markdown(self) -> str:
        parts = [f"### {self.experiment.words.title}", self.experiment.words.setting]
        for grid in self._tables:
            parts += [f"*{grid.measure}, by {grid.axis}*", _markdown(_grid_cells(grid))]
        if self.experiment.words.readings:
            parts.append(_markdown(self._reading_cells()))
        return "\n\n".join([*parts, f"**Difference.** {self.experiment.words.difference}"])

    @property
    def _tables(self) -> list[Grid]:
        return [grid for grid in self.grids if not grid.is_for_picture]

    def _reading_cells(self) -> list[list[str]]:
        grids = {grid.measure: grid for grid in self.grids}
        rows = [
            [reading.what, reading.paper, _said(reading, grids)] for reading in self.experiment.words.readings
        ]
        place = self.experiment.words.place
        return [["what", f"the paper, {place}" if place else "the paper", "ours"], *rows]


def _said(reading: Reading, grids: Grids) -> str:
    try:
        return reading.ours(grids)
    except (KeyError, ValueError):  # a grid or column that only the full run has
        return "not in a quick run"


def show(number: float) -> str:
    """Three digits; ∞ and - where there is no number."""
    if math.isnan(number):
        return "-"
    if math.isinf(number):
        return "∞"
    return f"{number:,.0f}" if abs(number) >= 1000 else f"{number:.3g}"


def _grid_cells(grid: Grid) -> list[list[str]]:
    rows = [[name, *(show(number) for number in numbers)] for name, numbers in grid.rows.items()]
    return [["", *grid.columns], *rows]


def _columns(cells: list[list[str]]) -> str:
    widths = [max(len(row[column]) for row in cells) for column in range(len(cells[0]))]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in cells)
    return "\n".join(f"  {line.rstrip()}" for line in lines)


def _markdown(cells: list[list[str]]) -> str:
    head, *rows = (f"| {' | '.join(cell.replace('|', BAR) for cell in row)} |" for row in cells)
    return "\n".join([head, "|" + "---|" * len(cells[0]), *rows])


def grid_as_json(grid: Grid) -> dict[str, Any]:
    """JSON knows neither NaN nor ∞: they become null and a word."""
    rows = {name: [_to_json(number) for number in numbers] for name, numbers in grid.rows.items()}
    return asdict(grid) | {"rows": rows}


def grid_of_json(kept: dict[str, Any]) -> Grid:
    rows = {name: [_of_json(number) for number in numbers] for name, numbers in kept["rows"].items()}
    return Grid(**kept | {"rows": rows})


def _to_json(number: float) -> float | str | None:
    if math.isnan(number):
        return None
    return "inf" if math.isinf(number) else float(f"{number:.4g}")


def _of_json(number: float | str | None) -> float:
    return math.nan if number is None else float(number)
