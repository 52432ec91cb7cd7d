"""The checksum that proves that a rewrite kept every row."""

from datetime import UTC, date, datetime
from decimal import Decimal

import pyarrow as pa
import pytest

from spark_jobs.row_checksum import checksum_of

VALUES = {
    "bigint": (pa.int64(), [5, 2**53 + 1, None]),
    "boolean": (pa.bool_(), [True, False, None]),
    "double": (pa.float64(), [0.5, float("nan"), None]),
    "string": (pa.string(), ["é", "", "nan", None]),
    "binary": (pa.binary(), [b"a", b"", None]),
    "date": (pa.date32(), [date(2026, 1, 3), date(1969, 12, 31), None]),
    "timestamp": (pa.timestamp("us", tz="UTC"), [datetime(2026, 1, 3, tzinfo=UTC), None]),
    "decimal": (pa.decimal128(38, 2), [Decimal("1.10"), Decimal("-3.00"), None]),
    "list": (pa.list_(pa.int64()), [[1, 2], [], None]),
    "struct": (pa.struct({"x": pa.int64()}), [{"x": 1}, {"x": None}, None]),
}


def rows(kind: pa.DataType, values: list, other: list | None = None) -> pa.RecordBatch:
    """One column of these values, and one of other numbers."""
    numbers = pa.array(other or list(range(len(values))), pa.int64())
    return pa.RecordBatch.from_arrays([pa.array(values, kind), numbers], ["value", "other"])


@pytest.mark.parametrize("name", VALUES)
def test_rows_have_the_same_checksum_apart_and_together(name):
    """A rewrite puts rows beside other rows; a NULL among them must not make a kept row look changed."""
    kind, values = VALUES[name]
    together = checksum_of(rows(kind, values))

    apart = [checksum_of(rows(kind, [value], [position])) for position, value in enumerate(values)]

    assert sum(apart) % 2**64 == together
    assert len(set(apart)) == len(values)


def test_values_that_changed_rows_change_the_checksum():
    """Each column's values are all still there: only the rows are not."""
    assert checksum_of(rows(pa.string(), ["a", "b"])) != checksum_of(rows(pa.string(), ["b", "a"]))


@pytest.mark.parametrize("name", VALUES)
def test_a_value_that_became_null_changes_the_checksum(name):
    """Also where it is the one that NULLs were filled with."""
    kind, (first, *others) = VALUES[name]

    assert checksum_of(rows(kind, [first, *others])) != checksum_of(rows(kind, [None, *others]))
