"""The demo's last table is what people take a picture of."""

from datetime import UTC, datetime
from pathlib import Path

from demo.bars import WIDTH, load_bars
from demo.summary import HEAD, summary_table, where_to_look

RUN = {
    "window": datetime(2026, 1, 3, tzinfo=UTC),
    "outcome": "migrated",
    "imbalance_hash": 0.4321,
    "imbalance_before": 0.25,
    "imbalance_after": 0.0799,
    "n_routes": 12,
    "migration_share": 0.0123,
    "migration": 4_200_000.0,
    "bytes_written": 4_560_000,
    "seconds": 61.4,
}


def test_figures_stand_under_their_heads():
    """Every column is as wide as its widest cell, and shows the unit its head names."""
    head, rule, line = summary_table([RUN]).splitlines()[1:]

    assert line.split() == [
        "2026-01-03",
        "migrated",
        "0.432",
        "0.250",
        "0.080",
        "12",
        "1.23",
        "4.20",
        "4.56",
        "61",
    ]
    assert len(head) == len(rule) == len(line)
    assert all(name in head for name in HEAD)


def test_run_without_a_plan_has_no_figures():
    """A window that failed its checks was not planned on."""
    failed = {"window": RUN["window"], "outcome": "failed", "imbalance_hash": None, "seconds": 20.0}
    line = summary_table([failed]).splitlines()[-1]

    assert line.split() == ["2026-01-03", "failed", *["-"] * 7, "20"]


def test_run_that_was_held_has_moved_nothing():
    """Its plan's figures are what would have been; its moves are not."""
    line = summary_table([RUN | {"outcome": "held", "bytes_written": 0}]).splitlines()[-1]

    assert line.split()[-4:] == ["0.00", "0.00", "0.00", "61"]


def test_bars_are_as_long_as_loads():
    """The longest is as wide as allowed, the others in proportion, to the eighth of a character."""
    lines = load_bars([30.0, 10.0, 5.0], [15.0, 15.0, 15.0]).splitlines()

    assert [line.split()[0] for line in lines] == ["bucket", "0", "1", "2"]
    assert lines[1].split()[1:] == ["█" * WIDTH, "2.00", "█" * (WIDTH // 2), "1.00"]
    assert lines[2].split()[1:3] == ["█" * 9 + "▍", "0.67"]
    assert lines[3].split()[1:3] == ["█" * 4 + "▋", "0.33"]
    assert len({line.rindex(" " + line.split()[-2]) for line in lines[1:]}) == 1


def test_bucket_without_load_has_no_bar():
    """A new bucket is empty before the plan."""
    assert load_bars([2.0, 0.0], [1.0, 1.0]).splitlines()[2].split()[:2] == ["1", "0.00"]


def test_last_lines_name_what_to_open():
    """Links work when clicked, also where the path has spaces, and the command when pasted."""
    text = where_to_look("/ware house/demo/reports/clicks/a.html", Path("/ware house/demo"))

    assert "file:///ware%20house/demo/reports/clicks/a.html" in text
    assert "file:///ware%20house/demo/reports/clicks/index.html" in text
    assert "EVENKEEL_WAREHOUSE='/ware house/demo' make airflow" in text
