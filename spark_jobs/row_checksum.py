"""A checksum of rows that does not depend on their order."""

from typing import Any

import pandas as pd
import pyarrow as pa


def checksum_of(rows: pa.RecordBatch) -> int:
    """The sum of the rows' hashes, modulo 2**64: a row that is lost, doubled or changed changes it."""
    columns = {name: _hashable(rows[name]) for name in sorted(rows.schema.names)}
    hashes = pd.util.hash_pandas_object(pd.DataFrame(columns), index=False)
    return int(sum(hashes.tolist())) % 2**64


def _hashable(column: pa.Array) -> Any:
    """Lists, structs and maps by their text, for pandas hashes only plain values."""
    if pa.types.is_nested(column.type) or pa.types.is_dictionary(column.type):
        return pd.Series([repr(value) for value in column.to_pylist()], dtype=object)
    return column.to_pandas()
