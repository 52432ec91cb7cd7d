"""The report is one self-contained page; nothing a user chose can become HTML."""

import base64
import hashlib
import html
import re
from datetime import UTC, datetime
from html.parser import HTMLParser

import pytest

from spark_jobs.job import Task, Window
from spark_jobs.report_index import render_index
from spark_jobs.report_moves import MAX_MOVES
from spark_jobs.report_page import render_page
from spark_jobs.report_pictures import draw_loads
from spark_jobs.report_run import report_run
from spark_jobs.run_facts import headline
from tests.spark_jobs.conftest import DAY, START, visits

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
    "capacity": {
        "unit": "rows", "expected": 6.0, "high": 8.0, "seconds": 10.0, "headroom": 0.2,
        "load": {"seconds": 1.0, "source": "loading, as measured in 3 windows"},
        "process": {"seconds": 4.0, "source": "declared"}, "merge": None, "sent_on": None,
        "lines": [
            {"what": "loaders", "present": 1, "needed": 1, "enough": 1, "verdict": "right-provisioned", "reason": "6 rows"},
            {"what": "buckets", "present": 2, "needed": 3, "enough": 4, "verdict": "under-provisioned", "reason": "6 rows at most"},
        ],
        "useful_buckets": 6, "unknown": ["mergers: capacity.merge_seconds and capacity.sent_on are not declared"],
    },
}  # fmt: skip
HISTORY = {
    "window_start": "2026-01-03T00:00:00+00:00", "run": "r", "outcome": "held", "plan": "0123456789abcdef",
    "imbalance_hash": 0.5, "imbalance_before": 1 / 3, "imbalance": 1 / 3, "migration": 0.0, "migration_share": 0.0,
    "bytes_written": 0, "n_routes": 1, "n_thrash": 0, "imbalance_predicted": None, "imbalance_realised": None,
    "imbalance_unmoved": None, "imbalance_last": None, "imbalance_clairvoyant": None, "report": "reports/clicks/x.html",
}  # fmt: skip
FACTS = {
    "dataset": "clicks", "run": f"manual {NASTY}", "window_start": "2026-01-03T00:00:00+00:00",
    "window_end": "2026-01-04T00:00:00+00:00", "outcome": "held", "reasons": [f"since {NASTY}"], "rows_moved": 1,
    "bytes_written": 1000, "seconds": 3.0, "start_seconds": 9.0, "report": "reports/clicks/x.html",
    "steps": [{"name": "plan", "state": "success", "seconds": 3.0, "start_seconds": 9.0}],
    "headline": "Held: θ is 0.333.", "plan": PLAN,
    "feeds": {
        "strategy": "drf_m", "capacity": 100.0, "feeds": 6, "rows": 240.0, "is_loaded": True, "loaders": 3, "fewest_loaders": 3,
        "by": [
            {"how": how, "straggler": straggler, "fullest": 0.9, "mean_fill": 0.8, "overloaded": 0, "redirected": 1}
            for how, straggler in (("drf_m", 1.1), ("round robin", 1.6), ("hash", 2.0))
        ],
    },
    "forecast": {
        "plan": "fedcba9876543210", "planned_on": "holt", "expected": 120.0, "realised": 100.0, "error": 0.3,
        "items": [
            {"item": f"key {NASTY}", "kind": "key", "slot": 0, "key": NASTY, "expected": 45.0, "realised": 20.0, "error": 0.25},
            {"item": "slot 3", "kind": "slot", "slot": 3, "key": None, "expected": 10.0, "realised": 15.0, "error": 0.05},
        ],
        "regret": {
            "is_carried_out": True,
            "imbalance_realised": 0.0625,
            "imbalance_last": 0.125,
            "imbalance_clairvoyant": 0.03125,
        },
    },
    "checks": [
        {"subject": "window", "column": NASTY, "expectation": "e", "severity": "warning", "success": False,
         "observed": '"&"', "sentence": f"mend {NASTY}"},
    ],
    "history": [HISTORY],
}  # fmt: skip


class Reader(HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.links, self.text, self.styled = [], [], [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.links += [
            value for name, value in attrs if name in ("src", "href") and not value.startswith("#")
        ]
        self.styled += [tag for name, _ in attrs if name == "style" or name.startswith("on")]

    def handle_data(self, data):
        self.text.append(data)


def read(page):
    reader = Reader()
    reader.feed(page)
    return reader


@pytest.fixture(scope="module")
def page():
    return render_page(FACTS)


def test_users_text_is_shown_as_text(page):
    """A key is whatever a customer typed."""
    reader = read(page)

    assert "script" not in reader.tags
    assert "".join(reader.text).count(NASTY) >= 5


def test_page_stands_alone(page):
    """It is mailed, archived and opened offline; its one link is to the list beside it."""
    reader = read(page)

    assert reader.links == ["index.html"]
    assert "svg" in reader.tags


def test_only_the_pages_own_style_sheet_is_let_in(page):
    """The policy names the style by its digest: one style or handler in an attribute, and a browser would complain."""
    digest = base64.b64encode(hashlib.sha256(page.split("<style>")[1].split("</style>")[0].encode()).digest())

    assert f"default-src 'none'; style-src 'sha256-{digest.decode()}';" in html.unescape(page)
    assert read(page).styled == []
    assert page.count("<style") == 1


def test_same_plan_gives_the_same_page(page):
    """A report that changes when it is made again cannot be compared."""
    assert render_page(FACTS) == page


def test_no_two_elements_share_an_id(page):
    """Pictures refer to their clips and marks by id: another picture's would be drawn instead."""
    ids = re.findall(r'\bid="([^"]+)"', page)

    assert ids
    assert len(set(ids)) == len(ids)


def test_run_without_a_plan_has_a_page():
    """A bad window's report says what was wrong with it."""
    facts = FACTS | {"outcome": "failed", "plan": None}
    page = render_page(facts | {"headline": headline(facts)})

    assert "<title>clicks 2026-01-03 00:00: failed" in page
    assert page.count("it came to no plan") == 1


def test_first_screen_has_the_figures_that_decide(page):
    """θ, state, bytes, routes and the distance from the best possible, as the facts have them."""
    text = " ".join("".join(read(page).text).split())

    for figure in (
        "0.333 → 0.000",
        "10.00%",
        "1.00 MB of 10.00 MB",
        "1.00 kB",
        "of 20 allowed",
        "≤ 2.00 times",
    ):
        assert figure in text, figure


@pytest.mark.parametrize(
    ("outcome", "names", "kept"),
    [
        ("migrated", ("before", "after"), "the goal is kept"),
        ("held", ("now", "planned"), "the goal would be kept"),
    ],
)
def test_page_of_a_plan_that_was_not_carried_out_does_not_sound_as_if_it_were(outcome, names, kept):
    """Who reads "after" believes that it is so now."""
    facts = FACTS | {"outcome": outcome, "plan": PLAN | {"planned_on": "last"}}
    page = render_page(facts | {"headline": headline(facts)})

    assert all(f">{name}</text>" in page and f">load {name}</th>" in page for name in names)
    assert kept in page
    assert (f"the plan: because {html.escape(NASTY)}" in page) == (outcome == "held")


def test_long_plan_shows_its_first_moves_and_says_where_the_others_are():
    """A browser with 100,000 rows in a table helps nobody."""
    page = render_page(FACTS | {"plan": PLAN | {"moves": [MOVE] * (MAX_MOVES + 1300)}})

    assert page.count("bucket 0 was above the goal") == MAX_MOVES
    assert "1,300 more are not shown: table moves, plan 0123456789abcdef, has them all." in page


@pytest.mark.parametrize("n_buckets", [1, 2, 48, 49, 1024])
def test_any_number_of_buckets_gives_a_picture(n_buckets):
    """The picture of a thousand buckets is an outline, not a thousand bars: about as large as one of fifty."""
    loads = [float(i % 7 + 1) for i in range(n_buckets)]
    svg = draw_loads({"before": loads, "after": loads}, n_buckets=n_buckets, goal=0.08)

    assert svg.startswith("<svg")
    assert len(svg) < 100_000
    assert ("hottest first" in svg) == (n_buckets > 48)


def test_windows_without_figures_are_gaps():
    """A window that failed has no θ; the picture goes on after it."""
    failed = HISTORY | {name: None for name in HISTORY if name.startswith("imbalance") or name == "n_routes"}
    page = render_page(FACTS | {"history": [HISTORY, failed | {"outcome": "failed"}, HISTORY]})

    assert "3 windows, oldest first." in page
    assert "nan" not in page


def test_plan_on_a_forecast_is_told_beside_what_might_have_been():
    """Whether looking ahead paid is known one window later; plans that did not look ahead have no such figures."""
    scored = HISTORY | {"imbalance_realised": 0.2, "imbalance_last": 0.123, "imbalance_clairvoyant": 0.045}
    page = render_page(FACTS | {"history": [HISTORY, scored]})

    assert "0.123" in page
    assert "0.045" in page
    assert "had it been known" not in render_page(
        FACTS | {"forecast": None, "history": [scored | {"imbalance_clairvoyant": None}]}
    )


def test_forecast_is_shown_beside_what_came(page):
    """Whether forecasts can be trusted, and of which items they cannot; no figures of any where none was made."""
    text = " ".join("".join(read(page).text).split())

    assert "120 of cost expected in this window, 100 came, off by 30.00% of that item by item" in text
    assert "45" in text
    assert "25.00%" in text
    assert "0.062 with that plan; it would have been 0.125 with one on the last window and 0.031" in text
    assert "Forecast and what came" not in render_page(FACTS | {"forecast": None})


def test_hot_bucket_says_what_would_help(page):
    """An operator who cannot act on a finding stops reading."""
    text = "".join(read(page).text)

    assert "Bucket 1: 1.200 mean loads" in text
    assert "In the way: the route budget." in text
    assert f"Would help: splitting key {NASTY} into 2 or more" in text


RUN = {
    "run": f"manual {NASTY}", "window_start": datetime(2026, 1, 3, tzinfo=UTC), "outcome": "migrated", "imbalance_before": 0.5,
    "imbalance_after": 0.05, "migration_share": 0.1, "bytes_written": 2000, "report": "/ware house/reports/clicks/a.html",
}  # fmt: skip
FAILED = {
    "run": "r2", "window_start": datetime(2026, 1, 4, tzinfo=UTC), "outcome": "failed", "imbalance_before": None,
    "imbalance_after": None, "migration_share": None, "bytes_written": 0, "report": "/ware house/reports/clicks/b.html",
}  # fmt: skip


CHANGES = [
    {"evenkeel": "roll back", "from_function": "b" * 64, "to_function": "a" * 64, "rows_moved": 7, "bytes_written": 0, "timestamp": 1767500000000},
    {"evenkeel": "migrate", "plan": "0123456789abcdef", "from_function": "a" * 64, "to_function": "b" * 64, "rows_moved": 7,
     "bytes_written": 2000, "timestamp": 1767400000000},
]  # fmt: skip


def test_index_tells_that_a_migration_was_rolled_back():
    """The run's own page still says migrated, as it was; whoever comes later must not take that for now."""
    text = " ".join("".join(read(render_index("clicks", [RUN], [HISTORY], CHANGES)).text).split())

    assert "The table obeys function aaaaaaaaaaaa." in text
    assert "2026-01-04 04:13" in text
    assert text.index("roll back") < text.index("plan 0123456789abcdef")


def test_index_lists_every_run_newest_first():
    """Links are relative: the folder is copied, mounted and served from wherever it is."""
    reader = read(render_index("clicks", [RUN, FAILED], [HISTORY], CHANGES))

    assert reader.links == ["b.html", "a.html"]
    assert "script" not in reader.tags
    assert NASTY in "".join(reader.text)


def test_index_claims_no_figures_that_a_run_does_not_have():
    """A run that moved nothing ends with the θ it began with."""
    held = RUN | {"outcome": "held", "bytes_written": 0}
    text = "".join(read(render_index("clicks", [held], [], [])).text)

    assert "0.050" not in text
    assert "10.00%" not in text


def _report(day: int, run: str) -> str:
    """The report of a run whose check failed; its path."""
    steps = [{"name": "check", "state": "failed", "error": f"mend {NASTY}"}]
    window = Window(start=START + day * DAY, end=START + (day + 1) * DAY)
    return str(
        report_run(Task(dataset=visits(), given_window=window, run=run, options={"steps": steps}))["report"]
    )


def test_job_writes_page_and_index_and_the_same_again(warehouse):
    """A report cleared and run again leaves every file as it was: nothing is listed twice, nothing is lost."""
    first = _report(0, "r1")
    second = _report(1, f"../../{NASTY}")
    folder = warehouse / "reports" / "visits"
    written = {path.name: path.read_bytes() for path in folder.iterdir()}

    assert _report(0, "r1") == first
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == written
    index = read(written["index.html"].decode())
    assert index.links == [path.rpartition("/")[2] for path in (second, first)]
    assert len(written) == 3
