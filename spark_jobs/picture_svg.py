"""
Matplotlib's figures as SVG elements for a page that allows no ``style``: every style becomes presentation attributes.

Each of our colours also becomes a class (``fill-after``, ``stroke-goal``), which the page's style sheet colours for light, dark and paper;
where there is no style sheet the attribute's colour stands.
"""

import hashlib
import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from xml.etree import ElementTree as ET

# Names of colours, and what they look like by day. pages/style.css has the same names.
COLOURS = {
    "paper": "#ffffff", "ink": "#1b2530", "muted": "#55626f", "line": "#d9dfe5", "before": "#aeb9c4", "after": "#14708f",
    "goal": "#b83227", "other": "#a86500", "hot": "#d98a7c",
}  # fmt: skip
FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', sans-serif"
_SVG = "http://www.w3.org/2000/svg"
_XLINK = "{http://www.w3.org/1999/xlink}href"
_SETTINGS: dict[Any, Any] = {
    "svg.hashsalt": "evenkeel",  # the same facts give the same bytes
    "svg.fonttype": "none",  # text stays text: it can be read aloud, found and selected
    "font.size": 12.0, "text.color": COLOURS["ink"], "axes.labelcolor": COLOURS["muted"], "axes.edgecolor": COLOURS["line"],
    "axes.spines.top": False, "axes.spines.right": False, "axes.spines.left": False, "axes.grid": True, "axes.grid.axis": "y",
    "axes.axisbelow": True, "axes.titlesize": 12.0, "axes.labelsize": 11.0, "grid.color": COLOURS["line"], "grid.linewidth": 0.8,
    "xtick.color": COLOURS["muted"], "ytick.color": COLOURS["muted"], "xtick.major.size": 0, "ytick.major.size": 0,
    "xtick.labelsize": 11.0, "ytick.labelsize": 11.0, "legend.frameon": False, "legend.fontsize": 11.0,
    "legend.handlelength": 1.4, "legend.columnspacing": 1.2, "lines.linewidth": 1.8, "lines.markersize": 4.5, "figure.facecolor": COLOURS["paper"],
    "axes.facecolor": "none", "figure.constrained_layout.use": True,
}  # fmt: skip


@contextmanager
def new_axes(*, width: int, height: int) -> Iterator[Any]:
    """Axes of a new figure of so many pixels, in our style; draw on them, then take ``svg_of`` them, all inside the block."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context(_SETTINGS):
        yield Figure(figsize=(width / 72, height / 72)).subplots()  # SVG has 72 units an inch


def svg_of(axes: Any) -> str:
    """The figure as one SVG element, without styles, and with ids that no other picture of the page has."""
    written = io.StringIO()
    axes.figure.savefig(
        written, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None}
    )
    text = written.getvalue()
    ET.register_namespace("", _SVG)
    root = ET.fromstring(text)  # noqa: S314  (written by the line above)
    prefix = hashlib.sha256(text.encode()).hexdigest()[:8]
    for parent in root.iter():
        for child in [child for child in parent if child.tag in (f"{{{_SVG}}}metadata", f"{{{_SVG}}}style")]:
            parent.remove(child)
    for element in root.iter():
        _restyle(element)
        _rename(element, prefix)
    _, _, width, height = root.attrib["viewBox"].split()
    root.attrib |= {"width": width, "height": height, "font-family": FONT, "stroke-linejoin": "round"}
    return re.sub(r"\s*\n\s*", " ", ET.tostring(root, encoding="unicode"))


def _restyle(element: ET.Element) -> None:
    styles = (item.split(":", 1) for item in element.attrib.pop("style", "").split(";") if item.strip())
    classes = []
    for name, value in ((name.strip(), value.strip()) for name, value in styles):
        if name == "font-family":
            continue  # the page's own
        element.set(name, value)
        classes += [f"{name}-{colour}" for colour, shade in COLOURS.items() if value == shade]
    if classes:
        element.set("class", " ".join(classes))


def _rename(element: ET.Element, prefix: str) -> None:
    """Groups need no id; what is referred to keeps one of its own."""
    if element.tag == f"{{{_SVG}}}g":
        element.attrib.pop("id", None)
    if "id" in element.attrib:
        element.set("id", f"{prefix}-{element.attrib['id']}")
    if "clip-path" in element.attrib:
        element.set("clip-path", element.attrib["clip-path"].replace("#", f"#{prefix}-"))
    target = element.attrib.pop(_XLINK, None)
    if target is not None:
        element.set("href", target.replace("#", f"#{prefix}-"))
