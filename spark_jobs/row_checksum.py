"""A checksum of rows that does not depend on their order, nor on which of them are read together."""

from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

_OF_NULL = np.uint64(0x9E3779B97F4A7C15)
_ODD = np.uint64(0x100000001B3)


def checksum_of(rows: pa.RecordBatch) -> int:
    """The sum of the rows' hashes, modulo 2**64: a row that is lost, doubled or changed changes it."""
    hashes = np.zeros(rows.num_rows, dtype=np.uint64)
    for name in sorted(rows.schema.names):
        hashes = (hashes ^ _hashes(rows[name])) * _ODD  # not a sum: values that change rows must show
    return int(hashes.sum(dtype=np.uint64))


def _hashes(column: pa.Array) -> NDArray[np.uint64]:
    """
    A hash of each value, the same whatever else is in the column.

    Pandas turns whole numbers into others where a NULL is among them, so NULLs are taken out first.
    """
    if column.null_count == len(column):
        return np.full(len(column), _OF_NULL)
    whole = column.fill_null(column.drop_null()[0]) if column.null_count else column
    # Most texts of a table differ: looking for equal ones first takes longer than hashing each.
    hashes: NDArray[np.uint64] = pd.util.hash_array(_plain_values(whole), categorize=False)
    return np.where(column.is_null().to_numpy(zero_copy_only=False), _OF_NULL, hashes)


def _plain_values(column: pa.Array) -> NDArray[Any]:
    """Lists, structs and maps by their text, for pandas hashes only plain values."""
    if pa.types.is_nested(column.type) or pa.types.is_dictionary(column.type):
        return np.array([repr(value) for value in column.to_pylist()], dtype=object)
    return np.asarray(column.to_numpy(zero_copy_only=False))
