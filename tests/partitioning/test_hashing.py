"""Spark's xxhash64 in NumPy and plain Python. Every expected hash below was printed by Spark 4.1.4."""

import datetime as dt
import decimal
import struct
import time
from decimal import Decimal

import numpy as np
import pytest
import xxhash
from hypothesis import given, settings
from hypothesis import strategies as st

from partitioning.errors import FunctionError
from partitioning.hashing import (
    check_n_slots,
    decode_key,
    encode_key,
    hash_key,
    hash_keys,
    key_type_of,
    slot_of,
    slots_of,
)

UTC = dt.UTC
INDIA = dt.timezone(dt.timedelta(hours=5, minutes=30))
FEW = settings(deadline=None, max_examples=60, derandomize=True)

FROM_SPARK = [
    ("bigint", 0, -5252525462095825812),
    ("bigint", 1, -7001672635703045582),
    ("bigint", -1, 3858142552250413010),
    ("bigint", 42, -6876166290308861218),
    ("bigint", 2**31, -8411286333845881801),
    ("bigint", -(2**31) - 1, -3489055675389824258),
    ("bigint", 2**53 + 1, 2178404700979030276),
    ("bigint", 2**63 - 1, -3246596055638297850),
    ("bigint", -(2**63), -8619748838626508300),
    ("bigint", None, 42),
    ("int", 0, 3614696996920510707),
    ("int", 1, -6698625589789238999),
    ("int", -1, 2017008487422258757),
    ("int", 42, -387659249110444264),
    ("int", 2**31 - 1, 1508894993788531228),
    ("int", -(2**31), 2073849959933241805),
    ("int", None, 42),
    ("string", "", -7444071767201028348),
    ("string", "a", -8582455328737087284),
    ("string", "abc", 1423657621850124518),
    ("string", "abcd", -6810745876291105281),
    ("string", "abcde", -990457398947679591),
    ("string", "1234567", -3188848029947885567),
    ("string", "12345678", 6863040065134489090),
    ("string", "123456789", -6808433898042478093),
    ("string", "é", 2065146811275570100),
    ("string", "😀", -5869505314936196641),
    ("string", "customer-42", -7330110856932682949),
    ("string", "x" * 31, -1716462135722163746),
    ("string", "x" * 32, 1299777543150008824),
    ("string", "x" * 33, -2751654916054470392),
    ("string", "naïve café ☕ 😀 " * 5, 2167685873369886683),
    ("string", "0123456789" * 1000, -6324659182017587037),
    ("string", "a\x00", -3991939095231492476),
    ("string", "\x00", -8959994473701255385),
    ("string", None, 42),
    ("binary", b"", -7444071767201028348),
    ("binary", b"\x00", -8959994473701255385),
    ("binary", b"a\x00", -3991939095231492476),
    ("binary", b"\xff\xfe", -1106782947571579601),
    ("binary", bytes(range(256)), -2156533592262354883),
    ("binary", bytes(32), 7990612063234494619),
    ("binary", None, 42),
    ("date", dt.date(1970, 1, 1), 3614696996920510707),
    ("date", dt.date(2026, 1, 5), 9081808850064389552),
    ("date", dt.date(1969, 12, 31), 2017008487422258757),
    ("date", dt.date(1582, 10, 15), 368781402421712356),
    ("date", dt.date(1, 1, 1), 6773727150484150602),
    ("date", dt.date(9999, 12, 31), 7061898801283288394),
    ("date", None, 42),
    ("timestamp", dt.datetime(1970, 1, 1, tzinfo=UTC), -5252525462095825812),
    ("timestamp", dt.datetime(2026, 1, 5, 12, 34, 56, 789012, tzinfo=UTC), -8488054719881999049),
    ("timestamp", dt.datetime(1969, 12, 31, 23, 59, 59, 999999, tzinfo=UTC), 3858142552250413010),
    ("timestamp", dt.datetime(2026, 1, 5, 12, tzinfo=INDIA), -5736526190700003517),
    ("timestamp", dt.datetime(1, 1, 1, tzinfo=UTC), 4148024589635468106),
    ("timestamp", dt.datetime(9999, 12, 31, 23, 59, 59, 999999, tzinfo=UTC), -3238974501849525030),
    ("timestamp", None, 42),
    ("decimal(10,2)", Decimal(0), -5252525462095825812),
    ("decimal(10,2)", Decimal("12.34"), -3802813071951760351),
    ("decimal(10,2)", Decimal("-12.34"), -1614697014534150208),
    ("decimal(10,2)", Decimal("0.01"), -7001672635703045582),
    ("decimal(10,2)", Decimal("99999999.99"), -3824918051710350671),
    ("decimal(10,2)", Decimal("-99999999.99"), 8762893120686426508),
    ("decimal(10,2)", Decimal(5), -3790174456893765438),
    ("decimal(10,2)", None, 42),
    ("decimal(18,0)", Decimal(10**18 - 1), 2162198894918931945),
    ("decimal(18,0)", Decimal(1 - 10**18), 4265531446127695490),
    ("decimal(18,0)", Decimal(7), -2864211556195259663),
    ("decimal(19,0)", Decimal(0), -8959994473701255385),
    ("decimal(19,0)", Decimal(7), -2707323769083221954),
    ("decimal(19,0)", Decimal(-1), -4006032525457443936),
    ("decimal(19,0)", Decimal(127), -5998106174972408993),
    ("decimal(19,0)", Decimal(128), 6715097930120473301),
    ("decimal(19,0)", Decimal(-128), -7898411661632158123),
    ("decimal(19,0)", Decimal(-129), -6459515886037897956),
    ("decimal(19,0)", Decimal(2**63), 2657851292443253618),
    ("decimal(19,0)", Decimal(10**19 - 1), -768917144950141986),
    ("decimal(19,0)", None, 42),
    ("decimal(38,10)", Decimal(0), -8959994473701255385),
    ("decimal(38,10)", Decimal("12.34"), 2931070465132721415),
    ("decimal(38,10)", Decimal("-12.34"), 2624262772397284526),
    ("decimal(38,10)", Decimal("1E-10"), 6668291691252061002),
    ("decimal(38,10)", Decimal("9999999999999999999999999999.9999999999"), -47190729175993179),
    ("decimal(38,10)", Decimal("-9999999999999999999999999999.9999999999"), -2254039905620870768),
    ("decimal(38,10)", Decimal("-1E-10"), -4006032525457443936),
    ("decimal(38,38)", Decimal("0." + "9" * 38), -47190729175993179),
    ("decimal(38,38)", Decimal("1E-38"), 6668291691252061002),
]
KEY_TYPES = sorted({key_type for key_type, _, _ in FROM_SPARK})


def answers_of(key_type):
    return [(key, answer) for kind, key, answer in FROM_SPARK if kind == key_type]


@pytest.mark.parametrize(("key_type", "key", "answer"), FROM_SPARK)
def test_one_key_hashes_as_in_spark(key_type, key, answer):
    """A key whose hash differs by a bit is looked for in the wrong bucket."""
    assert hash_key(key, key_type) == answer


@pytest.mark.parametrize("key_type", KEY_TYPES)
def test_many_keys_hash_as_in_spark(key_type):
    """The planner's face, NULLs among the keys, agrees with the engine's; without them too: that is another path."""
    keys, answers = zip(*answers_of(key_type), strict=True)
    present = [(key, answer) for key, answer in answers_of(key_type) if key is not None]

    assert hash_keys(keys, key_type).tolist() == list(answers)
    assert hash_keys([key for key, _ in present], key_type).tolist() == [answer for _, answer in present]


@pytest.mark.parametrize(
    ("key_type", "dtype"),
    [
        ("bigint", "int64"),
        ("bigint", ">i8"),
        ("int", "int64"),
        ("int", "int32"),
        ("date", "M8[D]"),
        ("timestamp", "M8[us]"),
    ],
)
def test_arrays_of_the_types_own_dtype_hash_as_in_spark(key_type, dtype):
    """These are the fast paths, and the ones that a byte order or a width could spoil."""
    present = [(key, answer) for key, answer in answers_of(key_type) if key is not None]
    keys = [
        key.astimezone(UTC).replace(tzinfo=None) if isinstance(key, dt.datetime) else key
        for key, _ in present
    ]

    hashes = hash_keys(np.array(keys, dtype=dtype), key_type)

    assert hashes.tolist() == [answer for _, answer in present]
    assert hashes.dtype == np.int64


def test_arrays_of_strings_hash_as_in_spark():
    """Strings reach us in three NumPy forms; all mean the same text."""
    keys, answers = ["", "abc", "é", "😀", "customer-42"], [answer for _, answer in answers_of("string")]
    expected = [answers[[key for key, _ in answers_of("string")].index(key)] for key in keys]

    for dtype in ("U", object, np.dtypes.StringDType()):
        assert hash_keys(np.array(keys, dtype=dtype), "string").tolist() == expected


@FEW
@given(st.lists(st.integers(-(2**63), 2**63 - 1), max_size=40))
def test_written_out_hash_of_longs_is_xxh64(keys):
    """The closed form was derived by hand; the reference implementation must agree on any long."""
    expected = [xxhash.xxh64_intdigest(struct.pack("<q", key), 42) for key in keys]

    assert hash_keys(np.array(keys, dtype=np.int64), "bigint").view(np.uint64).tolist() == expected


@FEW
@given(st.lists(st.integers(-(2**31), 2**31 - 1), max_size=40))
def test_written_out_hash_of_ints_is_xxh64(keys):
    """As for longs: 4 bytes take another branch of XXH64."""
    expected = [xxhash.xxh64_intdigest(struct.pack("<i", key), 42) for key in keys]

    assert hash_keys(np.array(keys, dtype=np.int32), "int").view(np.uint64).tolist() == expected


def test_many_keys_are_hashed_chunk_by_chunk_without_a_seam():
    """Hashing works in chunks; a key at a chunk's edge must not be left out or mixed twice."""
    keys = np.arange(-50_000, 50_001)
    edges = [0, 32_767, 32_768, 65_535, 65_536, 98_303, 98_304, 100_000]

    hashes = hash_keys(keys, "bigint")

    assert [int(hashes[at]) for at in edges] == [hash_key(int(keys[at]), "bigint") for at in edges]
    assert np.unique(hashes).size == keys.size


def test_input_array_is_left_alone_and_may_have_gaps():
    """Hashing is in place inside; the caller's array must not feel it, and slices of a table are not contiguous."""
    keys = np.arange(10)
    keys.flags.writeable = False

    assert hash_keys(keys[::2], "bigint").tolist() == [hash_key(key, "bigint") for key in (0, 2, 4, 6, 8)]
    assert keys.tolist() == list(range(10))


@pytest.mark.parametrize("key_type", KEY_TYPES)
def test_no_keys_have_no_hashes(key_type):
    """An empty window is a normal window, whatever dtype NumPy gave its empty array."""
    assert hash_keys([], key_type).tolist() == []
    assert hash_keys(np.array([]), key_type).dtype == np.int64


# NULL


@pytest.mark.parametrize(
    ("keys", "key_type"),
    [
        pytest.param(
            np.ma.array([7, 2**40, 9], mask=[False, True, False]), "int", id="masked-and-too-big-below"
        ),
        pytest.param(
            np.ma.array([7, object(), 9], mask=[False, True, False], dtype=object), "int", id="masked-objects"
        ),
        pytest.param(np.array([7, None, 9], dtype=object), "int", id="none-in-objects"),
        pytest.param(
            np.array([7, np.datetime64("NaT"), np.int64(9)], dtype=object), "int", id="nat-in-objects"
        ),
        pytest.param(np.array([7, "NaT", 9], dtype="M8[D]"), "date", id="nat"),
        pytest.param(
            np.ma.array(np.array([7, 8, 9], "M8[D]"), mask=[False, True, False]), "date", id="masked-dates"
        ),
    ],
)
def test_null_hashes_to_the_seed(keys, key_type):
    """The NULL key is often the hottest of all, and what stands under a mask is nobody's business."""
    assert hash_keys(keys, key_type).tolist() == hash_keys([7, None, 9], "int").tolist()
    assert hash_keys([None, None], key_type).tolist() == [42, 42]


def test_mask_counts_among_keys_that_look_alike():
    """A column of nothing but strings takes a short cut, which must not lead past the mask."""
    keys = np.ma.array(["abc", "abcd"], mask=[False, True], dtype=object)

    assert hash_keys(keys, "string").tolist() == [1423657621850124518, 42]


# Keys in several forms


@pytest.fixture
def new_york_time(monkeypatch):
    """A machine whose local time is not UTC."""
    with monkeypatch.context() as patch:
        patch.setenv("TZ", "America/New_York")
        time.tzset()
        yield
    time.tzset()


@pytest.mark.usefixtures("new_york_time")
def test_datetime_without_zone_is_utc():
    """Otherwise the same plan would differ between two machines' local times."""
    naive, aware = dt.datetime(2026, 1, 5, 6, 30), dt.datetime(2026, 1, 5, 12, tzinfo=INDIA)  # noqa: DTZ001  (the case)

    assert hash_key(naive, "timestamp") == hash_key(aware, "timestamp") == -5736526190700003517
    assert hash_keys([naive, aware], "timestamp").tolist() == [-5736526190700003517] * 2


def test_datetime64_of_any_unit_is_brought_to_microseconds():
    """pandas hands over nanoseconds, Parquet milliseconds."""
    instant = np.array(["2026-01-05T06:30"], dtype="M8[m]")

    for unit in ("m", "s", "ms", "us", "ns"):
        assert hash_keys(instant.astype(f"M8[{unit}]"), "timestamp").tolist() == [-5736526190700003517]


def test_numpy_scalars_are_keys_too():
    """Whoever takes one key out of an array has a NumPy scalar in hand."""
    assert hash_key(np.int32(1), "bigint") == hash_key(1, "bigint")
    assert hash_key(np.str_("abc"), "string") == hash_key("abc", "string")
    assert hash_key(np.datetime64("2026-01-05"), "date") == hash_key(dt.date(2026, 1, 5), "date")
    assert (
        hash_keys(np.array([np.int64(1), 1], dtype=object), "bigint").tolist() == [hash_key(1, "bigint")] * 2
    )


def test_decimal_is_hashed_by_value_whatever_the_context_rounds():
    """5, 5.0 and 5.00 are one key, and a caller's decimal context of 6 digits must not reach into the hash."""
    with decimal.localcontext() as context:
        context.prec = 6
        assert {hash_key(Decimal(text), "decimal(10,2)") for text in ("5", "5.0", "5.000")} == {
            -3790174456893765438
        }
        assert hash_key(Decimal("-0.00"), "decimal(10,2)") == hash_key(Decimal(0), "decimal(10,2)")
        wide = Decimal("9999999999999999999999999999.9999999999")
        assert decode_key(encode_key(wide, "decimal(38,10)"), "decimal(38,10)") == wide
        assert hash_key(wide, "decimal(38,10)") == -47190729175993179


def test_zero_fits_every_decimal():
    """It has no digits to lose, whatever exponent it was written with and however few digits stand before the point."""
    for zero in (Decimal(0), Decimal("0E+50"), Decimal("-0E-50")):
        assert hash_key(zero, "decimal(18,18)") == hash_key(0, "bigint")
        assert hash_key(zero, "decimal(38,38)") == hash_key(b"\x00", "binary")


def test_bytes_keep_their_trailing_zeros():
    """NumPy's own bytes and text dtypes cut them off: two keys would become one."""
    assert len(set(hash_keys([b"a", b"a\x00"], "binary").tolist())) == 2
    assert len(set(hash_keys(["a", "a\x00"], "string").tolist())) == 2
    assert (
        hash_keys([bytearray(b"a\x00"), b"a"], "binary").tolist()
        == hash_keys([b"a\x00", b"a"], "binary").tolist()
    )


@pytest.mark.parametrize(("key_type", "key"), [(key_type, key) for key_type, key, _ in FROM_SPARK])
def test_decoding_brings_the_key_back(key_type, key):
    """Routes are kept encoded and shown decoded: nothing may get lost between."""
    again = decode_key(encode_key(key, key_type), key_type)

    assert again == key
    assert type(again) is type(key)


def test_decoded_keys_have_one_form():
    """Equal functions must print equal text, so equal keys must."""
    assert (
        decode_key(encode_key(Decimal(5), "decimal(10,2)"), "decimal(10,2)").as_tuple()
        == Decimal("5.00").as_tuple()
    )
    assert (
        decode_key(encode_key(dt.datetime(2026, 1, 5, 12, tzinfo=INDIA), "timestamp"), "timestamp").tzinfo
        is UTC
    )


# Slots


def test_slot_is_pmod_of_the_hash():
    """Spark's pmod is never negative; these remainders are Spark's own, of pmod(xxhash64(key), 64)."""
    keys = [0, 1, -1, 42, 2**63 - 1, None]

    assert slots_of(keys, "bigint", 64).tolist() == [44, 50, 18, 30, 6, 42]
    assert [slot_of(key, "bigint", 64) for key in keys] == [44, 50, 18, 30, 6, 42]
    assert slots_of(keys, "bigint", 1).tolist() == [0] * 6


@pytest.mark.parametrize("n_slots", [0, -4, 3, 131_072, 2.0, True, None, "64"])
def test_number_of_slots_is_a_power_of_two(n_slots):
    """The mask that stands for pmod is right for powers of two only, and S cannot be changed later."""
    with pytest.raises(FunctionError, match=r"n_slots must be a power of two, at most 65536\. Got"):
        slots_of([1], "bigint", n_slots)
    with pytest.raises(FunctionError, match="n_slots must be a power of two"):
        slot_of(1, "bigint", n_slots)


def test_number_of_slots_is_returned_plain():
    """NumPy's integers are welcome, and what is stored is Python's."""
    assert [type(check_n_slots(n)) for n in (1, np.int32(64), 65_536)] == [int, int, int]


# What is refused


@pytest.mark.parametrize(
    "key_type",
    [
        *("double", "float", "boolean", "smallint", "long", "BIGINT", "array<int>", "string collate UNICODE"),
        *("decimal", "decimal(10)", "decimal(0,0)", "decimal(39,0)", "decimal(5,6)", "decimal(5,-1)"),
        *("", None, 7, []),
    ],
)
def test_other_key_types_are_refused(key_type):
    """A double has two zeros and a NaN, a boolean two keys, a collated string another hash: none can be a key here."""
    with pytest.raises(
        FunctionError, match=r"key_type must be one of bigint, int, string, .* Got .* Cast the key column"
    ):
        hash_key(1, key_type)


def test_decimal_types_have_one_name():
    """The name is part of a function's digest."""
    assert key_type_of("decimal( 10 , 2 )").name == "decimal(10,2)"


UNFIT = [
    ("bigint", "7", r"bigint keys must be int\. Got str '7'"),
    ("bigint", True, r"bigint keys must be int\. Got bool True"),
    ("bigint", 7.0, r"bigint keys must be int\. Got float 7\.0"),
    (
        "bigint",
        2**63,
        r"bigint keys must lie in \[-9223372036854775808, 9223372036854775807\]\. Got int 9223372036854775808",
    ),
    ("bigint", -(2**63) - 1, "bigint keys must lie in"),
    ("int", 2**31, r"int keys must lie in \[-2147483648, 2147483647\]\. Got int 2147483648"),
    ("int", -(2**31) - 1, "int keys must lie in"),
    ("string", b"a", r"string keys must be str\. Got bytes b'a'"),
    ("string", 5, r"string keys must be str\. Got int 5"),
    ("string", "\ud800", "string keys must be text without lone surrogates"),
    ("binary", "a", r"binary keys must be bytes\. Got str 'a'"),
    ("date", dt.datetime(2026, 1, 5, tzinfo=UTC), r"date keys must be date\. Got datetime"),
    ("date", "2026-01-05", r"date keys must be date\. Got str"),
    ("timestamp", dt.date(2026, 1, 5), r"timestamp keys must be datetime\. Got date"),
    (
        "timestamp",
        dt.datetime(1, 1, 1, tzinfo=INDIA),
        "timestamp keys must lie in the years 1 to 9999 of UTC",
    ),
    ("timestamp", np.datetime64(7, "ns"), r"timestamp keys must be datetime\. Got int 7"),
    ("decimal(4,2)", 5, r"decimal\(4,2\) keys must be Decimal\. Got int 5"),
    ("decimal(4,2)", Decimal(100), r"keys must fit decimal\(4,2\)\. Got Decimal Decimal\('100'\)"),
    ("decimal(4,2)", Decimal("0.005"), r"keys must fit decimal\(4,2\)\."),
    ("decimal(4,2)", Decimal("1.005"), r"keys must fit decimal\(4,2\) without rounding"),
    ("decimal(4,2)", Decimal("NaN"), r"keys must fit decimal\(4,2\)\."),
    ("decimal(4,2)", Decimal("-Infinity"), r"keys must fit decimal\(4,2\)\."),
    ("decimal(38,10)", Decimal("1E+999999"), r"keys must fit decimal\(38,10\)\."),
    ("decimal(38,10)", Decimal("1E-999999"), r"keys must fit decimal\(38,10\)\."),
]


@pytest.mark.parametrize(("key_type", "key", "sentence"), UNFIT)
def test_a_key_that_the_column_could_not_hold_is_refused(key_type, key, sentence):
    """A silent conversion would hash something that Spark never saw. In a list, the position is named too."""
    fine = next(key for key, _ in answers_of(key_type)) if key_type in KEY_TYPES else Decimal("1.5")

    with pytest.raises(FunctionError, match=sentence + ".* Give each key as Spark would hold it"):
        hash_key(key, key_type)
    with pytest.raises(FunctionError, match=sentence.partition(" Got")[0] + ".* at position 1[.;]"):
        hash_keys([fine, key, fine], key_type)


@pytest.mark.parametrize(
    ("keys", "key_type", "sentence"),
    [
        (np.array([1.0]), "bigint", "bigint keys must come as integers. Got an array of dtype float64"),
        (np.array([True]), "bigint", "bigint keys must come as integers. Got an array of dtype bool"),
        (np.array([1]), "string", "string keys must come as strings. Got an array of dtype int64"),
        (np.array([b"a"]), "binary", "binary keys must come as a list or object array of bytes"),
        (np.array([b"a"]), "string", r"string keys must come as strings. Got an array of dtype \|S1"),
        (np.array([1]), "date", "date keys must come as datetime64 or"),
        (
            np.array([1], "M8[us]"),
            "bigint",
            "bigint keys must come as integers. Got an array of dtype datetime64",
        ),
        (np.array([1]), "decimal(10,2)", "must come as a list or object array of decimal.Decimal"),
        (
            np.array([0, 2**63], "u8"),
            "bigint",
            "bigint keys must lie in .* Got 9223372036854775808 at position 1; such keys: 1",
        ),
        (
            np.array([0, -(2**31) - 1, 2**31]),
            "int",
            "int keys must lie in .* Got -2147483649 at position 1; such keys: 2",
        ),
        (np.array([0, 2**31], "M8[D]"), "date", "date keys must lie in .* Got 2147483648 at position 1"),
        (
            np.array([0, 1], "M8[h]"),
            "date",
            r"date keys must be whole \[D\] .* Got 1970-01-01T01 at position 1; such keys: 1",
        ),
        (
            np.array(["NaT", 0, 1], "M8[ns]"),
            "timestamp",
            r"must be whole \[us\] .* at position 2; such keys: 1",
        ),
        (np.array([2**62], "M8[s]"), "timestamp", r"must be whole \[us\] that fit 64 bits"),
        (
            np.array([[1], [2]]),
            "bigint",
            r"bigint keys must be one-dimensional. Got an array of shape \(2, 1\)",
        ),
        (
            "abc",
            "string",
            "string keys must be a list or an array of keys. Got str 'abc'. Put a single key in a list",
        ),
        (b"abc", "binary", "binary keys must be a list or an array of keys. Got bytes"),
        (7, "bigint", "bigint keys must be a list or an array of keys. Got int 7"),
        (
            np.array([[1, 2], None], dtype=object),
            "bigint",
            r"bigint keys must be int. Got list \[1, 2\] at position 0",
        ),
    ],
)
def test_arrays_that_would_need_guessing_are_refused(keys, key_type, sentence):
    """A float array has lost digits already, a bytes array its zeros, an integer array says no unit."""
    with pytest.raises(FunctionError, match=sentence):
        hash_keys(keys, key_type)


def test_unsigned_and_narrow_integers_are_taken_by_value():
    """The dtype is the caller's affair as long as the numbers fit the column."""
    for dtype in ("u8", "u4", "i2", "u1"):
        assert (
            hash_keys(np.array([0, 1, 42], dtype=dtype), "bigint").tolist()
            == hash_keys([0, 1, 42], "bigint").tolist()
        )
        assert (
            hash_keys(np.array([0, 1, 42], dtype=dtype), "int").tolist()
            == hash_keys([0, 1, 42], "int").tolist()
        )
