"""Pages whose tables are made by a command: marked parts are replaced, everything else is somebody's words."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def fill_in(page: Path, parts: Mapping[str, str]) -> None:
    """Replace what stands between ``<!-- name -->`` and ``<!-- /name -->``, for each part. Both marks must be there."""
    text = page.read_text(encoding="utf-8")
    for name, content in parts.items():
        begin, end = f"<!-- {name} -->", f"<!-- /{name} -->"
        before, found, rest = text.partition(begin)
        _, ended, after = rest.partition(end)
        if not found or not ended:
            raise ValueError(
                f"{page.name} must hold {begin} and {end}. Got a page without one of them. Put the marks back."
            )
        gap = "\n" if "\n" in content else ""
        text = f"{before}{begin}{gap}{content}{gap}{end}{after}"
    page.write_text(text, encoding="utf-8")


def markdown_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def save_picture(figure: "Figure", path: Path) -> None:
    """As SVG, the same bytes for the same figures."""
    import matplotlib as mpl

    path.parent.mkdir(exist_ok=True)
    with mpl.rc_context({"svg.hashsalt": "evenkeel", "svg.fonttype": "none", "font.family": "sans-serif"}):
        figure.savefig(path, metadata={"Date": None, "Creator": None})
