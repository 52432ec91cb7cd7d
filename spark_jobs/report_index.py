"""The page that lists every run of a dataset, newest first."""

from collections.abc import Sequence
from html import escape

from pages.document import document
from pages.parts import badge, link, paragraph, table_of_html
from spark_jobs.control_tables import Row
from spark_jobs.report_history import render_history
from spark_jobs.report_words import NOTHING, counted, number, share, size
from spark_jobs.run_facts import Facts
from spark_jobs.run_outcome import MIGRATED

HEAD = ["window", "outcome", "θ before", "θ after", "state moved", "rewritten", "run"]


def render_index(dataset: str, runs: Sequence[Row], history: Sequence[Facts]) -> str:
    """From the rows of ``runs`` and ``history_of``. Links are relative: the folder may be moved as a whole."""
    newest = sorted(runs, key=lambda run: (run["window_start"], str(run["run"])), reverse=True)
    body = [
        f"<header><h1>{escape(dataset)}: all runs</h1>",
        paragraph(f"{counted(len(runs), 'run')}, newest first."),
        "</header>",
        table_of_html("Runs", HEAD, [_cells(run) for run in newest]),
        render_history(history, goal=None),
    ]
    return document(f"{dataset}: all runs | Evenkeel", "\n".join(body))


def _cells(run: Row) -> list[str]:
    has_moved = run["outcome"] == MIGRATED
    after = run["imbalance_after"] if has_moved else run["imbalance_before"]
    return [
        link(f"{run['window_start']:%Y-%m-%d %H:%M}", run["report"].rpartition("/")[2]),
        badge(run["outcome"]),
        number(run["imbalance_before"]),
        number(after),
        share(run["migration_share"]) if has_moved else NOTHING,
        size(run["bytes_written"]) if run["bytes_written"] else NOTHING,
        escape(str(run["run"])),
    ]
