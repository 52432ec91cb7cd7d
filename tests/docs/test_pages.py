"""What the pages name exists: commands, modules, jobs, files; and what is made from code is what the code makes."""

import re
from importlib.util import find_spec
from pathlib import Path

import pytest

from schemas.dataset import read_dataset
from schemas.dataset_reference import reference

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
NAMED = [pytest.param(page, id=str(page.relative_to(ROOT))) for page in PAGES]


def code_of(page):
    """Inline code and fenced blocks: where a page names things to type."""
    text = page.read_text()
    return re.findall(r"```\w*\n(.*?)```|`([^`\n]+)`", text, flags=re.DOTALL)


def commands_in(page, pattern):
    return sorted({found for pair in code_of(page) for part in pair for found in re.findall(pattern, part)})


@pytest.mark.parametrize("page", NAMED)
def test_make_targets_exist(page):
    """A command that a page tells people to type must be there."""
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), flags=re.MULTILINE))

    assert set(commands_in(page, r"(?m)^(?:\$ )?make ([a-z][a-z-]+)")) <= targets


@pytest.mark.parametrize("page", NAMED)
def test_modules_exist(page):
    """The same, for `python -m`."""
    modules = commands_in(page, r"python3? -m ([a-z_][\w.]*)")

    assert [module for module in modules if find_spec(module) is None] == []


@pytest.mark.parametrize("page", NAMED)
def test_jobs_exist(page):
    """The same, for jobs that are submitted to Spark."""
    jobs = commands_in(page, r"spark-submit (spark_jobs/\w+\.py)")

    assert [job for job in jobs if not (ROOT / job).is_file()] == []


@pytest.mark.parametrize("page", NAMED)
def test_links_lead_somewhere(page):
    """Relative links of a page are files of this repository."""
    links = re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", page.read_text())
    broken = [link for link in links if "://" not in link and not (page.parent / link).exists()]

    assert broken == []


def test_dataset_reference_is_made_from_the_schema():
    """The page can say nothing else than what is checked. To make it anew: `make reference`."""
    assert (ROOT / "docs" / "dataset-file.md").read_text() == reference()


def test_shortest_dataset_file_is_one(tmp_path):
    """The first thing a newcomer copies must be accepted as it is."""
    text = re.search(r"```yaml\n(.*?)```", (ROOT / "docs" / "dataset-file.md").read_text(), flags=re.DOTALL)
    file = tmp_path / "orders.yaml"
    file.write_text(text[1])

    assert read_dataset(file).name == "orders"


@pytest.mark.parametrize("name", ["forecast.md", "splitting.md"])
def test_snippets_of_the_core_run(name):
    """A snippet that is copied must work; pages whose snippets need tables have tests of their own."""
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / name).read_text(), flags=re.DOTALL)
    assert blocks
    for block in blocks:
        exec(compile(block, name, "exec"), {})  # noqa: S102  (our own page)


def test_fields_for_looking_ahead_are_accepted(tmp_path):
    """The page's fields, put into the shortest file, make a dataset."""
    shortest, ahead = (
        re.search(r"```yaml\n(.*?)```", (ROOT / "docs" / page).read_text(), flags=re.DOTALL)[1]
        for page in ("dataset-file.md", "forecast.md")
    )
    file = tmp_path / "orders.yaml"
    file.write_text(shortest + ahead)

    assert [peak.key for peak in read_dataset(file).expect] == ["4711", "12"]


def test_fields_for_feeds_and_workers_are_accepted(tmp_path):
    """The same for the fields that stand in the place of an events table, and for those that size workers."""
    shortest = re.search(
        r"```yaml\n(.*?)```", (ROOT / "docs" / "dataset-file.md").read_text(), flags=re.DOTALL
    )[1]
    _, capacity, feeds = re.findall(
        r"```yaml\n(.*?)```", (ROOT / "docs" / "forecast.md").read_text(), flags=re.DOTALL
    )
    file = tmp_path / "orders.yaml"
    file.write_text(re.sub(r"events: .*\n", "", shortest) + feeds + capacity)
    dataset = read_dataset(file)

    assert [feed.kind for feed in dataset.feeds] == ["delta", "delta", "parquet"]
    assert (dataset.expect[0].feed, dataset.done_in_minutes) == ("eu", 30)


def test_every_page_with_python_is_run():
    """A new page with a snippet that nobody runs would rot."""
    run = {"forecast.md", "splitting.md", "stateful-jobs.md", "tutorial.md"}

    assert {page.name for page in PAGES if "```python" in page.read_text()} == run
