"""Where a dataset's reports are kept, and how they are found by name. No name can lead anywhere else."""

import re
from pathlib import Path

from pages.store import folders, read_bytes
from schemas.places import warehouse

INDEX = "index"  # the page that lists a dataset's runs
_DATASET = re.compile(r"[a-z][a-z0-9_]{0,62}")  # as dataset.schema.json has it
_PAGE = re.compile(r"[A-Za-z0-9_-]{1,120}")  # as report_run names them


def reports_folder() -> str:
    """A path or URI: ``reports`` in the warehouse."""
    return f"{warehouse().rstrip('/')}/reports"


def report_path(dataset: str, page: str) -> str:
    return f"{reports_folder()}/{dataset}/{page}.html"


def read_report(dataset: str, page: str) -> bytes | None:
    """The page's bytes; None where there is no such page, or the names are none that we give."""
    if not _DATASET.fullmatch(dataset) or not _PAGE.fullmatch(page):
        return None
    path = report_path(dataset, page)
    return None if _leads_away(path) else read_bytes(path)


def datasets_with_reports() -> list[str]:
    return [name for name in folders(reports_folder()) if _DATASET.fullmatch(name)]


def _leads_away(path: str) -> bool:
    """Whether links on the disk lead out of the reports; a store behind a URI has no links."""
    return "://" not in path and not Path(path).resolve().is_relative_to(Path(reports_folder()).resolve())
