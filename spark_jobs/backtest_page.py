"""The page of a backtest: who would have served the dataset best, window by window."""

from collections.abc import Sequence
from html import escape

from pages.document import document
from pages.parts import Picture, badge, paragraph, picture, section, table_of_html
from spark_jobs.report_pictures import NARROW, WIDE, draw_lines
from spark_jobs.report_words import counted, moment, number, share, short_moments
from spark_jobs.run_facts import Facts

HEAD = [
    "place",
    "net",
    "paid in",
    "planner, and what it planned on",
    "θ, mean",
    "θ, worst",
    "moved",
    "routes",
    "moves back",
]
COLOURS = {"hash": "before", "champion": "after", "challenger": "other"}


def render_backtest(dataset: str, told: Facts) -> str:
    """From what ``backtest_plans`` answers. Decides nothing."""
    windows = told["windows"]
    body = [
        f"<header><h1>{escape(dataset)}: backtest</h1>",
        f'<p class="headline">{escape(told["advice"][0].upper() + told["advice"][1:])}.</p></header>',
        section("Imbalance, window by window", picture(_picture(told["rows"], windows, told["goal"]))),
        section(
            "Everybody",
            paragraph(
                f"{counted(len(windows), 'window')} from {moment(windows[0])} to {moment(windows[-1])}. Every plan was made from what was known"
                " then and is judged by the window that followed. Net is the cost saved against the plain hash less the cost of moving, as a"
                " share of all cost. Paid in: windows for which plans have to gain what they gained in the first, until their moves are"
                " paid. Moved: share of all state, a window. The clairvoyant knew the next window; the challenger is the best that a dataset file can name."
            ),
            table_of_html("Everybody who took part", HEAD, [_cells_html(row) for row in told["rows"]]),
        ),
    ]
    return document(f"{dataset}: backtest | Evenkeel", "\n".join(body))


def _picture(rows: Sequence[Facts], windows: list[str], goal: float) -> Picture:
    shown = {
        f"{row['role']}": (COLOURS[row["role"]], row["imbalance"]) for row in rows if row["role"] in COLOURS
    }
    names = list(shown)
    wide, narrow = (
        draw_lines(short_moments(windows), shown, goal=goal, size=size) for size in (WIDE, NARROW)
    )
    return Picture(
        wide_svg=wide,
        narrow_svg=narrow,
        sentence=f"θ of each window for {', '.join(names)}.",
        head=["window", *names],
        rows=[
            [moment(window), *(number(values[place]) for _, values in shown.values())]
            for place, window in enumerate(windows)
        ],
    )


def _cells_html(row: Facts) -> list[str]:
    return [
        "-" if row["place"] is None else str(row["place"]),
        share(row["net"]),
        payback_words(row["payback"]),
        _who_html(row),
        number(row["mean_imbalance"]),
        number(row["worst_imbalance"]),
        share(row["migration"]),
        f"{row['n_routes']:,}",
        f"{row['n_thrash']:,}",
    ]


def payback_words(windows: float | None) -> str:
    """How many windows of the gain pay for the moves."""
    return "never" if windows is None else f"{windows:.1f}"


def _who_html(row: Facts) -> str:
    """Whose figures they are; the hash plans nothing, so on nothing."""
    name = escape(row["planner"] + (f" on {row['forecast']}" if row["forecast"] else ""))
    return name if row["role"] in ("contender", "hash") else f"{name} {badge(row['role'])}"
