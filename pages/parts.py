"""Parts of a page as HTML. Text that comes in is escaped; what is HTML already says so in its name."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

_NUMBER = re.compile(r"[\d.,]+(%| [kMGTP]?B)?|-")


@dataclass(frozen=True, kw_only=True)
class Picture:
    """What a picture shows, four times: drawn for wide and for narrow screens, in a sentence, and as a table."""

    wide_svg: str
    narrow_svg: str  # the same as wide_svg where one drawing serves both
    sentence: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]


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


def table(name: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table of texts that scrolls by itself where it is wider than the screen, by keyboard too."""
    return table_of_html(name, head, [[escape(cell) for cell in row] for row in rows])


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
    return all(_NUMBER.fullmatch(cell) for cell in column)


def picture(shown: Picture) -> str:
    """The drawing, its sentence for those who do not see it, and its numbers for those who want them."""
    drawings = (
        _drawing(shown.wide_svg, shown.sentence, "both")
        if shown.wide_svg == shown.narrow_svg
        else _drawing(shown.wide_svg, shown.sentence, "wide")
        + _drawing(shown.narrow_svg, shown.sentence, "narrow")
    )
    numbers = table(shown.sentence, shown.head, shown.rows)
    return f"<figure>{drawings}<details><summary>The same in numbers</summary>{numbers}</details></figure>"


def _drawing(svg: str, sentence: str, screens: str) -> str:
    return f'<div class="drawing {screens}" role="img" aria-label="{escape(sentence)}">{svg}</div>'


def tiles(figures: Sequence[tuple[str, str, str]]) -> str:
    """A row of figures: name, value, and what to compare it with."""
    return (
        '<dl class="tiles">'
        + "".join(
            f'<div><dt>{escape(name)}</dt><dd><strong>{escape(value)}</strong> <span class="note">{escape(note)}</span></dd></div>'
            for name, value, note in figures
        )
        + "</dl>"
    )
