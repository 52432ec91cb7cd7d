"""How to say numbers of a grid in words."""

from collections.abc import Callable

from benchmarks.papers.sheets import Grid, Grids, show

NO_NUMBER = "prints no number"


def cells(measure: str, *places: tuple[str, object]) -> Callable[[Grids], str]:
    """Cells of a grid, one after the other."""
    return lambda grids: ", ".join(f"{row} {show(grids[measure].at(row, column))}" for row, column in places)


def ends(measure: str, *rows: str) -> Callable[[Grids], str]:
    """From the first column to the last."""
    return lambda grids: ", ".join(
        f"{row} {show(grids[measure].rows[row][0])} to {show(grids[measure].rows[row][-1])}" for row in rows
    )


def ratio(measure: str, above: tuple[str, object], below: tuple[str, object]) -> Callable[[Grids], str]:
    """One cell over another."""
    return lambda grids: f"{grids[measure].at(*above) / grids[measure].at(*below):.2f} times"


def over(measure: str, column: object, above: str, *below: str) -> Callable[[Grids], str]:
    """One row over others, in one column; every other is named."""
    return lambda grids: ", ".join(
        f"{grids[measure].at(above, column) / grids[measure].at(row, column):.2f} times {row}"
        for row in below
    )


def most(measure: str, above: str, *below: str, up_to: object = None) -> Callable[[Grids], str]:
    """The most that one row is over others, column by column up to the one that is named, and where."""

    def said(grids: Grids, row: str) -> str:
        grid = grids[measure]
        share = {column: grid.at(above, column) / grid.at(row, column) for column in _columns(grid, up_to)}
        where = max(share, key=lambda column: share[column])
        return f"{share[where]:.2f} times {row} (at {where})"

    return lambda grids: ", ".join(said(grids, row) for row in below)


def _columns(grid: Grid, up_to: object) -> list[str]:
    """All of them, or those up to this one."""
    return grid.columns if up_to is None else grid.columns[: grid.columns.index(str(up_to)) + 1]


def growth(measure: str, first: object, last: object, *rows: str) -> Callable[[Grids], str]:
    """How many times a row grows from one column to another."""
    return lambda grids: ", ".join(
        f"{row} {show(grids[measure].at(row, first))} to {show(grids[measure].at(row, last))},"
        f" {grids[measure].at(row, last) / grids[measure].at(row, first):.2f} times"
        for row in rows
    )


def ratios(measure: str, row: str, over: str, *, up_to: object = None) -> Callable[[Grids], str]:
    """One row over another, column by column up to the one that is named: the least and the most."""

    def said(grids: Grids) -> str:
        grid = grids[measure]
        pairs = [(grid.at(row, column), grid.at(over, column)) for column in _columns(grid, up_to)]
        found = [above / below for above, below in pairs if below > 0]
        return f"{min(found):.2f} to {max(found):.2f} times"

    return said
