"""The report in a real browser, from a disk and from a server with a strict policy: safe, whole and readable on any screen."""

import functools
import itertools
import threading
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from pages.document import STYLE, policy
from tests.browser import (
    DESK,
    PHONE,
    headings,
    luminance,
    pictures,
    running_browser,
    scrolls_sideways,
    visit,
    weakest_contrast,
    write_reports,
)
from tests.spark_jobs.test_report import NASTY

pytestmark = pytest.mark.browser

PAGES = {"small": 4, "large": 7, "failed": 1, "index": 4, "backtest": 1}  # and how many pictures each has


@pytest.fixture(scope="module")
def browser():
    with running_browser() as chromium:
        yield chromium


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    reports = tmp_path_factory.mktemp("ware house ü") / "visits"
    write_reports(reports)
    return reports


class Strict(SimpleHTTPRequestHandler):
    """Sends the page's own policy as a header too, which no page can loosen."""

    def end_headers(self) -> None:
        self.send_header("Content-Security-Policy", f"{policy(STYLE)}; frame-ancestors 'none'")
        super().end_headers()

    def log_message(self, *_: object) -> None:
        """Nobody reads it."""


@pytest.fixture(scope="module")
def server(folder) -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Strict, directory=str(folder))) as http:
        thread = threading.Thread(target=http.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{http.server_port}"
        http.shutdown()
        thread.join()


@pytest.mark.parametrize("name", PAGES)
def test_page_keeps_to_itself(browser, server, name):
    """Under the strictest policy there is nothing to complain of: no style, script or request that is not the page's own."""
    with visit(browser, f"{server}/{name}.html") as seen:
        assert seen.complaints == []
        assert [url for url in seen.requests if not url.endswith("/favicon.ico")] == [f"{server}/{name}.html"]
        assert seen.page.locator("script").count() == 0


def test_page_works_from_a_disk(browser, folder):
    """It is what arrives by mail; its links lead to its neighbours."""
    with visit(browser, (folder / "index.html").as_uri()) as seen:
        seen.page.get_by_role("link", name="2026-01-03 00:00").click()
        seen.page.wait_for_url("**/small.html")

        assert seen.complaints == []
        assert seen.hosts() == {""}
        assert seen.page.get_by_text(NASTY).count() >= 5


@pytest.mark.parametrize("screen", [PHONE, DESK], ids=["phone", "desk"])
@pytest.mark.parametrize("colours", ["light", "dark"])
@pytest.mark.parametrize("name", PAGES)
def test_page_is_readable_on_every_screen(browser, folder, name, screen, colours):
    """Phone or desk, day or night: no sideways scrolling, every picture there with letters that can be read, text with contrast."""
    with visit(browser, (folder / f"{name}.html").as_uri(), screen=screen, colours=colours) as seen:
        shown = pictures(seen.page)

        assert not scrolls_sideways(seen.page)
        assert len(shown) == PAGES[name]
        assert all(picture["width"] >= 300 and picture["height"] >= 150 for picture in shown)
        assert all(picture["letters"] >= 10 for picture in shown)
        assert weakest_contrast(seen.page) >= 4.5
        paper = luminance(seen.page.evaluate("getComputedStyle(document.body).backgroundColor"))
        assert (paper < 0.1) == (colours == "dark")


@pytest.mark.parametrize("name", PAGES)
def test_page_can_be_heard(browser, folder, name):
    """Headings in order, an alternative for every picture, a name for every region: what a screen reader goes by."""
    with visit(browser, (folder / f"{name}.html").as_uri()) as seen:
        levels = headings(seen.page)

        assert levels.count(1) == 1
        assert levels[0] == 1
        assert all(after - before <= 1 for before, after in itertools.pairwise(levels))
        assert all(len(picture["alternative"]) > 20 for picture in pictures(seen.page))
        assert seen.page.locator("[role=region]:not([aria-label])").count() == 0


def test_first_screen_shows_what_decides(browser, folder):
    """Verdict, picture and figures are seen before anybody scrolls."""
    with visit(browser, (folder / "large.html").as_uri()) as seen:
        ends = [
            seen.page.locator(part).first.bounding_box() for part in (".headline", ".drawing.wide", ".tiles")
        ]

        assert all(box["y"] + box["height"] <= DESK["height"] for box in ends)


def test_numbers_of_a_picture_are_one_click_away(browser, folder):
    """Also without scripts, and by keyboard."""
    with visit(browser, (folder / "large.html").as_uri()) as seen:
        numbers = seen.page.locator("details").first
        assert not numbers.locator("table").is_visible()
        numbers.locator("summary").press("Enter")

        assert numbers.locator("tbody tr").count() == 1024
        assert numbers.locator("table").is_visible()


def test_print_shows_every_move_on_paper(browser, folder):
    """What scrolls on a screen would be cut off on paper."""
    with visit(browser, (folder / "large.html").as_uri(), colours="dark") as seen:
        seen.page.emulate_media(media="print", color_scheme="dark")
        moves = seen.page.get_by_role("region", name="Moves")

        assert moves.evaluate("e => e.scrollHeight <= e.clientHeight + 1")
        assert luminance(seen.page.evaluate("getComputedStyle(document.body).backgroundColor")) == 1.0
