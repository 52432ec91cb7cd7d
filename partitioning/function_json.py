"""The text of a partitioning function: canonical JSON, with keys as text, so that no reader rounds a big integer."""

import contextlib
import datetime as dt
import json
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from partitioning.errors import FunctionError
from partitioning.key_types import Key, key_type_of

FORMAT, FORMAT_WITH_SPLITS = 1, 2  # of the JSON text: a reader of the first would go wrong with splits
_FIELDS = {"format", "key_type", "n_buckets", "points_per_bucket", "slots", "routes", "digest"}
_FIELDS_OF = {FORMAT: _FIELDS, FORMAT_WITH_SPLITS: _FIELDS | {"row_id", "splits"}}


def format_of(*, has_splits: bool) -> int:
    return FORMAT_WITH_SPLITS if has_splits else FORMAT


def canonical_json(content: dict[str, Any]) -> str:
    """The one text of this content: what the digest is taken of."""
    return json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=True)


def read_content(text: str) -> dict[str, Any]:
    """The fields of a function's text, once they are known to be those of this format."""
    try:
        content = json.loads(text)
    except (ValueError, TypeError, RecursionError) as error:
        raise FunctionError(f"A function's text must be JSON. Got {error}. Take it from to_json.") from None
    got = content.get("format", "no format") if isinstance(content, dict) else type(content).__name__
    if not isinstance(content, dict) or got not in (*_FIELDS_OF,):
        raise FunctionError(
            f"A function's text must be an object of format {FORMAT} or {FORMAT_WITH_SPLITS}. Got {got!r}. If a newer release wrote"
            " it, upgrade."
        )
    fields = _FIELDS_OF[got]
    if content.keys() != fields:
        raise FunctionError(
            f"A function's text must have exactly the fields of format {got}. Got missing:"
            f" {sorted(fields - content.keys())}, unknown: {sorted(content.keys() - fields)}. Take it from to_json."
        )
    return content


def read_pairs(routes: Any, field: str = "routes") -> list[tuple[Any, Any]]:
    """(key as text, bucket) of each route in the text, or (key as text, parts) of each split, neither of them checked yet."""
    is_list = isinstance(routes, list)
    if not is_list or not all(isinstance(route, list) and len(route) == 2 for route in routes):  # noqa: PLR2004  (pairs)
        raise FunctionError(
            f"The text's {field} must be a list of [key, {'bucket' if field == 'routes' else 'parts'}]. Got another shape. Take it from"
            " to_json."
        )
    return [(key, bucket) for key, bucket in routes]


def text_of_key(key: Key | None) -> str | None:
    """A canonical key as text; ``key_of_text`` brings it back. NULL stays None."""
    if isinstance(key, bytes):
        return key.hex()
    if isinstance(key, dt.datetime):
        return key.isoformat(timespec="microseconds")
    if isinstance(key, Decimal):
        return format(key, "f")
    return None if key is None else str(key)


_KEY_OF_TEXT: dict[str, Callable[[str], Key]] = {
    "bigint": int,
    "int": int,
    "string": str,
    "binary": bytes.fromhex,
    "date": dt.date.fromisoformat,
    "timestamp": dt.datetime.fromisoformat,
    "decimal": Decimal,
}


def key_of_text(text: Any, key_type: str) -> Key | None:
    """The key that ``text_of_key`` wrote down."""
    if text is None:
        return None
    parse = _KEY_OF_TEXT[key_type_of(key_type).kind]
    if isinstance(text, str):
        with contextlib.suppress(ValueError, ArithmeticError):
            return parse(text)
    raise FunctionError(
        f"The text's routes must hold {key_type} keys as text. Got {text!r}. Take it from to_json."
    )
