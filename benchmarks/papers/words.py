"""How to say numbers of a grid in words."""

from collections.abc import Callable

from benchmarks.papers.sheets import Grids, show

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


def ratios(measure: str, row: str, over: str) -> Callable[[Grids], str]:
    """One row over another, column by column: the least and the most."""

    def said(grids: Grids) -> str:
        pairs = zip(grids[measure].rows[row], grids[measure].rows[over], strict=True)
        found = [above / below for above, below in pairs if below > 0]
        return f"{min(found):.2f} to {max(found):.2f} times"

    return said
