"""The page that lists every run of a dataset, newest first, and every change of its table's function."""

from collections.abc import Sequence
from datetime import UTC, datetime
from html import escape

from pages.document import document
from pages.parts import badge, link, paragraph, section, table, table_of_html
from spark_jobs.control_tables import Row
from spark_jobs.report_history import render_history
from spark_jobs.report_words import NOTHING, counted, number, share, size
from spark_jobs.run_facts import Facts
from spark_jobs.run_outcome import MIGRATED

HEAD = ["window", "outcome", "θ before", "θ after", "state moved", "rewritten", "run"]
CHANGES = ["at (UTC)", "by", "from function", "to function", "rows moved", "rewritten"]


def render_index(
    dataset: str, runs: Sequence[Row], history: Sequence[Facts], changes: Sequence[Facts]
) -> str:
    """From the rows of ``runs``, ``history_of`` and ``recent_changes``. Links are relative: the folder may be moved as a whole."""
    newest = sorted(runs, key=lambda run: (run["window_start"], str(run["run"])), reverse=True)
    body = [
        f"<header><h1>{escape(dataset)}: all runs</h1>",
        paragraph(f"{counted(len(runs), 'run')}, newest first."),
        "</header>",
        table_of_html("Runs", HEAD, [_cells(run) for run in newest]),
        _changes(changes),
        render_history(history, goal=None),
    ]
    return document(f"{dataset}: all runs | Evenkeel", "\n".join(body))


def _changes(changes: Sequence[Facts]) -> str:
    """What the table itself says happened to it: a run that migrated may have been rolled back since."""
    if not changes:
        return ""
    rows = [
        [
            f"{datetime.fromtimestamp(change['timestamp'] / 1000, UTC):%Y-%m-%d %H:%M}",
            f"plan {change['plan']}" if change.get("plan") else change["evenkeel"],
            change["from_function"][:12],
            change["to_function"][:12],
            f"{change['rows_moved']:,}",
            size(change["bytes_written"]),
        ]
        for change in changes
    ]
    now = f"The table obeys function {changes[0]['to_function'][:12]}."
    return section("Changes of the function", paragraph(now), table("Changes of the function", CHANGES, rows))


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
