"""
Keys as a dataset file writes them, brought into the one form that tables have them in.

What is accepted comes out as ``partitioning.function_json.text_of_key`` writes the same key, which is not imported: Dags read these files, too.
"""

import re
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, date, datetime
from decimal import Context, Decimal, Inexact, InvalidOperation

_WHOLE, _DECIMAL = re.compile(r"[+-]?[0-9]+"), re.compile(r"[+-]?[0-9]+(\.[0-9]*)?")
_TOO_FINE = re.compile(r"[.,][0-9]{6}[0-9]*[1-9]")  # Python would cut what is below a microsecond
_N_BITS = {"int": 32, "bigint": 64}


def canonical_key(text: str, key_type: str) -> str | None:
    """The key's one form in a column of this type, such as 7 for 007; None for what is no key of it."""
    kind = key_type.partition("(")[0]
    with suppress(ValueError, ArithmeticError):  # what the types' own readers raise
        return _FORMS[kind](text, key_type)
    return None


def key_rule(key_type: str) -> str:
    """What such a key must be, to be put after "must"."""
    return f"be {_RULES[key_type.partition('(')[0]]}, as key.type is {key_type}"


def is_number(key_type: str) -> bool:
    return key_type.partition("(")[0] in ("bigint", "int", "decimal")


def _whole(text: str, key_type: str) -> str:
    limit = 1 << (_N_BITS[key_type] - 1)
    if not _WHOLE.fullmatch(text) or not -limit <= int(text) < limit:
        raise ValueError
    return str(int(text))


def _decimal(text: str, key_type: str) -> str:
    precision, scale = (int(digits) for digits in re.findall(r"\d+", key_type))
    if not _DECIMAL.fullmatch(text):
        raise ValueError
    exact = Context(prec=precision, traps=[Inexact, InvalidOperation])
    return format(exact.plus(Decimal(text).quantize(Decimal(1).scaleb(-scale), context=exact)), "f")


def _text(text: str, _: str) -> str:
    text.encode()  # refuses lone surrogates
    return text


def _moment(text: str, _: str) -> str:
    if _TOO_FINE.search(text):
        raise ValueError
    given = datetime.fromisoformat(text)
    moment = given.astimezone(UTC) if given.tzinfo else given.replace(tzinfo=UTC)
    return moment.isoformat(timespec="microseconds")


_FORMS: dict[str, Callable[[str, str], str]] = {
    "bigint": _whole,
    "int": _whole,
    "decimal": _decimal,
    "string": _text,
    "binary": lambda text, _: bytes.fromhex(text).hex(),
    "date": lambda text, _: date.fromisoformat(text).isoformat(),
    "timestamp": _moment,
}
_RULES = {
    "bigint": "a whole number from -2^63 to 2^63 - 1",
    "int": "a whole number from -2^31 to 2^31 - 1",
    "decimal": "a number that fits without rounding",
    "string": "text",
    "binary": "hexadecimal digits, two a byte",
    "date": "a day like '2026-11-27'",
    "timestamp": "a time like '2026-11-27T18:00', to the microsecond, in UTC unless it names a zone",
}
