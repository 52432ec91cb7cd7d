"""The demo's last table is what people take a picture of."""

from datetime import UTC, datetime

from demo.summary import HEAD, summary_table

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
