"""Parts of a page as HTML. Text that comes in is escaped; what is HTML already says so in its name."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

_NUMBER = re.compile(r"[\d.,]+(%| [kMGTP]?B)?|-")
_DATA = re.compile(r"</?data[^>]*>")


@dataclass(frozen=True)
class Figure:
    """A number as people read it, and all its digits for whoever computes on."""

    value: float
    shown: str


Cell = str | Figure


@dataclass(frozen=True, kw_only=True)
class Picture:
    """What a picture shows, four times: drawn for wide and for narrow screens, in a sentence, and as a table."""

    wide_svg: str
    narrow_svg: str  # the same as wide_svg where one drawing serves both
    sentence: str
    head: Sequence[str]
    rows: Sequence[Sequence[Cell]]


def section(title: str, *parts_html: str) -> str:
    return f"<section>\n<h2>{escape(title)}</h2>\n{''.join(parts_html)}\n</section>\n"


def subsection(title: str, *parts_html: str) -> str:
    return f"<h3>{escape(title)}</h3>\n{''.join(parts_html)}\n"


def paragraph(text: str) -> str:
    return f"<p>{escape(text)}</p>"


def bullets(sentences: Sequence[str]) -> str:
    return "<ul>" + "".join(f"<li>{escape(sentence)}</li>" for sentence in sentences) + "</ul>"


def link(text: str, address: str) -> str:
    return f'<a href="{escape(address)}">{escape(text)}</a>'


def badge(word: str) -> str:
    """A run's outcome. Its word is the message; the colour only repeats it."""
    return f'<span class="badge {escape(word.replace(" ", "-"))}">{escape(word)}</span>'


def table(name: str, head: Sequence[str], rows: Sequence[Sequence[Cell]]) -> str:
    """A table of texts and figures that scrolls by itself where it is wider than the screen, by keyboard too."""
    return table_of_html(name, head, [[_cell(cell) for cell in row] for row in rows])


def _cell(cell: Cell) -> str:
    if isinstance(cell, Figure):
        return f'<data value="{cell.value!r}">{escape(cell.shown)}</data>'
    return escape(cell)


def table_of_html(name: str, head: Sequence[str], rows_html: Sequence[Sequence[str]]) -> str:
    """The same, of cells that are HTML already."""
    kinds = [' class="number"' if _is_numeric(column) else "" for column in zip(*rows_html, strict=True)]
    kinds = kinds or [""] * len(head)
    top = "".join(
        f'<th scope="col"{kind}>{escape(cell)}</th>' for kind, cell in zip(kinds, head, strict=True)
    )
    body = "".join(
        "<tr>" + "".join(f"<td{kind}>{cell}</td>" for kind, cell in zip(kinds, row, strict=True)) + "</tr>\n"
        for row in rows_html
    )
    return (
        f'<div class="scroll" role="region" tabindex="0" aria-label="{escape(name)}"><table>'
        f"<thead><tr>{top}</tr></thead>\n<tbody>\n{body}</tbody></table></div>"
    )


def _is_numeric(column: Sequence[str]) -> bool:
    """Figures stand under one another by their last digit."""
    return all(_NUMBER.fullmatch(_DATA.sub("", cell)) for cell in column)


def picture(shown: Picture) -> str:
    """The drawing, its sentence for those who do not see it, and its numbers for those who want them."""
    drawings = (
        _drawing(shown.wide_svg, shown.sentence, "both")
        if shown.wide_svg == shown.narrow_svg
        else _drawing(shown.wide_svg, shown.sentence, "wide")
        + _drawing(shown.narrow_svg, shown.sentence, "narrow")
    )
    numbers = table(shown.sentence, shown.head, shown.rows)
    return f"<figure>{drawings}{details('The same in numbers', numbers)}</figure>"


def details(title: str, body_html: str) -> str:
    """What is there for those who want it: one click away, also without scripts."""
    return f"<details><summary>{escape(title)}</summary>{body_html}</details>"


def _drawing(svg: str, sentence: str, screens: str) -> str:
    return f'<div class="drawing {screens}" role="img" aria-label="{escape(sentence)}">{svg}</div>'


@dataclass(frozen=True)
class Tile:
    """A name, what it comes to, and what to compare that with; both of texts and figures, one after the other."""

    name: str
    value: Sequence[Cell]
    note: Sequence[Cell]


def tiles(shown: Sequence[Tile]) -> str:
    """The figures that decide, side by side."""
    return '<dl class="tiles">' + "".join(map(_tile, shown)) + "</dl>"


def _tile(tile: Tile) -> str:
    value, note = ("".join(map(_cell, cells)) for cells in (tile.value, tile.note))
    return f'<div><dt>{escape(tile.name)}</dt><dd><strong>{value}</strong> <span class="note">{note}</span></dd></div>'
