"""The function's Arrow face: the bucket of each row of a batch, by NumPy, without Spark."""

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from partitioning.function import PartitioningFunction
from partitioning.grains import Column, grains_of, is_grain_type

_NAMES = {
    pa.int64(): "bigint",
    pa.int32(): "int",
    pa.int16(): "smallint",
    pa.int8(): "tinyint",
    pa.bool_(): "boolean",
    pa.float32(): "float",
    pa.float64(): "double",
    pa.date32(): "date",
    pa.string(): "string",
    pa.large_string(): "string",
    pa.binary(): "binary",
    pa.large_binary(): "binary",
}


def buckets_of_batch(batch: pa.RecordBatch, function: PartitioningFunction, *, key: str) -> NDArray[np.int64]:
    """Where the function puts each row of the batch."""
    grains = grains_of_batch(batch, function.row_id) if function.splits else None
    return function.buckets_of(batch[key].to_pylist(), grains)


def grains_of_batch(batch: pa.RecordBatch, row_id: tuple[str, ...]) -> NDArray[np.int64]:
    """The grain of each row. A file that is older than one of its columns has NULLs there."""
    nothing = pa.nulls(batch.num_rows)
    return grains_of([_column(batch[name] if name in batch.schema.names else nothing) for name in row_id])


def type_name(of: pa.DataType) -> str:
    """The type as Spark names it; Arrow's own name where Spark has no plain type for it."""
    if pa.types.is_timestamp(of):
        return "timestamp_ntz" if of.tz is None else "timestamp"
    if pa.types.is_decimal(of):
        return f"decimal({of.precision},{of.scale})"
    return _NAMES.get(of, str(of))


def plain_columns(schema: pa.Schema) -> list[str]:
    """The columns that may tell rows apart, in the order of their names."""
    return sorted(field.name for field in schema if is_grain_type(type_name(field.type)))


def _column(values: pa.Array) -> Column:
    """A column as NumPy takes it without loss; of NULLs alone the type does not matter."""
    if values.null_count == len(values):
        return [None] * len(values), "int"
    name = type_name(values.type)
    if name in ("string", "binary") or name.startswith("decimal"):
        return values.to_pylist(), name
    if name in ("timestamp", "timestamp_ntz"):
        values = values.cast(pa.timestamp("us", values.type.tz))
    return _masked(values), name


def _masked(values: pa.Array) -> Any:
    if not values.null_count:
        return values.to_numpy(zero_copy_only=False)
    filled = values.fill_null(values.drop_null()[0]).to_numpy(zero_copy_only=False)
    return np.ma.array(filled, mask=values.is_null().to_numpy(zero_copy_only=False))
