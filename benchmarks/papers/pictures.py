"""Planners side by side: the figures that matter, as SVG drawn from the kept numbers."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from benchmarks.papers.sheets import Grid

FOLDER = Path(__file__).parents[2] / "docs" / "pictures"
# Text as text keeps files small; a fixed salt and no date keep them the same from run to run.
STYLE: Any = {
    "svg.fonttype": "none",
    "svg.hashsalt": "evenkeel",
    "font.size": 9,
    "axes.grid": True,
    "grid.alpha": 0.3,
}
COLOURS = {
    "evenkeel": "#0b6e4f", "readj": "#c1440e", "readj + hash load": "#e08e45", "redist": "#7b5ea7", "scan": "#3d7ea6",
    "consistent hash": "#888888", "uniform hash": "#bbbbbb", "hash": "#888888", "mixed": "#3d7ea6", "mixed_bf": "#8fb8d0",
    "min_table": "#7b5ea7", "min_mig": "#e0a845",
}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Picture:
    """Grids of experiments, one beside the other."""

    name: str
    panels: list[tuple[str, str]]  # experiment, measure
    is_log: bool = False


PICTURES = [
    Picture(
        name="gedik-skew",
        panels=[("gedik-4", "relative imbalance b, LLL"), ("gedik-4", "relative migration m, LLL")],
        is_log=True,
    ),
    Picture(
        name="gedik-channels",
        panels=[("gedik-6", "θ of traffic"), ("gedik-6", "relative migration m")],
        is_log=True,
    ),
    Picture(
        name="fang-theta",
        panels=[("fang-9", "migration, % of state, w = 1"), ("fang-9", "migration, % of state, w = 5")],
        is_log=True,
    ),
    Picture(
        name="fang-fluctuation",
        panels=[("fang-12", "migration, % of state, burst"), ("fang-12", "migration, % of state, reshuffle")],
    ),
    Picture(name="real-windows", panels=[("real-flights", "θ next"), ("real-words", "θ next")]),
]


def draw_pictures(kept: dict[str, list[Grid]], folder: Path = FOLDER) -> None:
    """Every picture whose experiments were run."""
    folder.mkdir(parents=True, exist_ok=True)
    for picture in PICTURES:
        grids = [_find(kept[name], measure) for name, measure in picture.panels if name in kept]
        if len(grids) == len(picture.panels):
            _draw(picture, grids, folder / f"{picture.name}.svg")


def _find(grids: list[Grid], measure: str) -> Grid:
    return next(grid for grid in grids if grid.measure == measure)


def _draw(picture: Picture, grids: list[Grid], path: Path) -> None:
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(9, 3.4), layout="constrained")
        panels = np.atleast_1d(np.asarray(figure.subplots(1, len(grids))))
        for axes, grid in zip(panels, grids, strict=True):
            _draw_grid(axes, grid)
            if picture.is_log:
                axes.set_yscale("log", nonpositive="mask")
        handles, labels = panels[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside right upper", frameon=False)
        figure.savefig(path, format="svg", metadata={"Date": None})


def _draw_grid(axes: Axes, grid: Grid) -> None:
    x = np.array([float(column) for column in grid.columns])
    for method, numbers in grid.rows.items():
        y = np.array(numbers, dtype=np.float64)
        axes.plot(
            x,
            np.where(np.isfinite(y), y, np.nan),
            marker="" if x.size > 15 else "o",
            markersize=3,
            linewidth=2.2 if method == "evenkeel" else 1.1,
            color=COLOURS.get(method),
            label=method,
        )
    axes.set_title(grid.measure, fontsize=9)
    axes.set_xlabel(grid.axis)
