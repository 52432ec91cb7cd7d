"""Split routes in the function: a key's rows in several buckets, each row always in the same one."""

import json
import pickle
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from partitioning.errors import FunctionError
from partitioning.function import PartitioningFunction
from partitioning.hashing import slot_of
from partitioning.splits import N_GRAINS, Part, bucket_per_grain, even_weights, stretches

FEW = settings(deadline=None, max_examples=50, derandomize=True)
HALVES = ((3, 2048), (5, 2048))


def plain(**options):
    return PartitioningFunction.initial(**{"key_type": "bigint", "n_buckets": 8, "n_slots": 64, **options})


def split(splits, **options):
    return plain(**options).with_changes(splits=splits, row_id=("id",))


@st.composite
def any_parts(draw, n_buckets=8):
    cuts = sorted(draw(st.sets(st.integers(1, N_GRAINS - 1), max_size=6)))
    ends = [*cuts, N_GRAINS]
    weights = np.diff([0, *ends]).tolist()
    return [(draw(st.integers(0, n_buckets - 1)), weight) for weight in weights]


@FEW
@given(st.data())
def test_one_row_and_many_rows_agree(data):
    """Plain Python and NumPy: with routed, split and other keys, NULL among them, every row has one and the same bucket."""
    keys = data.draw(st.lists(st.integers(-5, 5) | st.none(), min_size=1, max_size=40))
    named = sorted({key for key in keys if key is not None})
    function = split(
        {key: data.draw(any_parts()) for key in [*named[::3], *([None] if data.draw(st.booleans()) else [])]}
    ).with_changes(routes={key: data.draw(st.integers(0, 7)) for key in named[1::3]})
    grains = np.array(
        data.draw(st.lists(st.integers(0, N_GRAINS - 1), min_size=len(keys), max_size=len(keys)))
    )

    many = function.buckets_of(keys, grains)

    assert many.tolist() == [
        function.bucket_of(key, int(grain)) for key, grain in zip(keys, grains, strict=True)
    ]


@pytest.mark.parametrize("key_type", ["bigint", "string", "binary"])
def test_every_grain_goes_where_its_part_says(key_type):
    """The ends of parts belong to the next part: no grain is lost between two."""
    key = {"bigint": 7, "string": "seven", "binary": b"7"}[key_type]
    function = split({key: [(1, 1), (2, 4000), (1, 95)]}, key_type=key_type)

    buckets = function.buckets_of([key] * N_GRAINS, np.arange(N_GRAINS))

    assert Counter(buckets.tolist()) == {1: 96, 2: 4000}
    assert buckets[[0, 1, 4000, 4001]].tolist() == [1, 2, 2, 1]
    assert function.bucket_of(key, 4001) == 1


@pytest.mark.parametrize("ask", [lambda f: f.bucket_of(7), lambda f: f.buckets_of([1, 7])])
def test_a_split_key_without_grain_is_refused(ask):
    """An answer for the whole key would send every row of it to one bucket."""
    with pytest.raises(
        FunctionError, match=r"must come with its grain\. Got none for key 7, .* ask parts_of"
    ):
        ask(split({7: HALVES}))


def test_other_keys_of_a_function_that_splits_need_no_grain():
    """Whole keys are what nearly all callers ask for."""
    assert split({7: HALVES}).buckets_of([1, 2, None]).tolist() == plain().buckets_of([1, 2, None]).tolist()


def test_a_function_without_splits_has_the_text_it_always_had():
    """Tables in use carry this digest: another text for the same function would orphan all of them."""
    function = plain().with_changes(routes={7: 0, 8: 1})

    content = json.loads(function.to_json())

    assert content["format"] == 1
    assert content.keys() == {
        "format",
        "key_type",
        "n_buckets",
        "points_per_bucket",
        "slots",
        "routes",
        "digest",
    }
    joined = function.with_changes(splits={9: HALVES}, row_id=("id",)).with_changes(
        routes={9: function.bucket_of(9)}
    )
    assert joined.to_json() == function.to_json()


@FEW
@given(st.dictionaries(st.integers(-9, 9) | st.none(), any_parts(), min_size=1, max_size=5))
def test_text_and_back_is_the_same_function(splits):
    """A plan's function travels as text; so does a worker's."""
    function = split(splits)

    again = PartitioningFunction.from_json(function.to_json())

    assert again == function == pickle.loads(pickle.dumps(function))  # noqa: S301  (our own)
    assert again.splits == function.splits
    assert json.loads(function.to_json())["format"] == (2 if function.splits else 1)


def test_splits_have_one_form():
    """Neighbours of one bucket are one part, the order of keys and columns says nothing, one bucket alone is a route."""
    one = split({8: [(3, 1000), (3, 1048), (5, 2048)], 7: HALVES}).with_changes(row_id=("id",))
    other = plain().with_changes(splits={7: HALVES, 8: HALVES}, row_id=("id",))

    assert one.digest == other.digest
    assert one.splits[8] == (Part(3, 2048), Part(5, 2048))
    home = plain().bucket_of(7)
    away = (home + 1) % 8
    assert split({7: [(away, 96), (away, 4000)]}) == plain().with_changes(routes={7: away})
    assert split({7: [(home, N_GRAINS)]}) == plain()
    assert plain().with_changes(splits={7: HALVES}, row_id=("b", "a")).row_id == ("a", "b")


def test_routing_a_split_key_joins_it_and_splitting_a_routed_one_frees_its_route():
    """A key is in one table only, whatever it was before."""
    home = plain().bucket_of(7)
    routed = plain().with_changes(routes={7: (home + 1) % 8})

    function = routed.with_changes(splits={7: HALVES}, row_id=("id",))

    assert not function.routes
    assert function.with_changes(routes={7: (home + 1) % 8}) == routed
    assert function.with_changes(slots={0: 1}).splits == function.splits


def test_routes_count_parts_away_from_home():
    """max_routes bounds the table, parts included; a part at home costs nothing, as a key at home does."""
    home = plain().bucket_of(7)
    others = [bucket for bucket in range(8) if bucket != home]

    assert split({7: [(home, 96), (others[0], 2000), (others[1], 2000)]}).n_routes == 2
    assert split({7: [(others[0], 2048), (others[1], 2048)]}).n_routes == 2


def test_parts_of_buckets_that_go_away_go_home():
    """Shrinking may leave no row in a bucket that is gone; growing and shrinking back changes nothing."""
    function = split({7: [(7, 2048), (1, 2048)]})

    shrunk = function.with_n_buckets(4)

    assert {part.bucket for part in shrunk.parts_of(7)} == {1, shrunk.slots[slot_of(7, "bigint", 64)]}
    assert function.with_n_buckets(12).with_n_buckets(8) == function


@pytest.mark.parametrize(
    ("splits", "sentence"),
    [
        ({7: [(3, 2048)]}, r"must sum to 4096\. Got 2048 for key 7\. Use even_weights"),
        ({7: [(8, 2048), (1, 2048)]}, r"a bucket in \[0, 8\) .* Got \(8, 2048\) for key 7"),
        ({7: [(3, 0), (1, 4096)]}, r"a weight of 1 or more, .* Got \(3, 0\) for key 7"),
        ({7: [(3, True), (1, 4095)]}, r"whole numbers both\. Got \(3, True\)"),
        ({7: 3}, r"must be \(bucket, weight\) pairs\. Got 3 for key 7"),
        ({7: [(3,)]}, r"must be \(bucket, weight\) pairs"),
        ([], r"must be a mapping from key"),
    ],
)
def test_what_cannot_be_parts_is_refused(splits, sentence):
    """Half a split would lose rows."""
    with pytest.raises(FunctionError, match=sentence):
        PartitioningFunction(
            key_type="bigint", n_buckets=8, slots=plain().slots, splits=splits, row_id=("id",)
        )


def test_a_key_cannot_be_routed_and_split():
    """Two tables that disagree would be two answers."""
    with pytest.raises(FunctionError, match=r"routed or split, not both\. Got both for key 7"):
        PartitioningFunction(
            key_type="bigint",
            n_buckets=8,
            slots=plain().slots,
            routes={7: 1},
            splits={7: HALVES},
            row_id=("id",),
        )


@pytest.mark.parametrize("row_id", [(), ("a", "a"), ("",)])
def test_splits_need_what_tells_rows_apart(row_id):
    """Without it a retried load could put a row into another bucket."""
    with pytest.raises(
        FunctionError, match=r"row_id must name the columns that tell rows of a split key apart"
    ):
        plain().with_changes(splits={7: HALVES}, row_id=row_id)


def test_row_id_stays_while_keys_are_split():
    """Another row id would put rows that are in the table elsewhere."""
    function = split({7: HALVES})

    with pytest.raises(
        FunctionError, match=r"row_id must stay \['id'\] while keys are split by it\. Got \['other'\]"
    ):
        function.with_changes(row_id=("other",))
    assert function.with_changes(splits={8: HALVES}, row_id=("id",)).splits.keys() == {7, 8}


@FEW
@given(any_parts(), any_parts())
def test_stretches_are_where_neither_function_changes(before, after):
    """They are what can move as a whole: each grain in one stretch, with its bucket under both."""
    found = list(stretches([tuple(Part(*part) for part in before), tuple(Part(*part) for part in after)]))

    grains = [(grain, stretch.buckets) for stretch in found for grain in range(stretch.low, stretch.high)]
    assert grains == list(enumerate(zip(bucket_per_grain(before), bucket_per_grain(after), strict=True)))
    assert all(one.buckets != other.buckets for one, other in pairwise(found))
    assert sum(stretch.share for stretch in found) == 1.0


@pytest.mark.parametrize("n_parts", [1, 2, 3, 7, 4096])
def test_even_weights_differ_by_one_at_most(n_parts):
    """So an even cut is even."""
    weights = even_weights(n_parts)

    assert len(weights) == n_parts
    assert sum(weights) == N_GRAINS
    assert max(weights) - min(weights) <= 1
