"""Keys of declared peaks: one form each, the one that tables have, and nothing that is no key of the column."""

import pytest
import yaml

from partitioning.function_json import key_of_text, text_of_key
from partitioning.key_types import decode_key, encode_key
from schemas.dataset import DatasetError, read_dataset
from schemas.key_texts import canonical_key
from tests.schemas.test_dataset import changed


@pytest.mark.parametrize(
    ("key_type", "text", "form"),
    [
        ("bigint", "7", "7"),
        ("bigint", "007", "7"),
        ("bigint", "-0", "0"),
        ("bigint", "-9223372036854775808", "-9223372036854775808"),
        ("int", "+2147483647", "2147483647"),
        ("decimal(10,2)", "12.5", "12.50"),
        ("decimal(10, 2)", "-0", "0.00"),
        ("decimal(38,0)", "9" * 38, "9" * 38),
        ("date", "20261127", "2026-11-27"),
        ("timestamp", "2026-01-01", "2026-01-01T00:00:00.000000+00:00"),
        ("timestamp", "2026-01-01T01:30+01:00", "2026-01-01T00:30:00.000000+00:00"),
        ("binary", "AB 0c", "ab0c"),
        ("string", " 007 ", " 007 "),
        ("string", "", ""),
    ],
)
def test_key_is_brought_into_the_form_that_tables_have(key_type, text, form):
    """A peak of 007 is one of 7: item statistics hold keys as the core writes them, and other texts never match."""
    key = key_of_text(text, key_type)

    assert canonical_key(text, key_type) == form
    assert text_of_key(decode_key(encode_key(key, key_type), key_type)) == form


@pytest.mark.parametrize(
    ("key_type", "key", "rule"),
    [
        ("bigint", "99999999999999999999", r"a whole number from -2\^63 to 2\^63 - 1"),
        ("int", 99999999999, r"a whole number from -2\^31 to 2\^31 - 1"),
        ("int", "-2147483649", r"a whole number"),
        ("bigint", " 7", r"a whole number"),
        ("bigint", "1_000", r"a whole number"),
        ("bigint", "\u0663", r"a whole number"),
        ("bigint", "", r"a whole number"),
        ("decimal(10,2)", "1.555", r"a number that fits without rounding"),
        ("decimal(4,2)", "100", r"a number that fits without rounding"),
        ("decimal(4,2)", "NaN", r"a number that fits without rounding"),
        ("date", "abc", r"a day like '2026-11-27'"),
        ("timestamp", "0001-01-01T00:00+14:00", r"a time like '2026-11-27T18:00'"),
        ("timestamp", "2026-11-27T18:00:00.1234567", r"a time like '2026-11-27T18:00', to the microsecond"),
        ("binary", "0g", r"hexadecimal digits, two a byte"),
        ("binary", "007", r"hexadecimal digits, two a byte"),
    ],
)
def test_what_is_no_key_of_the_column_is_refused(tmp_path, key_type, key, rule):
    """Its peak would never come, and nobody would hear of it."""
    peak = {"key": key, "from": "2026-11-27", "to": "2026-11-28", "factor": 5}
    path = tmp_path / "orders.yaml"
    path.write_text(yaml.safe_dump(changed(key__type=key_type, expect=[peak])))

    with pytest.raises(DatasetError, match=rf"expect\.0\.key must be {rule}.*, as key\.type is .*\. Got "):
        read_dataset(path)


@pytest.mark.parametrize("key_type", ["string", "binary", "date", "timestamp"])
def test_number_is_refused_where_keys_are_text(tmp_path, key_type):
    """YAML reads an unquoted 007 as 7, 010 as 8 and 12:30 as 750: the peak would be another key's, or nobody's."""
    path = tmp_path / "orders.yaml"
    peak = '{key: 007, from: "2026-11-27", to: "2026-11-28", factor: 5}'
    path.write_text(f"{yaml.safe_dump(changed(key__type=key_type))}\nexpect: [{peak}]\n")

    with pytest.raises(
        DatasetError,
        match=rf"expect\.0\.key must be text, as key\.type is {key_type}\. Got the number 7\. Put",
    ):
        read_dataset(path)


def test_fraction_is_no_key(tmp_path):
    """1.00 comes out of YAML as 1.0, which as text is another key."""
    path = tmp_path / "orders.yaml"
    peak = '{key: 1.00, from: "2026-11-27", to: "2026-11-28", factor: 5}'
    path.write_text(f"{yaml.safe_dump(changed(key__type='string'))}\nexpect: [{peak}]\n")

    with pytest.raises(DatasetError, match=r"expect\.0\.key must be of type string or .*Got 1\.0\."):
        read_dataset(path)


def test_type_with_a_line_break_is_refused(tmp_path):
    """A block of YAML ends with one; it is no type, and whoever looks it up finds none."""
    peak = {"key": "7", "from": "2026-11-27", "to": "2026-11-28", "factor": 5}
    path = tmp_path / "orders.yaml"
    path.write_text(yaml.safe_dump(changed(key__type="bigint\n", expect=[peak])))

    with pytest.raises(DatasetError, match=r"key\.type must .* Got 'bigint\\n'"):
        read_dataset(path)


def test_key_of_a_peak_is_read_in_its_form(tmp_path):
    """As the file is read, and not later: every job and page sees the same key."""
    during = {"from": "2026-11-27", "to": "2026-11-28", "factor": 5}
    path = tmp_path / "orders.yaml"
    keys = ["007", 7, None]
    path.write_text(
        yaml.safe_dump(changed(key__type="bigint", expect=[{"key": key, **during} for key in keys]))
    )

    assert [peak.key for peak in read_dataset(path).expect] == ["7", "7", None]
