"""
The grain of a row: which share of a split key's rows it belongs to.

``grain = xxhash64(column, column, …) >>> 52``, over the columns that tell rows apart, in the order of their names: bit for bit what
Spark answers. It is the highest bits that count, while a key's slot is made from the lowest: even where the same column is hashed for
both, the two have nothing to do with each other. Spark hashes a column with the hash of those before it as seed and skips NULLs, so a
column that is added to a table later, NULL in all its rows, changes no grain.

| column type        | comes as                                    | is hashed as                                 |
| ------------------ | ------------------------------------------- | -------------------------------------------- |
| any key type       | ``partitioning.key_types`` says             | as a key                                     |
| smallint, tinyint  | integers                                    | an int                                       |
| boolean            | truth values                                | an int, 0 or 1                               |
| float, double      | floats; -0.0 is 0.0, any NaN is one NaN     | its bits, as an int or a bigint              |
| timestamp_ntz      | datetime64                                  | microseconds since 1970-01-01, as a bigint   |
"""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partitioning.errors import FunctionError
from partitioning.hashing import EncodedKeys, encode_keys
from partitioning.key_types import PLAIN_KEY_TYPES
from partitioning.splits import N_GRAINS

_SHIFT = np.uint64(64 - (N_GRAINS - 1).bit_length())
_AS_INTEGERS = {"smallint": "int", "tinyint": "int", "boolean": "int"}
_AS_BITS: dict[str, tuple[type, type, str]] = {
    "float": (np.float32, np.int32, "int"),
    "double": (np.float64, np.int64, "bigint"),
}
GRAIN_TYPES = (*PLAIN_KEY_TYPES, "decimal", *_AS_INTEGERS, *_AS_BITS, "timestamp_ntz")

Column = tuple[Iterable[Any], str]  # its values, and its type as Spark names it


def is_grain_type(name: str) -> bool:
    """Whether columns of this type may tell rows apart: plain values, of the default collation."""
    return name.partition("(")[0] in GRAIN_TYPES


def grains_of(columns: Sequence[Column]) -> NDArray[np.int64]:
    """The grain of each row, from the columns that tell rows apart, which must be in the order of their names."""
    if not columns:
        raise FunctionError("A grain must be made from one column or more. Got none. Name the row's id.")
    seeds: NDArray[np.int64] | None = None
    for values, column_type in columns:
        seeds = _encoded(values, column_type).hashes(seeds)
    return np.asarray((np.asarray(seeds).view(np.uint64) >> _SHIFT).astype(np.int64))


def grain_of(values: Sequence[Any], column_types: Sequence[str]) -> int:
    """The grain of one row, for people."""
    pairs = zip(values, column_types, strict=True)
    return int(grains_of([(_alone(value, of_type), of_type) for value, of_type in pairs])[0])


def _alone(value: Any, column_type: str) -> Any:
    """One value as a column of it; what is no key type comes as an array, masked where NULL."""
    if column_type in _AS_INTEGERS or column_type in _AS_BITS:
        return np.ma.array([0 if value is None else value], mask=[value is None])
    return [value]


def _encoded(values: Iterable[Any], column_type: str) -> EncodedKeys:
    if column_type in _AS_INTEGERS:
        return encode_keys(np.ma.asarray(values).astype(np.int32), _AS_INTEGERS[column_type])
    if column_type in _AS_BITS:
        return _bits(values, *_AS_BITS[column_type])
    return encode_keys(values, "timestamp" if column_type == "timestamp_ntz" else column_type)


def _bits(values: Iterable[Any], of_float: type, of_bits: type, key_type: str) -> EncodedKeys:
    """Floats as their bits; Java has one NaN and its zeros are equal."""
    given: np.ma.MaskedArray[Any, Any] = np.ma.asarray(values)
    plain: NDArray[Any] = np.ma.getdata(given).astype(of_float)  # a copy
    plain[np.isnan(plain)] = np.nan
    plain[plain == 0.0] = 0.0
    return encode_keys(np.ma.array(plain.view(of_bits), mask=np.ma.getmaskarray(given)), key_type)
