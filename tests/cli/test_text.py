"""Text for a terminal: nothing from outside is obeyed, everything is aligned."""

import pytest

from cli.text import bar, paint, render, size, table, width
from spark_jobs.visible_text import escaped


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        pytest.param("\x1b[2J", r"\x1b[2J", id="escape-sequence"),
        pytest.param("a\r\nb\tc", r"a\x0d\x0ab\x09c", id="line-ends"),
        pytest.param("\x9b31m", r"\x9b31m", id="one-byte-csi"),
        pytest.param("\u202egnp.exe", r"\u202egnp.exe", id="right-to-left-override"),
        pytest.param("\u2028", r"\u2028", id="line-separator"),
        pytest.param("\ud800", r"\ud800", id="lone-surrogate"),
        pytest.param("\U000e0041", r"\U000e0041", id="tag"),
        pytest.param("naïve 🚀 大阪 a\\b", "naïve 🚀 大阪 a\\b", id="plain-text-stays"),
    ],
)
def test_what_a_terminal_would_obey_is_shown_escaped(text, shown):
    """A key comes from anywhere: it must not clear a screen, hide a line or turn it round."""
    assert escaped(text) == shown
    assert render(text, has_colours=True) == shown


def test_only_our_own_paint_becomes_colour():
    """Colours are ours; a forged mark can colour, and nothing else."""
    assert render(paint("\x1b[31mx", "red"), has_colours=True) == "\x1b[31m\\x1b[31mx\x1b[0m"
    assert render(paint("x", "red")) == "x"
    assert render("\x00nonsense\x00x", has_colours=True) == "x"


def test_columns_align_by_what_the_terminal_shows():
    """Wide characters take two columns, combining ones none, escapes what they are written with."""
    rows = [["大阪", "1"], ["e\u0301", "22"], ["\x1b", "333"], [paint("abcd", "red"), "4"]]

    lines = [render(line) for line in table(("key", "n"), rows, right=("n",))]

    assert lines == ["key     n", "大阪    1", "e\u0301      22", "\\x1b  333", "abcd    4"]
    assert {width(line) for line in lines} == {9}


def test_narrow_terminals_get_fewer_columns():
    """Wrapped lines are no table: what can be missed is left out, in the order given, and no more than must be."""
    head, rows = ("key", "n", "run"), [["abc", "12", "run-2026"]]

    def shown(columns):
        return [render(line) for line in table(head, rows, spare=("run", "n"), columns=columns)]

    assert shown(None) == shown(17) == ["key  n   run", "abc  12  run-2026"]
    assert shown(16) == shown(7) == ["key  n", "abc  12"]
    assert shown(6) == shown(1) == ["key", "abc"]


def test_table_without_rows_is_its_head():
    assert [render(line) for line in table(("a", "b"), [])] == ["a  b"]


@pytest.mark.parametrize(
    ("value", "full", "drawn"),
    [(1, 1, "████"), (0.5, 1, "██"), (0.0001, 1, "▏"), (0, 1, ""), (2, 1, "████"), (1, 0, "")],
)
def test_bars_are_as_long_as_their_share(value, full, drawn):
    """Nothing has no bar, something has some, and no bar leaves its column."""
    assert bar(value, full=full, columns=4) == drawn


@pytest.mark.parametrize(
    ("n_bytes", "said"),
    [(0, "0 B"), (999, "999 B"), (1000, "1.0 kB"), (2.5e6, "2.5 MB"), (1e15, "1000.0 TB")],
)
def test_sizes_are_for_people(n_bytes, said):
    assert size(n_bytes) == said
