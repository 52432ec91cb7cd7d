"""The grain of a row. That it is Spark's, bit for bit, is held by tests/spark_jobs/test_routing.py."""

import math

import numpy as np
import pytest
import xxhash

from partitioning.errors import FunctionError
from partitioning.grains import grain_of, grains_of, is_grain_type
from partitioning.hashing import slots_of
from partitioning.splits import N_GRAINS


def chained(*values):
    """Spark's own way, with the reference implementation: each column hashed with what came before as seed."""
    seed = 42
    for value in values:
        seed = seed if value is None else xxhash.xxh64_intdigest(value, seed)
    return seed >> 52


def test_columns_are_hashed_one_after_the_other():
    """NULL leaves the hash as it is, so a column that is added later, and is NULL in old rows, moves none of them."""
    ids, texts = np.ma.array([1, 2, 3], mask=[False, True, False]), ["a", "b", None]

    found = grains_of([(ids, "bigint"), (texts, "string")])

    eight = [number.to_bytes(8, "little") for number in (1, 2, 3)]
    assert found.tolist() == [chained(eight[0], b"a"), chained(b"b"), chained(eight[2])]
    assert grains_of([(ids, "bigint"), (texts, "string"), ([None] * 3, "int")]).tolist() == found.tolist()


def test_many_rows_and_one_row_agree():
    """People ask about one row, jobs about millions; over 32,768 rows the hash is taken in chunks."""
    numbers = np.arange(40_000)

    found = grains_of([(numbers, "bigint"), (numbers.astype(np.float64) / 8, "double")])

    some = [0, 1, 32_767, 32_768, 39_999]
    assert [grain_of([n, n / 8], ["bigint", "double"]) for n in some] == found[some].tolist()


def test_floats_that_are_equal_have_one_grain():
    """A -0.0 or an odd NaN that comes back from another reader must not move the row."""
    odd = np.array([0x7FF0000000000001], dtype=np.uint64).view(np.float64)[0]

    assert grain_of([-0.0], ["double"]) == grain_of([0.0], ["double"]) == chained(bytes(8))
    assert grain_of([odd], ["double"]) == grain_of([math.nan], ["double"])
    assert grain_of([-0.0], ["float"]) == grain_of([0.0], ["float"]) == chained(bytes(4))


def test_grains_are_even_and_apart_from_slots():
    """Also where the row id is hashed for the slot too: parts of a key would be lopsided otherwise."""
    numbers = np.arange(200_000)

    grains = grains_of([(numbers, "bigint")])
    in_one_slot = grains[slots_of(numbers, "bigint", 64) == 5]

    assert grains.min() == 0
    assert grains.max() == N_GRAINS - 1
    for found in (grains, in_one_slot):
        share = np.bincount(found * 4 // N_GRAINS, minlength=4) / found.size
        assert share == pytest.approx([0.25] * 4, abs=0.02)


def test_what_cannot_tell_rows_apart():
    """No column is no row id; nested values have no one form; another collation hashes otherwise."""
    with pytest.raises(FunctionError, match=r"must be made from one column or more\. Got none"):
        grains_of([])
    assert is_grain_type("decimal(10,2)")
    assert not is_grain_type("array<int>")
    assert not is_grain_type("string collate UNICODE_CI")
