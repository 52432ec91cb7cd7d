"""The partitioning function: routes over slots, one digest a function, text and back."""

import copy
import datetime as dt
import hashlib
import json
import pickle
import subprocess
import sys
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from partitioning.errors import FunctionError
from partitioning.function import PartitioningFunction
from partitioning.hashing import slot_of
from partitioning.ring import ring_slots

FEW = settings(deadline=None, max_examples=50, derandomize=True)
INDIA = dt.timezone(dt.timedelta(hours=5, minutes=30))
HASHES_LIKE_NULL = 7997738013315500161  # xxhash64 of this bigint is 42, as of NULL

KEYS = {
    "bigint": st.integers(-(2**63), 2**63 - 1) | st.integers(-5, 5),
    "int": st.integers(-(2**31), 2**31 - 1) | st.integers(-5, 5),
    "string": st.text(st.characters(codec="utf-8"), max_size=40),
    "binary": st.binary(max_size=40),
    "date": st.dates(),
    "timestamp": st.datetimes(timezones=st.sampled_from([None, dt.UTC])),
    "decimal(10,2)": st.decimals(-(10**7), 10**7, places=2),
    "decimal(38,10)": st.decimals(-(10**27), 10**27, places=10),
}


def make_function(routes=None, *, key_type="bigint", n_buckets=4, n_slots=64, **options):
    start = PartitioningFunction.initial(key_type=key_type, n_buckets=n_buckets, n_slots=n_slots, **options)
    return start.with_changes(routes=routes or {})


@st.composite
def functions(draw):
    """Any function with moved slots, and keys: some routed, some not, NULL among them."""
    key_type = draw(st.sampled_from(sorted(KEYS)))
    n_buckets = draw(st.integers(1, 6))
    keys = draw(st.lists(KEYS[key_type] | st.none(), max_size=30))
    slots = draw(st.lists(st.integers(0, n_buckets - 1), min_size=16, max_size=16))
    function = PartitioningFunction(
        key_type=key_type,
        n_buckets=n_buckets,
        slots=np.array(slots),
        points_per_bucket=draw(st.integers(1, 20)),
    )
    for key in keys[::2]:
        function = function.with_changes(routes={key: draw(st.integers(0, n_buckets - 1))})
    return function, keys


# Looking up


@FEW
@given(functions())
def test_both_faces_give_the_bucket_of_the_definition(case):
    """bucket(key) = routes.get(key) or slots[slot(key)], for one key and for many, on every type."""
    function, keys = case
    routed = dict(function.route_list)
    utc = [key.replace(tzinfo=dt.UTC) if isinstance(key, dt.datetime) else key for key in keys]
    homes = [function.slot_list[slot_of(key, function.key_type, function.n_slots)] for key in keys]
    expected = [routed.get(key, home) for key, home in zip(utc, homes, strict=True)]

    assert [function.bucket_of(key) for key in keys] == expected
    assert function.buckets_of(keys).tolist() == expected


@pytest.mark.parametrize("key_type", ["bigint", "int", "string"])
def test_routes_are_found_among_many_keys(key_type):
    """The bit map that spares most keys the comparison must not lose a routed one, nor make one of another key."""
    keys = np.random.default_rng(7).permutation(20_000) - 10_000
    keys = keys.astype("U").astype(object) if key_type == "string" else keys
    plain = make_function(key_type=key_type, n_buckets=10, n_slots=256)
    homes = plain.buckets_of(keys)
    away = ((homes + 1) % 10).tolist()
    routed = plain.with_changes(routes=dict(zip(keys[:700], away, strict=False)))

    buckets = routed.buckets_of(keys)

    assert routed.n_routes == 700
    assert buckets[:700].tolist() == away[:700]
    assert buckets[700:].tolist() == homes[700:].tolist()
    assert buckets.dtype == np.int64


def test_null_is_routed_by_itself():
    """One bigint has the hash of NULL. Routing NULL must leave it alone, and the other way round."""
    plain = make_function()
    home = plain.bucket_of(None)
    other = (home + 1) % 4
    keys = [None, HASHES_LIKE_NULL]

    assert plain.buckets_of(keys).tolist() == [home, home]
    assert make_function({None: other}).buckets_of(keys).tolist() == [other, home]
    assert make_function({HASHES_LIKE_NULL: other}).buckets_of(keys).tolist() == [home, other]
    assert make_function({0: (plain.bucket_of(0) + 1) % 4}).buckets_of(keys).tolist() == [home, home]
    masked = np.ma.array([5, 5], mask=[True, False])
    assert make_function({None: other}).buckets_of(masked).tolist() == [other, plain.bucket_of(5)]


def test_no_keys_have_no_buckets():
    """An empty window is a normal window, with or without routes."""
    for function in (make_function(), make_function({1: 0, 2: 0, 3: 0, None: 1}), make_function({None: 0})):
        assert function.buckets_of([]).tolist() == []


def test_keys_of_another_type_are_refused():
    """Looking a string up in a function of bigints would answer, wrongly, if it were hashed."""
    with pytest.raises(FunctionError, match=r"bigint keys must be int\. Got str '7'"):
        make_function().bucket_of("7")
    with pytest.raises(FunctionError, match=r"bigint keys must be int\. Got str '7' at position 0"):
        make_function().buckets_of(["7"])


# What a function is


def test_initial_function_is_the_ring():
    """A new dataset starts where consistent hashing puts it."""
    function = PartitioningFunction.initial(key_type="string", n_buckets=3, n_slots=32, points_per_bucket=5)

    assert function.slot_list == ring_slots(32, 3, 5).tolist()
    assert (function.n_slots, function.n_routes, function.route_list) == (32, 0, [])


def test_redundant_routes_cannot_exist():
    """A route that agrees with its slot costs a place in the table and does nothing; dropped, equal functions are equal."""
    home = make_function().bucket_of(7)
    away = (home + 1) % 4

    assert make_function({7: home}) == make_function()
    assert make_function({7: away}).route_list == [(7, away)]
    assert make_function({7: away}).with_changes(routes={7: home}) == make_function()
    slot = slot_of(7, "bigint", 64)
    assert make_function({7: away}).with_changes(slots={slot: away}).route_list == []


def test_order_and_form_of_routes_do_not_matter():
    """The digest names a function: how its routes were written down must not show."""
    noon = dt.datetime(2026, 1, 5, 12, tzinfo=INDIA)
    same = [
        ("bigint", {3: 0, -7: 0, None: 0, 12: 1}, {12: 1, np.int64(3): 0, None: np.int32(0), -7: 0}),
        ("timestamp", {noon: 1}, {noon.astimezone(dt.UTC).replace(tzinfo=None): 1}),
        ("decimal(10,2)", {Decimal(5): 1}, {Decimal("5.000"): 1}),
    ]
    for key_type, routes, again in same:
        slots = np.full(16, 3)
        first, second = (
            PartitioningFunction(key_type=key_type, n_buckets=4, slots=slots, routes=each)
            for each in (routes, again)
        )
        assert first.to_json() == second.to_json()
        assert first == second
        assert hash(first) == hash(second)


def test_routes_are_ordered_by_what_is_hashed():
    """The documented order: NULL, then numbers ascending; text and wide decimals by their bytes."""

    def keys(key_type, *routed):
        function = PartitioningFunction(
            key_type=key_type, n_buckets=2, slots=np.zeros(16, dtype=int), routes=dict.fromkeys(routed, 1)
        )
        return [key for key, _ in function.route_list]

    assert keys("bigint", 5, -7, None, 0) == [None, -7, 0, 5]
    assert keys("string", "é", "b", "", "a", None) == [None, "", "a", "b", "é"]
    assert keys("decimal(38,0)", Decimal(-1), Decimal(256), Decimal(2)) == [
        Decimal(256),
        Decimal(2),
        Decimal(-1),
    ]


def test_routes_come_back_in_canonical_form():
    """Spark reads a datetime without a zone in its session's zone: routes must carry theirs."""
    noon = dt.datetime(2026, 1, 5, 12, tzinfo=INDIA)
    function = PartitioningFunction(
        key_type="timestamp", n_buckets=2, slots=np.zeros(16, dtype=int), routes={noon: np.int64(1)}
    )

    assert (
        repr(function.route_list)
        == "[(datetime.datetime(2026, 1, 5, 6, 30, tzinfo=datetime.timezone.utc), 1)]"
    )


def test_one_key_in_two_forms_must_go_one_way():
    """Python calls these two datetimes different; Spark sees one key."""
    noon = dt.datetime(2026, 1, 5, 12, tzinfo=dt.UTC)
    routes = {noon: 0, noon.replace(tzinfo=None): 1}

    with pytest.raises(FunctionError, match=r"Routes must send a key to one bucket\. Got 0 and 1 for key"):
        make_function(key_type="timestamp").with_changes(routes=routes)


def test_function_cannot_be_changed():
    """Plans, tables and caches hold on to a function by its digest."""
    slots = np.zeros(16, dtype=np.int64)
    routes = {7: 1}
    function = PartitioningFunction(key_type="bigint", n_buckets=2, slots=slots, routes=routes)
    text = function.to_json()
    slots[:], routes[8] = 1, 1  # the caller's own, still his

    assert function.to_json() == text
    for again in (function, pickle.loads(pickle.dumps(function)), copy.deepcopy(function)):  # noqa: S301  (our own)
        assert again == function
        with pytest.raises(ValueError, match="read-only"):
            again.slots[0] = 1
        with pytest.raises(TypeError, match="does not support item assignment"):
            again.routes[7] = 0
        with pytest.raises(AttributeError, match="cannot assign to field"):
            again.n_buckets = 3


def test_functions_differ_where_they_differ():
    """Whatever changes an answer, now or at the next change of N, changes the digest."""
    slots = np.zeros(16, dtype=np.int64)
    moved = np.arange(16) % 2
    base = {"key_type": "bigint", "n_buckets": 2, "slots": slots, "routes": {7: 1}, "points_per_bucket": 8}
    others = [
        {"key_type": "int"},
        {"n_buckets": 3},
        {"slots": moved},
        {"slots": np.zeros(32, dtype=int)},
        {"routes": {}},
        {"routes": {8: 1}},
        {"routes": {None: 1}},
        {"points_per_bucket": 9},
    ]
    digests = {PartitioningFunction(**{**base, **other}).digest for other in [{}, *others]}

    assert len(digests) == len(others) + 1
    assert PartitioningFunction(**base) != "a function"


def test_repr_is_short():
    """It ends up in error messages; 65,536 slots must not."""
    function = make_function({7: 0, 8: 0, 9: 0}, n_slots=65_536)

    assert repr(function) == (
        "PartitioningFunction(key_type='bigint', n_buckets=4, n_slots=65536,"
        f" n_routes={function.n_routes}, digest='{function.digest[:12]}')"
    )


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"slots": np.zeros(12, dtype=int)}, r"n_slots must be a power of two, at most 65536\. Got 12\."),
        ({"slots": np.zeros(0, dtype=int)}, r"n_slots must be a power of two, at most 65536\. Got 0\."),
        ({"slots": np.zeros(16)}, r"slots must be one bucket number a slot\. Got .* dtype float64"),
        ({"slots": np.zeros((4, 4), dtype=int)}, r"slots must be one bucket number a slot\. Got .* \(4, 4\)"),
        ({"slots": [[0], [0, 1]]}, r"slots must be one bucket number a slot\. Got .* dtype object"),
        ({"slots": [0, 1, 2, -1]}, r"slots must lie in \[0, 2\)\. Got 2 at slot 2; slots out of range: 2\."),
        ({"n_buckets": 0}, r"n_buckets must be a whole number from 1 to n_slots = 16\. Got 0\."),
        ({"n_buckets": 17}, r"n_buckets must be a whole number from 1 to n_slots = 16\. Got 17\."),
        ({"n_buckets": 2.0}, r"n_buckets must be a whole number .* Got 2\.0\."),
        ({"points_per_bucket": 0}, r"points_per_bucket must be a whole number .* Got 0\."),
        ({"key_type": "double"}, r"key_type must be one of .* Got 'double'\."),
        ({"routes": {7: 2}}, r"A bucket must be a whole number in \[0, 2\)\. Got 2 for key 7\."),
        ({"routes": {7: -1}}, r"A bucket must be a whole number in \[0, 2\)\. Got -1 for key 7\."),
        ({"routes": {7: 1.0}}, r"A bucket must be a whole number in \[0, 2\)\. Got 1\.0 for key 7\."),
        ({"routes": {7: True}}, r"A bucket must be a whole number in \[0, 2\)\. Got True for key 7\."),
        ({"routes": {"7": 1}}, r"bigint keys must be int\. Got str '7'"),
        ({"routes": [(7, 1)]}, r"Routes must be a mapping from key to bucket\. Got list\."),
    ],
)
def test_a_wrong_description_is_refused(changes, sentence):
    """A function that names a bucket that is not there would lose rows."""
    base = {"key_type": "bigint", "n_buckets": 2, "slots": np.zeros(16, dtype=int)}

    with pytest.raises(FunctionError, match=sentence):
        PartitioningFunction(**{**base, **changes})


# The next function


def test_a_plan_moves_exactly_what_it_says():
    """A moved slot takes its keys along, but not the routed ones and not those the plan itself places."""
    function = make_function(n_slots=4, points_per_bucket=8)
    by_slot = {
        slot: [key for key in range(100) if slot_of(key, "bigint", 4) == slot][:3] for slot in range(4)
    }
    moved, (follower, held, routed) = 2, by_slot[2]
    home = function.slot_list[moved]
    new, far = (home + 1) % 4, (home + 2) % 4
    function = function.with_changes(routes={routed: far})

    planned = function.with_changes(slots={moved: new}, routes={held: home})

    assert planned.bucket_of(follower) == new
    assert planned.bucket_of(held) == home
    assert planned.bucket_of(routed) == far
    assert dict(planned.route_list) == {held: home, routed: far}
    assert planned.with_changes(slots={moved: home}, routes={held: home}) == function
    assert function.with_changes() == function
    assert planned.points_per_bucket == 8
    others = [key for slot in (0, 1, 3) for key in by_slot[slot]]
    assert planned.buckets_of(others).tolist() == function.buckets_of(others).tolist()


def test_a_plan_may_name_a_routed_key_in_another_form():
    """The key is the same key: its old route is replaced, not contradicted."""
    noon = dt.datetime(2026, 1, 5, 12, tzinfo=dt.UTC)
    base = PartitioningFunction(
        key_type="timestamp", n_buckets=3, slots=np.zeros(16, dtype=int), routes={noon: 1}
    )

    assert base.with_changes(routes={noon.replace(tzinfo=None): 2}).route_list == [(noon, 2)]


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"slots": {64: 0}}, r"slots must be numbered in \[0, 64\)\. Got 64\."),
        ({"slots": {-1: 0}}, r"slots must be numbered in \[0, 64\)\. Got -1\."),
        ({"slots": {"0": 0}}, r"slots must be numbered in \[0, 64\)\. Got '0'\."),
        ({"slots": {0: 4}}, r"A bucket must be a whole number in \[0, 4\)\. Got 4 for slot 0\."),
        ({"slots": {0: 1.5}}, r"A bucket must be a whole number in \[0, 4\)\. Got 1\.5 for slot 0\."),
        (
            {"slots": {0: 2**70}},
            r"A bucket must be a whole number in \[0, 4\)\. Got 1180591620717411303424 for slot 0",
        ),
        ({"routes": {7: 4}}, r"A bucket must be a whole number in \[0, 4\)\. Got 4 for key 7\."),
    ],
)
def test_a_plan_for_another_function_is_refused(changes, sentence):
    """NumPy would take slot -1 for the last one."""
    with pytest.raises(FunctionError, match=sentence):
        make_function().with_changes(**changes)


def test_another_n_moves_only_what_must_move():
    """Slots at home follow the ring, placed ones stay, those without a bucket go home; so do the routes."""
    function = PartitioningFunction.initial(key_type="bigint", n_buckets=4, n_slots=256)
    homes = function.slots
    placed = {int(slot): int(homes[slot] + 1) % 4 for slot in range(0, 256, 16)}
    function = function.with_changes(slots=placed)
    keys = list(range(200))
    function = function.with_changes(routes={key: (function.bucket_of(key) + 1) % 4 for key in keys[:40]})

    grown, shrunk = function.with_n_buckets(5), function.with_n_buckets(3)

    for slot in range(256):
        at_home = function.slots[slot] == homes[slot]
        assert grown.slots[slot] == (ring_slots(256, 5)[slot] if at_home else function.slots[slot])
        stays = not at_home and function.slots[slot] < 3
        assert shrunk.slots[slot] == (function.slots[slot] if stays else ring_slots(256, 3)[slot])
    assert grown.routes == function.routes
    assert shrunk.n_routes < function.n_routes
    for key, bucket in function.route_list:
        went_home = shrunk.slot_list[slot_of(key, "bigint", 256)]
        assert shrunk.bucket_of(key) == (bucket if bucket < 3 else went_home)


@FEW
@given(functions(), st.integers(1, 4))
def test_growing_and_shrinking_back_changes_nothing(case, more):
    """Trying a larger N must be free of consequences, and the same N is no change at all."""
    function, _ = case

    grown = function.with_n_buckets(function.n_buckets + more)

    assert grown.with_n_buckets(function.n_buckets) == function
    assert function.with_n_buckets(function.n_buckets) == function
    assert set(grown.slots[grown.slots != function.slots].tolist()) <= set(
        range(function.n_buckets, grown.n_buckets)
    )


@FEW
@given(functions(), st.integers(1, 6))
def test_any_n_gives_a_function_of_that_n(case, n_buckets):
    """Constructing it checks every slot and route; shrinking moves only keys whose bucket or slot's ring home is gone."""
    function, keys = case

    other = function.with_n_buckets(n_buckets)

    assert other.n_buckets == n_buckets
    if n_buckets < function.n_buckets:
        gone = function.slots >= n_buckets
        assert other.slots[~gone].tolist() == function.slots[~gone].tolist()
        kept = [key for key in keys if function.bucket_of(key) < n_buckets]
        assert other.buckets_of(kept).tolist() == function.buckets_of(kept).tolist()


def test_another_n_that_cannot_be_is_refused():
    """Before any ring is built."""
    for n_buckets in (0, 65, 2.5):
        with pytest.raises(
            FunctionError, match=r"n_buckets must be a whole number from 1 to n_slots = 64\. Got"
        ):
            make_function().with_n_buckets(n_buckets)


# Text


@FEW
@given(functions())
def test_text_is_lossless(case):
    """What a table stores must be the function that routed its rows."""
    function, keys = case

    again = PartitioningFunction.from_json(function.to_json())

    assert again == function
    assert again.to_json() == function.to_json()
    assert repr(again.route_list) == repr(function.route_list)
    assert again.buckets_of(keys).tolist() == function.buckets_of(keys).tolist()


EXAMPLE_TEXT = (
    '{"digest":"DIGEST","format":1,"key_type":"string","n_buckets":2,'
    '"points_per_bucket":8,"routes":[[null,1],["a\\"\\u00e9",1],["\\ud83d\\ude00",1]],"slots":[0,0,0,0]}'
)


def test_text_and_digest_are_the_same_for_ever():
    """Tables in the field carry them: another text for the same function needs another format number."""
    function = PartitioningFunction(
        key_type="string",
        n_buckets=2,
        slots=[0] * 4,
        routes={"😀": 1, None: 1, 'a"é': 1},
        points_per_bucket=8,
    )
    content = EXAMPLE_TEXT.replace('"digest":"DIGEST",', "")

    assert function.digest == hashlib.sha256(content.encode()).hexdigest()
    assert function.digest == "4b6089960b29da22845d7622b35ca44cb3b240ac2787bd0b2c8751b43fe49d81"
    assert function.to_json() == EXAMPLE_TEXT.replace("DIGEST", function.digest)


@pytest.mark.parametrize(
    ("key_type", "key", "text"),
    [
        ("bigint", 2**63 - 1, "9223372036854775807"),
        ("int", -5, "-5"),
        ("string", "a b", "a b"),
        ("binary", b"\x00\xff", "00ff"),
        ("date", dt.date(1, 2, 3), "0001-02-03"),
        ("timestamp", dt.datetime(2026, 1, 5, 12, tzinfo=INDIA), "2026-01-05T06:30:00.000000+00:00"),
        ("decimal(10,2)", Decimal("-0.5"), "-0.50"),
        ("decimal(38,10)", Decimal("1E-10"), "0.0000000001"),
        ("decimal(38,10)", Decimal("1E+3"), "1000.0000000000"),
        ("bigint", None, None),
    ],
)
def test_keys_are_text_in_json(key_type, key, text):
    """As numbers, big ones would be rounded by readers that know doubles only."""
    function = PartitioningFunction(key_type=key_type, n_buckets=2, slots=[0] * 4, routes={key: 1})

    assert json.loads(function.to_json())["routes"] == [[text, 1]]
    assert PartitioningFunction.from_json(function.to_json()) == function


def test_digest_does_not_depend_on_the_process():
    """String hashing differs between Python processes; the digest must not."""
    program = (
        "from partitioning.function import PartitioningFunction as F;"
        "print(F(key_type='string', n_buckets=2, slots=[0] * 4, routes={c: 1 for c in 'hello world'}).digest)"
    )
    here = PartitioningFunction(
        key_type="string", n_buckets=2, slots=[0] * 4, routes=dict.fromkeys("dehlorw ", 1)
    )

    root = Path(__file__).parents[2]
    there = subprocess.run(
        [sys.executable, "-c", program], cwd=root, capture_output=True, text=True, check=True
    ).stdout

    assert there.strip() == here.digest


def changed(**changes):
    content = {**json.loads(make_function({7: 0, 8: 1, 9: 2}).to_json()), **changes}
    return json.dumps({name: value for name, value in content.items() if value != "left out"})


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("{", r"A function's text must be JSON\. Got Expecting"),
        (None, r"A function's text must be JSON\. Got "),
        ("[]", r"must be an object of format 1 or 2\. Got 'list'\."),
        (
            changed(format=3),
            r"must be an object of format 1 or 2\. Got 3\. If a newer release wrote it, upgrade\.",
        ),
        (changed(format="left out"), r"must be an object of format 1 or 2\. Got 'no format'\."),
        (
            changed(routes="left out"),
            r"exactly the fields of format 1\. Got missing: \['routes'\], unknown: \[\]\.",
        ),
        (changed(salt=1), r"exactly the fields of format 1\. Got missing: \[\], unknown: \['salt'\]\."),
        (changed(digest="left out"), r"Got missing: \['digest'\]"),
        (changed(digest="0" * 64), r"digest must match its content\. Got '0000"),
        (changed(routes=[]), r"digest must match its content\. Got '"),
        (changed(n_buckets=5), r"digest must match its content"),
        (changed(routes=[["7", 0, 1]]), r"routes must be a list of \[key, bucket\]"),
        (changed(routes={"7": 0}), r"routes must be a list of \[key, bucket\]"),
        (changed(routes=[["x", 0]]), r"routes must hold bigint keys as text\. Got 'x'\."),
        (changed(routes=[[7, 0]]), r"routes must hold bigint keys as text\. Got 7\."),
        (changed(routes=[[["7"], 0]]), r"routes must hold bigint keys as text\. Got \['7'\]\."),
        (
            changed(key_type="decimal(4,2)", routes=[["x", 0]]),
            r"hold decimal\(4,2\) keys as text\. Got 'x'\.",
        ),
        (changed(key_type="float", routes=[["7", 0]]), r"key_type must be one of .* Got 'float'\."),
        (changed(key_type=["bigint"], routes=[]), r"key_type must be one of .* Got \['bigint'\]\."),
        (changed(slots=[True] * 64), r"slots must be one bucket number a slot"),
        (changed(slots=None), r"slots must be one bucket number a slot"),
        (changed(n_buckets=True), r"n_buckets must be a whole number"),
    ],
)
def test_text_that_is_not_a_function_is_refused(text, sentence):
    """Routing rows by half a function is worse than stopping."""
    with pytest.raises(FunctionError, match=sentence):
        PartitioningFunction.from_json(text)
