"""A real browser for tests of pages: what it must never do, and what people must be able to see."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

# Nothing of the browser's own may reach for the network.
ARGUMENTS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update",
    "--disable-sync",
]  # fmt: skip
PHONE, DESK = {"width": 375, "height": 800}, {"width": 1440, "height": 900}


@contextmanager
def running_browser() -> Iterator[Any]:
    """The system's own Chromium, without a window; the test says that it was skipped where there is none."""
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if program is None:
        pytest.skip("needs a browser: apt-get install chromium")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=ARGUMENTS)
        yield browser
        browser.close()


class Visit:
    """A page as somebody looks at it, and all that went on meanwhile."""

    def __init__(self, page: Any) -> None:
        self.page = page
        self.complaints: list[str] = []  # errors of the console and of scripts, and dialogs
        self.requests: list[str] = []
        page.on("console", lambda said: self.complaints.append(said.text) if said.type == "error" else None)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("dialog", self._dismiss)
        page.on("request", lambda request: self.requests.append(request.url))

    def _dismiss(self, dialog: Any) -> None:
        self.complaints.append(f"dialog {dialog.message}")
        dialog.dismiss()

    def hosts(self) -> set[str]:
        """Where it asked for anything; a file's host is empty."""
        return {urlsplit(url).hostname or "" for url in self.requests if not url.startswith("data:")}


@contextmanager
def visit(
    browser: Any, url: str, *, screen: dict[str, int] = DESK, colours: str = "light"
) -> Iterator[Visit]:
    context = browser.new_context(viewport=screen, color_scheme=colours)
    visited = Visit(context.new_page())
    visited.page.goto(url)
    yield visited
    context.close()


def headings(page: Any) -> list[int]:
    """Levels, as they come."""
    found = page.evaluate("[...document.querySelectorAll('h1,h2,h3,h4,h5,h6')].map(h => +h.tagName[1])")
    return [int(level) for level in found]


def pictures(page: Any) -> list[dict[str, Any]]:
    """Those that are visible: their size in pixels, their alternative, and the height of their smallest letters."""
    found = page.evaluate(
        """[...document.querySelectorAll('svg, img')].filter(s => s.getClientRects().length).map(s => ({
            width: s.getBoundingClientRect().width, height: s.getBoundingClientRect().height,
            alternative: s.closest('[role=img]')?.getAttribute('aria-label') || s.getAttribute('alt') || '',
            letters: Math.min(...[...s.querySelectorAll('text')].map(
                t => parseFloat(t.getAttribute('font-size')) * s.getBoundingClientRect().width / s.viewBox.baseVal.width)),
        }))"""
    )
    return list(found)


def weakest_contrast(page: Any) -> float:
    """The least contrast (as WCAG 2 defines it) of any text with the page's paper, pictures included."""
    colours = page.evaluate(
        """[...document.querySelectorAll('h1,h2,h3,p,li,td,th,a,dt,dd,summary,svg text')].filter(e => e.getClientRects().length)
            .map(e => e.closest('svg') ? getComputedStyle(e).fill : getComputedStyle(e).color)"""
    )
    paper = luminance(page.evaluate("getComputedStyle(document.body).backgroundColor"))
    return min(_contrast(luminance(colour), paper) for colour in set(colours))


def luminance(colour: str) -> float:
    """Of a colour as browsers write it: rgb(1, 2, 3)."""
    channels = [int(part) / 255 for part in colour[4:-1].split(",")]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _contrast(one: float, other: float) -> float:
    return (max(one, other) + 0.05) / (min(one, other) + 0.05)


def scrolls_sideways(page: Any) -> bool:
    return bool(page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth"))


def write_reports(folder: Path) -> None:
    """Reports of the dataset ``visits``: ``small``, ``large`` (1,024 buckets, 3,000 moves), ``failed``, their index, and a backtest."""
    from spark_jobs.backtest_page import render_backtest
    from spark_jobs.report_index import render_index
    from spark_jobs.report_page import render_page
    from tests.spark_jobs.test_report import CHANGES, FACTS, FAILED, HISTORY, MOVE, PLAN, RUN

    loads = [float((7 * i) % 11 + 1) for i in range(1024)]
    wide = {"n_buckets": 1024, "load_before": loads, "load_after": [6.0] * 1024, "moves": [MOVE] * 3000}
    history = [
        HISTORY | {"window_start": f"2026-01-{day:02}T00:00:00+00:00", "migration_share": day / 100, "n_thrash": day % 3,
                   "imbalance_predicted": 0.05, "imbalance_realised": 0.07, "imbalance_unmoved": 0.3}
        for day in range(1, 31)
    ]  # fmt: skip
    texts = {
        "small": render_page(FACTS),
        "large": render_page(FACTS | {"plan": PLAN | wide, "history": history}),
        "failed": render_page(FACTS | {"outcome": "failed", "plan": None}),
        "backtest": render_backtest("visits", backtest_of_a_month()),
        "index": render_index("visits", [RUN | {"report": "x/small.html"}, FAILED | {"report": "x/large.html"}], history, CHANGES),
    }  # fmt: skip
    folder.mkdir(parents=True)
    for name, text in texts.items():
        (folder / f"{name}.html").write_text(text, encoding="utf-8")


def backtest_of_a_month() -> dict[str, Any]:
    """What ``backtest_plans`` answers after 29 judged windows, with as many contenders as it has by itself."""
    pairs = [
        (planner, forecast)
        for forecast in ("last", "chosen")
        for planner in ("evenkeel", "mixed_compact", "mixed", "llfd", "min_table")
    ]
    figures = {
        "net": 0.25,
        "payback": 0.4,
        "worst_imbalance": 0.12,
        "mean_imbalance": 0.1,
        "migration": 0.0123,
        "n_routes": 812,
        "n_thrash": 3,
    }
    rows = [
        {"place": place, "role": {1: "challenger", 2: "champion"}.get(place, "contender"), "planner": planner, "forecast": forecast,
         **figures, "imbalance": [0.08 + 0.01 * place + 0.001 * (7 * day % 11) for day in range(29)]}
        for place, (planner, forecast) in enumerate(pairs, start=1)
    ]  # fmt: skip
    rows += [
        {"place": None, "role": role, "planner": planner, "forecast": forecast, **figures, "imbalance": [theta] * 29}
        for role, planner, forecast, theta in (("clairvoyant", "evenkeel", "next window", 0.06), ("hash", "hash", "", 0.5))
    ]  # fmt: skip
    return {
        "advice": "keep evenkeel on last: the best of the others, evenkeel on chosen, is ahead by 0.40%, less than 0.5% of all cost",
        "goal": 0.08,
        "windows": [f"2026-01-{day:02}T00:00:00+00:00" for day in range(2, 31)],
        "rows": rows,
    }
