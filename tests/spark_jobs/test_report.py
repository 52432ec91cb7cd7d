"""The report is one self-contained page; nothing a user chose can become HTML."""

from datetime import UTC, datetime
from html.parser import HTMLParser

import pytest

from spark_jobs.report_page import render_page

NASTY = "<script>alert(1)</script>"
PLAN = {
    "dataset": "clicks", "window_start": datetime(2026, 1, 3, tzinfo=UTC), "verdict": "improves",
    "load_before": [4.0, 2.0], "load_after": [3.0, 3.0], "max_imbalance": 0.08, "imbalance_hash": 0.5,
    "imbalance_before": 1 / 3, "imbalance_after": 0.0, "bound_imbalance": 0.0, "n_routes": 1, "migration": 1e6,
    "bound_migration": 5e5, "planner": "llfd", "plan": "0123456789abcdef", "reasons": [f"because {NASTY}"],
}  # fmt: skip
RUN = {
    "run": f"manual {NASTY}", "window_start": PLAN["window_start"], "outcome": "held", "reasons": [f"since {NASTY}"],
    "migration_share": 0.1, "rows_moved": 1, "bytes_written": 1000, "seconds": 3.0, "start_seconds": 9.0,
}  # fmt: skip
MOVE = {"kind": "key", "slot": 0, "key": NASTY, "from_bucket": 0, "to_bucket": 1, "cost": 1.0, "state": 10.0}
CHECK = {
    "subject": "window",
    "column": NASTY,
    "expectation": "e",
    "severity": "warning",
    "success": False,
    "observed": '"&"',
}


class Reader(HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.links, self.text = [], [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.links += [
            value for name, value in attrs if name in ("src", "href") and not value.startswith("#")
        ]

    def handle_data(self, data):
        self.text.append(data)


@pytest.fixture
def page():
    return render_page("clicks", RUN, PLAN, [MOVE, {**MOVE, "key": None}], [CHECK])


def test_users_text_is_shown_as_text(page):
    """A key is whatever a customer typed."""
    reader = Reader()
    reader.feed(page)

    assert "script" not in reader.tags
    assert "".join(reader.text).count(NASTY) == 5


def test_page_stands_alone(page):
    """It is mailed, archived and opened offline."""
    reader = Reader()
    reader.feed(page)

    assert reader.links == []
    assert "svg" in reader.tags


def test_same_plan_gives_the_same_page(page):
    """A report that changes when it is made again cannot be compared."""
    assert render_page("clicks", RUN, PLAN, [MOVE, {**MOVE, "key": None}], [CHECK]) == page


def test_run_without_a_plan_has_a_page():
    """A bad window's report says what was wrong with it."""
    page = render_page("clicks", RUN | {"outcome": "failed"}, None, [], [CHECK])

    assert "clicks 2026-01-03 00:00: failed" in page
    assert "The run came to no plan." in page
