"""Pages whose tables a command writes: they hold what the saved run says, and nothing that somebody typed."""

import shutil

import pytest

from benchmarks import scale_page, stateful_page
from benchmarks.page_parts import fill_in


@pytest.mark.parametrize("page", [stateful_page, scale_page], ids=lambda page: page.PAGE.stem)
def test_tables_of_a_page_are_those_of_its_saved_run(page, tmp_path):
    """A figure that was typed, or is left over from an earlier run, has no command that makes it."""
    shutil.copy(page.PAGE, tmp_path)
    page.write_page(tmp_path / page.PAGE.name)

    assert (tmp_path / page.PAGE.name).read_text() == page.PAGE.read_text()


def test_words_around_a_part_stay(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("before <!-- n -->old<!-- /n --> after\n")

    fill_in(page, {"n": "new"})

    assert page.read_text() == "before <!-- n -->new<!-- /n --> after\n"


def test_page_without_marks_is_refused(tmp_path):
    """A table that lands nowhere would leave the old one to be believed."""
    page = tmp_path / "page.md"
    page.write_text("<!-- n -->")

    with pytest.raises(ValueError, match=r"page\.md must hold <!-- n --> and <!-- /n -->"):
        fill_in(page, {"n": "new"})
