"""Reports are found by name, wherever the warehouse is, and nothing else is found."""

import pytest

from pages.reports import datasets_with_reports, read_report, report_path
from pages.store import write_text

PAGE = "2026-01-03T0000-manual__x-0123abcd"


@pytest.fixture(params=["path", "URI"])
def reports(warehouse, monkeypatch, request):
    """A warehouse with one report, given as a folder and as a URI."""
    if request.param == "URI":
        monkeypatch.setenv("EVENKEEL_WAREHOUSE", warehouse.as_uri())
    write_text(report_path("clicks", PAGE), "θ")
    return warehouse / "reports"


def test_report_is_read_as_it_was_written(reports):
    """Also where the warehouse is a URI: a cluster's store."""
    assert (reports / "clicks" / f"{PAGE}.html").read_text(encoding="utf-8") == "θ"
    assert read_report("clicks", PAGE) == "θ".encode()
    assert datasets_with_reports() == ["clicks"]


@pytest.mark.parametrize(
    ("dataset", "page"),
    [("clicks", "none"), ("orders", PAGE), ("..", "x"), ("clicks", "../../outside"), ("clicks", "/outside"), (".", "clicks"),
     ("clicks/../..", "outside"), ("Clicks", PAGE), ("clicks", f"{PAGE}\n"), ("clicks", ""), ("", PAGE)],
)  # fmt: skip
def test_no_other_name_finds_anything(reports, dataset, page):
    """Names come from whoever types an address."""
    (reports.parent / "outside.html").write_text("nobody else's business")

    assert read_report(dataset, page) is None


def test_link_on_the_disk_leads_nowhere_else(warehouse):
    """Whoever may write a report must not be able to show any file of the server's."""
    write_text(report_path("clicks", "index"), "")
    (warehouse / "outside.html").write_text("nobody else's business")
    (warehouse / "reports" / "clicks" / "linked.html").symlink_to(warehouse / "outside.html")
    (warehouse / "reports" / "orders").symlink_to(warehouse)

    assert read_report("clicks", "linked") is None
    assert read_report("orders", "outside") is None


def test_warehouse_without_reports_has_none(warehouse):
    """The first look comes before the first run."""
    assert datasets_with_reports() == []
