"""A dataset's last windows as four pictures: whether it pays to be here."""

from collections.abc import Sequence

from pages.parts import Cell, Picture, paragraph, picture, section, subsection
from spark_jobs.report_pictures import draw_counts, draw_lines
from spark_jobs.report_words import amount, counted, figure, moment, share, short_moments
from spark_jobs.run_facts import Facts


def render_history(history: Sequence[Facts], *, goal: float | None) -> str:
    """Oldest window first. Windows that came to no plan are gaps."""
    if not any(row["imbalance"] is not None for row in history):
        return section("History", paragraph("No window has figures yet."))
    windows = short_moments([row["window_start"] for row in history])
    parts = {
        "Imbalance with and without Evenkeel": picture(_imbalance(history, windows, goal)),
        "State moved": _if_any(
            history, "migration_share", _migration(history, windows), "Nothing was moved in these windows."
        ),
        "Moves that went back": _if_any(
            history, "n_thrash", _thrash(history, windows), "None in these windows."
        ),
        "Promised and kept": _if_any(
            history, "imbalance_realised", _kept(history, windows), "No plan has seen a next window yet."
        ),
    }
    return section(
        "History",
        paragraph(f"{counted(len(history), 'window')}, oldest first."),
        '<div class="grid">',
        *(f"<div>{subsection(title, part_html)}</div>" for title, part_html in parts.items()),
        "</div>",
    )


def _if_any(history: Sequence[Facts], field: str, shown: Picture, otherwise: str) -> str:
    """The picture, unless it would be empty."""
    return picture(shown) if any(row[field] for row in history) else paragraph(otherwise)


def _imbalance(history: Sequence[Facts], windows: list[str], goal: float | None) -> Picture:
    names = {"plain hash": ("before", "imbalance_hash"), "as it is": ("after", "imbalance")}
    lines = {name: (colour, [row[field] for row in history]) for name, (colour, field) in names.items()}
    return _picture(
        draw_lines(windows, lines, goal=goal),
        "θ of each window: under a plain hash, and as the window ended.",
        ["window", "outcome", "θ under a plain hash", "θ before", "θ at the end"],
        [
            [moment(row["window_start"]), row["outcome"]]
            + [figure(row[field]) for field in ("imbalance_hash", "imbalance_before", "imbalance")]
            for row in history
        ],
    )


def _migration(history: Sequence[Facts], windows: list[str]) -> Picture:
    shares = [100 * (row["migration_share"] or 0.0) for row in history]
    return _picture(
        draw_counts(windows, shares, unit="% of all state"),
        "Share of the state that each window's migration moved.",
        ["window", "state moved", "bytes rewritten", "routes"],
        [
            [
                moment(row["window_start"]),
                figure(row["migration_share"], share),
                figure(row["bytes_written"] or 0, amount),
                figure(row["n_routes"], amount),
            ]
            for row in history
        ],
    )


def _thrash(history: Sequence[Facts], windows: list[str]) -> Picture:
    return _picture(
        draw_counts(windows, [row["n_thrash"] for row in history], unit="moves"),
        "How many moves of each window went back to where an earlier one had taken the item from.",
        ["window", "moves that went back"],
        [[moment(row["window_start"]), f"{row['n_thrash']:,}"] for row in history],
    )


# What is told of a plan one window later; the last two only where a plan was made on a forecast.
TOLD_LATER = {
    "imbalance_predicted": "promised",
    "imbalance_realised": "next window had",
    "imbalance_unmoved": "without the plan",
    "imbalance_last": "planned on the last window",
    "imbalance_clairvoyant": "had it been known",
}


def _kept(history: Sequence[Facts], windows: list[str]) -> Picture:
    names = {
        "unmoved": ("before", "imbalance_unmoved"),
        "promised": ("other", "imbalance_predicted"),
        "kept": ("after", "imbalance_realised"),
    }
    lines = {name: (colour, [row[field] for row in history]) for name, (colour, field) in names.items()}
    told = [field for field in TOLD_LATER if any(row[field] is not None for row in history)]
    return _picture(
        draw_lines(windows, lines, goal=None),
        "For each window's plan: the θ it promised, the θ that the next window had, and the θ that would have been without it.",
        ["window", *(TOLD_LATER[field] for field in told)],
        [[moment(row["window_start"]), *(figure(row[field]) for field in told)] for row in history],
    )


def _picture(svg: str, sentence: str, head: Sequence[str], rows: Sequence[Sequence[Cell]]) -> Picture:
    return Picture(wide_svg=svg, narrow_svg=svg, sentence=sentence, head=head, rows=rows)
