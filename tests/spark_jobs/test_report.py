"""The report is one self-contained page; nothing a user chose can become HTML."""

from html.parser import HTMLParser

import pytest

from spark_jobs.report_page import render_page

NASTY = "<script>alert(1)</script>"
MOVE = {
    "item": f"key {NASTY}", "kind": "key", "slot": 0, "key": NASTY, "from_bucket": 0, "to_bucket": 1, "cost": 1.0, "state": 10.0,
    "cause": "relief", "imbalance_without": 0.2, "why": "bucket 0 was above the goal",
}  # fmt: skip
POINT = {"budget": 0.0, "imbalance": 1 / 3, "migration": 0.0, "n_routes": 0}
PLAN = {
    "plan": "0123456789abcdef", "planner": "llfd", "verdict": "improves", "from_function": "a" * 64, "to_function": "b" * 64,
    "n_buckets": 2, "max_imbalance": 0.08, "target_imbalance": 0.06, "max_routes": 20, "max_migration": 0.6,
    "imbalance_hash": 0.5, "imbalance_before": 1 / 3, "imbalance_after": 0.0, "load_before": [4.0, 2.0],
    "load_after": [3.0, 3.0], "n_routes": 1, "n_moves": 2, "migration": 1e6, "total_state": 1e7, "migration_share": 0.1,
    "bound_imbalance": 0.0, "bound_migration": 5e5, "cost_saved": 10.0, "cost_spent": 1.0,
    "window_start": "2026-01-03T00:00:00+00:00", "window_end": "2026-01-04T00:00:00+00:00", "reasons": [f"because {NASTY}"],
    "moves": [MOVE, {**MOVE, "item": "the NULL key", "key": None}],
    "hot_buckets": [
        {"bucket": 1, "load": 1.2, "heaviest_item": f"key {NASTY}", "heaviest_cost": 0.9, "binds": ["max_routes"],
         "helps": [f"splitting key {NASTY} into 2 or more"]},
    ],
    "frontier": {
        "by_migration": [POINT, {"budget": None, "imbalance": 0.0, "migration": 1e6, "n_routes": 1}],
        "by_routes": [POINT, {"budget": None, "imbalance": 0.0, "migration": 1e6, "n_routes": 1}],
    },
    "certificate": {
        "imbalance": 0.0, "imbalance_bound": 0.0, "migration": 1e6, "migration_bound": 5e5, "proof": None,
        "migration_ratio": 2.0,
    },
    "payback": {"saved": 10.0, "spent": 1.0, "n_windows": 5, "is_worth_it": True},
}  # fmt: skip
FACTS = {
    "dataset": "clicks", "run": f"manual {NASTY}", "window_start": "2026-01-03T00:00:00+00:00",
    "window_end": "2026-01-04T00:00:00+00:00", "outcome": "held", "reasons": [f"since {NASTY}"], "rows_moved": 1,
    "bytes_written": 1000, "seconds": 3.0, "start_seconds": 9.0, "report": "reports/clicks/x.html",
    "steps": [{"name": "plan", "state": "success", "seconds": 3.0, "start_seconds": 9.0}],
    "headline": "Held: θ is 0.333.", "plan": PLAN,
    "checks": [
        {"subject": "window", "column": NASTY, "expectation": "e", "severity": "warning", "success": False,
         "observed": '"&"', "sentence": f"mend {NASTY}"},
    ],
    "history": [
        {"window_start": "2026-01-03T00:00:00+00:00", "run": "r", "outcome": "held", "plan": "0123456789abcdef",
         "imbalance_hash": 0.5, "imbalance_before": 1 / 3, "imbalance": 1 / 3, "migration": 0.0, "migration_share": 0.0,
         "bytes_written": 0, "n_routes": 1, "n_thrash": 0, "imbalance_predicted": None, "imbalance_realised": None,
         "imbalance_unmoved": None, "report": "reports/clicks/x.html"},
    ],
}  # fmt: skip


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
    return render_page(FACTS)


def test_users_text_is_shown_as_text(page):
    """A key is whatever a customer typed."""
    reader = Reader()
    reader.feed(page)

    assert "script" not in reader.tags
    assert "".join(reader.text).count(NASTY) >= 5


def test_page_stands_alone(page):
    """It is mailed, archived and opened offline."""
    reader = Reader()
    reader.feed(page)

    assert reader.links == []
    assert "svg" in reader.tags


def test_same_plan_gives_the_same_page(page):
    """A report that changes when it is made again cannot be compared."""
    assert render_page(FACTS) == page


def test_run_without_a_plan_has_a_page():
    """A bad window's report says what was wrong with it."""
    page = render_page(FACTS | {"outcome": "failed", "plan": None})

    assert "clicks 2026-01-03 00:00: failed" in page
    assert "The run came to no plan." in page
