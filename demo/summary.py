"""The demo's last screen: what happened in each window, and where to see more."""

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

HEAD = (
    "window",
    "outcome",
    "θ hash",
    "θ before",
    "θ after",
    "routes",
    "moved %",
    "moved MB",
    "rewritten MB",
    "seconds",
)


def summary_table(runs: Sequence[dict[str, Any]]) -> str:
    """One line a window, columns aligned. θ hash: had nothing ever been done."""
    rows = [HEAD, *(_cells(run) for run in runs)]
    widths = [max(len(row[i]) for row in rows) for i in range(len(HEAD))]
    lines = ["  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in rows]
    return "\n".join(["", lines[0], "-" * len(lines[0]), *lines[1:]])


def _cells(run: dict[str, Any]) -> tuple[str, ...]:
    """A run that came to no plan has no figures."""
    if run["imbalance_hash"] is None:
        return f"{run['window']:%Y-%m-%d}", run["outcome"], *["-"] * (len(HEAD) - 3), f"{run['seconds']:.0f}"
    has_moved = run["outcome"] == "migrated"
    return (
        f"{run['window']:%Y-%m-%d}",
        run["outcome"],
        f"{run['imbalance_hash']:.3f}",
        f"{run['imbalance_before']:.3f}",
        f"{run['imbalance_after']:.3f}",
        f"{run['n_routes']}",
        f"{100 * run['migration_share'] * has_moved:.2f}",
        f"{run['migration'] * has_moved / 1e6:.2f}",
        f"{run['bytes_written'] / 1e6:.2f}",
        f"{run['seconds']:.0f}",
    )


def where_to_look(report: str, warehouse: Path) -> str:
    """The report of one run and the list of all as links that terminals open, and the way to them in Airflow."""
    page = Path(report)
    return "\n".join(
        [
            "",
            f"Report    {page.as_uri()}",
            f"All runs  {page.with_name('index.html').as_uri()}",
            f"Airflow   EVENKEEL_WAREHOUSE={shlex.quote(str(warehouse))} make airflow",
            "          then log in, Browse, Evenkeel reports; every Dag has them in its tab Reports",
        ]
    )
