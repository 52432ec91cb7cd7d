"""The page for users' jobs does what it says: every block of it is run, in order."""

import re
from pathlib import Path

import pytest

from spark_jobs.audit_layout import audit
from spark_jobs.job import Task

pytestmark = pytest.mark.spark

PAGE = (Path(__file__).parents[2] / "docs" / "stateful-jobs.md").read_text()


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", PAGE, flags=re.DOTALL)


def test_every_block_of_the_page_runs(spark, warehouse, tmp_path, monkeypatch):
    """A snippet that is copied must work; the assertions on the page are the test's."""
    monkeypatch.setenv("EVENKEEL_DATASETS", str(tmp_path))
    for text in blocks("yaml"):
        (tmp_path / f"{re.search(r'name: (.*)', text)[1]}.yaml").write_text(text)
    names = {}
    for block in blocks("python"):
        exec(compile(block, "stateful-jobs.md", "exec"), names)  # noqa: S102  (our own page)

    assert [audit(Task(dataset=names[name]))["rows_astray"] for name in ("visits", "balances")] == [0, 0]
