"""What pages say was measured is what a run kept."""

import pytest

from benchmarks.goals import Goal
from benchmarks.kept_goals import PAGES, kept_goals, table_of
from schemas.dataset import ROOT


@pytest.mark.parametrize("name", PAGES)
def test_page_has_the_kept_figures(name):
    """Figures that are typed drift away from what was measured; ``python -m benchmarks.kept_goals`` puts them in."""
    page = (ROOT / "docs" / PAGES[name]).read_text()

    assert f"<!-- kept {name} -->\n{table_of(kept_goals(name))}\n<!-- /kept {name} -->" in page


def test_missed_goals_are_told():
    """A table that shows a missed goal like a met one is no report."""
    goals = [
        Goal(what="a", goal="≤ 1x", result="1.2x", met=False),
        Goal(what="b", goal="", result="3", met=True),
    ]

    assert table_of(goals).splitlines()[2:] == ["| a | ≤ 1x | 1.2x, **missed** |", "| b | none | 3 |"]
