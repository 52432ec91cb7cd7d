"""The tables of docs/scale.md, from the run that docs/ keeps."""

from pathlib import Path

from benchmarks.exponents import Series, read_series
from benchmarks.page_parts import fill_in, markdown_table
from benchmarks.scale_figures import by_axis, head_of, rows_of, short
from schemas.dataset import ROOT

PAGE = ROOT / "docs" / "scale.md"
SAVED = ROOT / "docs" / "scale.json"

# The table of 100 TB: how far each axis is to be taken.
TARGET = {"keys": 1e9, "bytes": 1e14, "files": 2e6, "buckets": 1_000.0, "slots": 65_536.0}


def write_page(page: Path = PAGE) -> None:
    """Put the saved series into the page, between its marks."""
    series = read_series(SAVED)
    parts = {
        axis: markdown_table(head_of(axis, of_axis), rows_of(of_axis)) for axis, of_axis in by_axis(series)
    }
    fill_in(page, parts | {"target": _target_table(series)})


def _target_table(series: list[Series]) -> str:
    """Every series at the size of the target, by its last point and its last exponent."""
    rows = [
        [one.axis, short(TARGET[one.axis]), one.what, f"{short(one.at(TARGET[one.axis]))} {one.unit}"]
        for one in series
        if one.unit != "s"
    ]
    return markdown_table(["axis", "size", "what", "extrapolated"], rows)
