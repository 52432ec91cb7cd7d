"""A backtest in a terminal: the page's figures, whatever its width."""

import pytest

from cli.backtest import backtest_lines
from cli.text import render, width
from tests.browser import backtest_of_a_month


@pytest.mark.parametrize(("payback", "shown"), [(0.4, "0.4"), (12.34, "12.3"), (0.0, "0.0"), (None, "never")])
def test_payback_is_told_of_everybody(payback, shown):
    """Who moves much for little is seen at once."""
    told = backtest_of_a_month()
    rows = [row | {"payback": payback} for row in told["rows"]]

    lines = [render(line) for line in backtest_lines(told | {"rows": rows, "page": "backtest.html"})]

    column = lines[0].index("paid in")
    assert [line[column : column + len("paid in")].strip() for line in lines[1 : 1 + len(rows)]] == [
        shown
    ] * len(rows)


def test_narrow_terminal_keeps_what_decides():
    """Columns that decide nothing are left out before a line wraps."""
    told = backtest_of_a_month() | {"page": "backtest.html"}

    lines = backtest_lines(told, columns=80)[: 1 + len(told["rows"])]

    assert max(map(width, lines)) <= 80
    assert all(name in lines[0] for name in ("planner", "planned on", "net", "θ mean"))
