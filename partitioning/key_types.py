"""
The types a key column may have, and what Spark hashes of a key of each.

| key type       | key in Python        | what is hashed                                            |
| -------------- | -------------------- | --------------------------------------------------------- |
| bigint         | int                  | 8 bytes, little-endian                                    |
| int            | int                  | 4 bytes, little-endian: not the hash of the same bigint   |
| date           | datetime.date        | days since 1970-01-01, as an int                          |
| timestamp      | datetime.datetime    | microseconds since 1970-01-01 UTC, as a bigint            |
| decimal(p,s)   | decimal.Decimal      | p <= 18: the unscaled value, as a bigint                  |
|                |                      | p > 18: its shortest big-endian two's complement bytes    |
| string         | str                  | UTF-8 (the default collation only)                        |
| binary         | bytes                | as is                                                     |

NULL stays ``None``. A datetime without a time zone is read as UTC.
"""

import datetime as dt
import functools
import re
import reprlib
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np

from partitioning.errors import FunctionError

PLAIN_KEY_TYPES = ("bigint", "int", "string", "date", "timestamp", "binary")
LONG, INT = np.iinfo(np.int64), np.iinfo(np.int32)

Key = int | str | bytes | dt.date | Decimal  # a datetime is a date to Python
Encoded = int | bytes  # what Spark hashes: a fixed-width integer, or bytes

_MAX_LONG_DIGITS = 18  # decimals up to this precision are hashed as a long
_MAX_DECIMAL_DIGITS = 38
_DECIMAL_NAME = re.compile(r"decimal\(\s*(\d{1,2})\s*,\s*(\d{1,2})\s*\)")
_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
_MICROSECOND = dt.timedelta(microseconds=1)


@dataclass(frozen=True)
class KeyType:
    """A key column's type as Spark names it. Make it with ``key_type_of``."""

    kind: str  # the name without parameters: "bigint", "decimal"
    integer: np.iinfo[Any] | None  # limits of the hashed integer; None: bytes are hashed
    precision: int = 0  # decimals only: digits in all
    scale: int = 0  # decimals only: digits after the point

    @property
    def name(self) -> str:
        return f"decimal({self.precision},{self.scale})" if self.kind == "decimal" else self.kind

    @property
    def arrays(self) -> str:
        """In which arrays many keys of this type may come, in words."""
        return _FORMS[self.kind].arrays


def key_type_of(name: str) -> KeyType:
    """The key type of this name. An unknown one is refused with the names there are."""
    key_type = _parse_key_type(name) if isinstance(name, str) else None
    if key_type is not None:
        return key_type
    raise FunctionError(
        f"key_type must be one of {', '.join(PLAIN_KEY_TYPES)}, or decimal(p,s) with 1 <= p <= {_MAX_DECIMAL_DIGITS}"
        f" and s <= p. Got {name!r}. Cast the key column to one of these."
    )


@functools.cache
def _parse_key_type(name: str) -> KeyType | None:
    integer: dict[str, np.iinfo[Any]] = {"bigint": LONG, "timestamp": LONG, "int": INT, "date": INT}
    if name in PLAIN_KEY_TYPES:
        return KeyType(name, integer.get(name))
    if match := _DECIMAL_NAME.fullmatch(name):
        precision, scale = int(match[1]), int(match[2])
        if 1 <= precision <= _MAX_DECIMAL_DIGITS and scale <= precision:
            return KeyType("decimal", LONG if precision <= _MAX_LONG_DIGITS else None, precision, scale)
    return None


def encode_key(key: Key | None, key_type: str) -> Encoded | None:
    """
    What Spark hashes of this key: an integer of the type's width, or bytes. NULL stays None.

    Two keys are the same key exactly if their encodings are equal, and ``decode_key`` brings the key back.
    """
    return encode_as(key, key_type_of(key_type), position=None)


def decode_key(value: Encoded | None, key_type: str) -> Key | None:
    """The key of an encoding, in its one canonical form: timestamps in UTC, decimals with the column's scale."""
    column = key_type_of(key_type)
    return None if value is None else _FORMS[column.kind].decode(value, column)


def encode_as(key: Any, column: KeyType, *, position: int | None) -> Encoded | None:
    """``encode_key`` for a type that is parsed already; a refusal names the position, if there is one."""
    if isinstance(key, np.generic):
        key = key.item()  # NaT becomes None
    if key is None:
        return None
    form = _FORMS[column.kind]
    try:
        if not isinstance(key, form.types) or isinstance(key, form.other_types):
            raise _Unfit(f"be {form.types[0].__name__}")  # noqa: TRY301  (one place adds the key and its position)
        return form.encode(key, column)
    except _Unfit as unfit:
        where = "" if position is None else f" at position {position}"
        raise FunctionError(
            f"{column.name} keys must {unfit}. Got {shown(key)}{where}. Give each key as Spark would hold it in a"
            f" {column.name} column, or use the column's own type as key type."
        ) from None


class _Unfit(Exception):  # noqa: N818  (never leaves this module)
    """The rule that a key breaks, to be put after "must"."""


def shown(value: object) -> str:
    """A value as error sentences show it: its type, and what of it fits in a line."""
    return f"{type(value).__name__} {reprlib.repr(value)}"


def _encode_integer(key: int, column: KeyType) -> int:
    limits = column.integer or LONG
    if not limits.min <= key <= limits.max:
        raise _Unfit(f"lie in [{limits.min}, {limits.max}]")
    return key


def _encode_string(key: str, _: KeyType) -> bytes:
    try:
        return key.encode()
    except UnicodeEncodeError:
        raise _Unfit("be text without lone surrogates, which UTF-8 cannot hold") from None


def _encode_date(key: dt.date, _: KeyType) -> int:
    return (key - _EPOCH.date()).days


def _encode_timestamp(key: dt.datetime, _: KeyType) -> int:
    aware = key.replace(tzinfo=dt.UTC) if key.utcoffset() is None else key
    try:
        return (aware.astimezone(dt.UTC) - _EPOCH) // _MICROSECOND
    except OverflowError:
        raise _Unfit("lie in the years 1 to 9999 of UTC") from None


def _encode_decimal(key: Decimal, column: KeyType) -> Encoded:
    unscaled = _unscaled(key, column)
    if column.integer:
        return unscaled
    # As Java's BigInteger.toByteArray: the fewest bytes that have room for a sign bit.
    n_bits = (unscaled if unscaled >= 0 else ~unscaled).bit_length() + 1
    return unscaled.to_bytes((n_bits + 7) // 8, "big", signed=True)


def _unscaled(key: Decimal, column: KeyType) -> int:
    """``key * 10**scale``, exact: Python's decimal context, which rounds, is kept out of it."""
    if key.is_zero():
        return 0
    # Bounding the exponent first keeps 1E+999999999 from being written out.
    if not key.is_finite() or not -column.scale <= key.adjusted() < column.precision - column.scale:
        raise _Unfit(f"fit {column.name}")
    numerator, denominator = key.as_integer_ratio()
    unscaled: int
    unscaled, rest = divmod(numerator * 10**column.scale, denominator)
    if rest:
        raise _Unfit(f"fit {column.name} without rounding")
    return unscaled


def _decode_decimal(value: Encoded, column: KeyType) -> Decimal:
    unscaled = int.from_bytes(value, "big", signed=True) if isinstance(value, bytes) else value
    return Decimal(f"{unscaled}E-{column.scale}")


@dataclass(frozen=True, kw_only=True)
class _Form:
    """What a key of one type is in Python, in which arrays many may come, and the way to its encoding and back."""

    types: tuple[type, ...]
    other_types: tuple[type, ...] = (bool,)  # subclasses that mean something else
    arrays: str
    encode: Callable[[Any, KeyType], Encoded]
    decode: Callable[[Any, KeyType], Key]


_INTEGER_FORM = _Form(
    types=(int,), arrays="integers", encode=_encode_integer, decode=lambda value, _: int(value)
)
_FORMS = {
    "bigint": _INTEGER_FORM,
    "int": _INTEGER_FORM,
    "string": _Form(
        types=(str,), arrays="strings", encode=_encode_string, decode=lambda value, _: bytes(value).decode()
    ),
    "binary": _Form(
        types=(bytes, bytearray),
        arrays="a list or object array of bytes, for NumPy's own bytes lose trailing zeros",
        encode=lambda key, _: bytes(key),
        decode=lambda value, _: bytes(value),
    ),
    "date": _Form(
        types=(dt.date,),
        other_types=(dt.datetime,),
        arrays="datetime64 or datetime.date objects",
        encode=_encode_date,
        decode=lambda value, _: _EPOCH.date() + dt.timedelta(days=value),
    ),
    "timestamp": _Form(
        types=(dt.datetime,),
        arrays="datetime64 or datetime.datetime objects",
        encode=_encode_timestamp,
        decode=lambda value, _: _EPOCH + value * _MICROSECOND,
    ),
    "decimal": _Form(
        types=(Decimal,),
        arrays="a list or object array of decimal.Decimal",
        encode=_encode_decimal,
        decode=_decode_decimal,
    ),
}
