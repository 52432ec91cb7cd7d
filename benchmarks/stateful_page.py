"""The tables and the picture of docs/stateful-benefit.md, from the run that docs/ keeps."""

import json
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.page_parts import fill_in, markdown_table, save_picture
from benchmarks.stateful_figures import MAX_STRAGGLER, WHAT, break_evens, sums_of
from benchmarks.stateful_layouts import EVENKEEL, NAMES
from benchmarks.stateful_windows import Run
from schemas.dataset import ROOT

PAGE = ROOT / "docs" / "stateful-benefit.md"
SAVED = ROOT / "docs" / "stateful-benefit.json"
PICTURE = ROOT / "docs" / "pictures" / "stateful-stragglers.svg"
COLOURS = dict(zip(NAMES, ("#c0392b", "#e67e22", "#7f8c8d", "#1f77b4"), strict=True))


def write_page(page: Path = PAGE) -> None:
    """Put the saved run into the page, between its marks."""
    saved = json.loads(SAVED.read_text())
    runs = [Run(**run) for run in saved["runs"]]
    fill_in(
        page,
        {
            "windows": _windows_table(runs),
            "sums": _sums_table(runs),
            "goals": _goals_table(saved["goals"]),
            "break-evens": _break_evens_table(runs),
        },
    )


def draw_picture() -> None:
    """Straggler factors by rows, from the saved run."""
    _draw([Run(**run) for run in json.loads(SAVED.read_text())["runs"]])


def _goals_table(goals: list[dict[str, Any]]) -> str:
    rows = [
        [goal["what"], goal["goal"], goal["result"] + ("" if goal["met"] else ", missed")] for goal in goals
    ]
    return markdown_table(["what", "goal", "measured"], rows)


def _windows_table(runs: list[Run]) -> str:
    rows = []
    for window in sorted({run.window for run in runs}):
        of_window = {run.name: run for run in runs if run.window == window}
        plan = of_window["evenkeel"].plan
        cells = [
            f"{of_window[name].straggler_by_rows:.2f} ({of_window[name].straggler_by_time:.2f})"
            for name in NAMES
        ]
        late, moved = f"{1 + plan['imbalance_before']:.2f}", f"{plan['n_moves']:.0f}"
        rows.append([str(window), *cells, late, moved, f"{plan.get('bytes_written', 0) / 1e6:.2f}"])
    head = [
        "window",
        *(WHAT[name] for name in NAMES),
        "Evenkeel, a window late",
        "items moved",
        "MB rewritten",
    ]
    return markdown_table(head, rows)


def _sums_table(runs: list[Run]) -> str:
    rows = [
        [
            WHAT[total.name],
            *(f"{seconds:.0f}" for seconds in (total.load, total.rebalance, total.job, total.total)),
            f"{total.task_seconds:.0f}",
            f"{total.slowest:.0f}",
            f"{total.shuffled:.0f}",
        ]
        for total in sums_of(runs)
    ]
    head = [
        "",
        "load",
        "rebalance",
        "job",
        "sum",
        "work of all tasks",
        "slowest tasks",
        "MB shuffled by the job",
    ]
    return markdown_table(head, rows)


def _break_evens_table(runs: list[Run]) -> str:
    wait = np.mean([run.waited / run.straggler_by_rows for run in runs if run.name == EVENKEEL])
    rows = [[WHAT[name], _from_wait(seconds)] for name, seconds in break_evens(runs).items()]
    return markdown_table(["against", f"pays from a wait of a mean bucket of (here {wait:.1f} s)"], rows)


def _from_wait(seconds: float) -> str:
    if seconds <= 0:
        return "always"
    return f"{seconds:.1f} s" if np.isfinite(seconds) else "no wait alone"


def _draw(runs: list[Run]) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.5, 3.6), layout="constrained")
    axes = figure.subplots()
    for name in NAMES:
        of_name = [run for run in runs if run.name == name]
        windows = [run.window for run in of_name]
        by_rows = [run.straggler_by_rows for run in of_name]
        axes.plot(windows, by_rows, marker="o", color=COLOURS[name], label=WHAT[name])
    axes.axhline(MAX_STRAGGLER, color="black", linewidth=0.8, linestyle=":")
    axes.set_xlabel("window")
    axes.set_ylabel("rows of the fullest task / mean")
    axes.set_ylim(bottom=1.0)
    axes.set_xticks(sorted({run.window for run in runs}))
    axes.legend(frameon=False)
    save_picture(figure, PICTURE)
