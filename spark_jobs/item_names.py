"""How people read keys and items, on pages, in the terminal and in sentences. Scripts have the field ``key`` beside it."""

from partitioning.function_json import text_of_key
from spark_jobs.control_tables import Row
from spark_jobs.visible_text import escaped

MAX_SHOWN = 60  # characters of a key
HEAD, TAIL = 40, 8  # of a longer one


def item_name(item: Row) -> str:
    """A row of ``moves`` or ``item_stats``."""
    if item["kind"] == "slot":
        return f"slot {item['slot']}"
    name = key_name(text_of_key(item["key"]))
    return f"a part of {name}" if item["kind"] == "part" else name


def key_name(text: str | None) -> str:
    """
    A key by its text, everything that would not be seen written out.

    Of a long one how it begins, how it ends and its length; one that is empty or has blanks at an end is quoted.
    """
    if text is None:
        return "the NULL key"
    if len(text) > MAX_SHOWN:
        return f"key {escaped(text[:HEAD])}…{escaped(text[-TAIL:])} ({len(text):,} characters)"
    shown = escaped(text)
    return f"key {shown}" if shown and shown == shown.strip() else f'key "{shown}"'
