"""The page of a backtest: who would have served the dataset best, window by window."""

from collections.abc import Sequence
from html import escape

from pages.document import document
from pages.parts import Picture, paragraph, picture, section, table
from spark_jobs.report_pictures import draw_lines
from spark_jobs.report_words import counted, moment, number, share, short_moments
from spark_jobs.run_facts import Facts

HEAD = [
    "place",
    "planner",
    "planned on",
    "",
    "net",
    "θ, mean",
    "θ, worst",
    "moved a window",
    "routes",
    "moves back",
]
COLOURS = {"hash": "before", "champion": "after", "challenger": "other"}


def render_backtest(dataset: str, told: Facts) -> str:
    """From what ``backtest_plans`` answers. Decides nothing."""
    windows = told["windows"]
    body = [
        f"<header><h1>{escape(dataset)}: backtest</h1>",
        paragraph(f"{told['advice'][0].upper()}{told['advice'][1:]}."),
        "</header>",
        section("Imbalance, window by window", picture(_picture(told["rows"], windows, told["goal"]))),
        section(
            "Everybody",
            paragraph(
                f"{counted(len(windows), 'window')} from {moment(windows[0])} to {moment(windows[-1])}. Every plan was made from what was known"
                " then and is judged by the window that followed. Net is the cost saved against the plain hash less the cost of moving, as a"
                " share of all cost. The clairvoyant knew the next window: nobody can do better."
            ),
            table("Everybody who took part", HEAD, [_cells(row) for row in told["rows"]]),
        ),
    ]
    return document(f"{dataset}: backtest | Evenkeel", "\n".join(body))


def _picture(rows: Sequence[Facts], windows: list[str], goal: float) -> Picture:
    shown = {
        f"{row['role']}": (COLOURS[row["role"]], row["imbalance"]) for row in rows if row["role"] in COLOURS
    }
    names = list(shown)
    svg = draw_lines(short_moments(windows), shown, goal=goal)
    return Picture(
        wide_svg=svg,
        narrow_svg=svg,
        sentence=f"θ of each window for {', '.join(names)}.",
        head=["window", *names],
        rows=[
            [moment(window), *(number(values[place]) for _, values in shown.values())]
            for place, window in enumerate(windows)
        ],
    )


def _cells(row: Facts) -> list[str]:
    return [
        "-" if row["place"] is None else str(row["place"]),
        row["planner"],
        row["forecast"] or "-",
        "" if row["role"] == "contender" else row["role"],
        share(row["net"]),
        number(row["mean_imbalance"]),
        number(row["worst_imbalance"]),
        share(row["migration"]),
        f"{row['n_routes']:,}",
        f"{row['n_thrash']:,}",
    ]
