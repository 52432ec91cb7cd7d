"""What a dataset file says about results that merge: ``merge:`` and ``row_id:``."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

RESULT_COLUMNS = ("window_start", "window_end")  # of a table of results, beside the user's
LAYOUT_COLUMNS = ("slot", "bucket")


def merge_mistakes(
    merge: Mapping[Any, str], *, key: str | None, time: str | None, rows_per_key: str | None
) -> Iterator[str]:
    """What no single field can state, for a ``merge:`` whose hows are known ones; None is what was not given rightly."""
    if rows_per_key == "one":
        yield (
            f"merge must be left out where state.rows_per_key is one. Got {', '.join(map(str, merge))}. Such a row is its key's"
            " whole state and is replaced, never merged."
        )
    for column, how in merge.items():
        yield from _column_mistakes(column, how, key=key, time=time)


def _column_mistakes(column: Any, how: str, *, key: str | None, time: str | None) -> Iterator[str]:
    if not isinstance(column, str) or not column:
        yield f"merge must name columns. Got {column!r}. Write the name of a column of events, in quotes where YAML reads it as something else."
    elif column == key:
        yield f"merge.{column} must not be the key. Got {how!r}. Leave it out: a result has the key that it is of."
    elif column in (*RESULT_COLUMNS, *LAYOUT_COLUMNS):
        yield f"merge.{column} must not be a column of our own. Got {how!r}. Rename the column of events."
    elif column == time and how == "sum":
        yield f"merge.{column} must not be a sum of times. Got 'sum'. Take min, max, count, hll or list."


def row_id_mistakes(row_id: Sequence[str], *, key: str | None) -> Iterator[str]:
    """What no single field can state, for a ``row_id:`` that is a list of different names."""
    if [key] == list(row_id):
        yield f"row_id must have a column beside the key. Got {list(row_id)}. Name what tells the rows of one key apart."
