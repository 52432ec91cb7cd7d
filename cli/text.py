"""
Text for a terminal: what is painted, what is escaped, how wide it is, tables and bars. Pure.

Lines are made with ``paint`` and become what a terminal gets by ``render``, which escapes everything that is not our own paint:
no key, name or sentence can bring a control character to the terminal, whoever wrote it.
"""

import re
import unicodedata
from collections.abc import Sequence

from spark_jobs.visible_text import escaped

COLOURS = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}
_PAINT = re.compile("\x00([a-z]*)\x00")
_NO_WIDTH = {"Mn", "Me"}
_EIGHTHS = " ▏▎▍▌▋▊▉"

Cell = str | int | float | None


def paint(text: str, colour: str) -> str:
    """The text in a colour of ``COLOURS``, once it is rendered for a terminal that has colours."""
    return f"\x00{colour}\x00{text}\x00\x00"


def render(line: str, *, has_colours: bool = False) -> str:
    """The line as a terminal may get it."""
    parts = _PAINT.split(line)  # text, colour, text, …
    painted = [
        escaped(part) if place % 2 == 0 else _code(part, has_colours=has_colours)
        for place, part in enumerate(parts)
    ]
    return "".join(painted)


def _code(colour: str, *, has_colours: bool) -> str:
    if not has_colours or (colour and colour not in COLOURS):
        return ""
    return f"\x1b[{COLOURS.get(colour, '0')}m"


def width(line: str) -> int:
    """Columns that the rendered line takes."""
    return sum(_columns(mark) for mark in render(line))


def _columns(mark: str) -> int:
    if unicodedata.category(mark) in _NO_WIDTH:
        return 0
    return 2 if unicodedata.east_asian_width(mark) in "WF" else 1


def pad(text: str, columns: int, *, to_the_right: bool = False) -> str:
    space = " " * max(0, columns - width(text))
    return space + text if to_the_right else text + space


def table(
    head: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    right: Sequence[str] = (),
    spare: Sequence[str] = (),
    columns: int | None = None,
) -> list[str]:
    """
    Aligned columns, two spaces between them; columns named in ``right`` end at the same place. No row: the head alone.

    Where the lines would be wider than ``columns``, columns named in ``spare`` are left out, the first of them first.
    """
    lines = _aligned(head, rows, right)
    if not spare or columns is None or max(map(width, lines)) <= columns:
        return lines
    kept = [place for place, name in enumerate(head) if name != spare[0]]
    shown = [[cells[place] for place in kept] for cells in (head, *rows)]
    return table(shown[0], shown[1:], right=right, spare=spare[1:], columns=columns)


def _aligned(head: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[str]) -> list[str]:
    widths = [max(width(cell) for cell in column) for column in zip(head, *rows, strict=True)]
    is_right = [name in right for name in head]

    def line(cells: Sequence[str]) -> str:
        padded = (
            pad(cell, wide, to_the_right=end) for cell, wide, end in zip(cells, widths, is_right, strict=True)
        )
        return "  ".join(padded).rstrip()

    return [paint(line(head), "dim"), *map(line, rows)]


def bar(value: float, *, full: float, columns: int = 24) -> str:
    """A bar of ``columns`` columns for ``full``, in eighths of a column. What is there at all shows."""
    if full <= 0 or value <= 0:
        return ""
    eighths = max(1, round(8 * columns * min(value / full, 1.0)))
    whole, rest = divmod(eighths, 8)
    return "█" * whole + (_EIGHTHS[rest] if rest else "")


def number(value: float | None, digits: int = 3) -> str:
    """A figure rounded for people; a dash for one that there is not."""
    return "-" if value is None else f"{value:,.{digits}f}"


def signed_percent(value: float) -> str:
    return f"{value:+.1%}"


def size(n_bytes: float) -> str:
    """Bytes for people: 999 B, 1.2 kB, 3.4 MB."""
    for unit in ("B", "kB", "MB", "GB"):
        if n_bytes < 1000:  # noqa: PLR2004  (a thousand of each is one of the next)
            return f"{n_bytes:.0f} B" if unit == "B" else f"{n_bytes:.1f} {unit}"
        n_bytes /= 1000
    return f"{n_bytes:.1f} TB"


def short(digest: str | None) -> str:
    """The first digits of a digest: enough to tell it from others."""
    return digest[:12] if digest else "-"


def moment(text: str | None) -> str:
    """An ISO 8601 time as people read it, to the minute."""
    return text[:16].replace("T", " ") if text else "-"
