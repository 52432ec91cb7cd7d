"""Stay, flip or rewrite: a file with a row that must go elsewhere is never left whole."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from partitioning.classify import FLIP, NO_BUCKET, REWRITE, STAY, FileRanges, changed_buckets, classify
from partitioning.errors import FunctionError
from partitioning.function import PartitioningFunction
from partitioning.hashing import slot_of
from partitioning.splits import N_GRAINS

FEW = settings(deadline=None, max_examples=200, derandomize=True)
N_SLOTS = 16
KEYS = list(range(60))  # about four a slot
GRAIN = st.integers(0, N_GRAINS - 1)


def make_function(slots, routes=None, *, n_buckets=4, splits=None):
    return PartitioningFunction(
        key_type="bigint",
        n_buckets=n_buckets,
        slots=np.array(slots),
        routes=routes or {},
        splits=splits or {},
        row_id=("id",),
    )


def ranges(*files):
    bucket, low, high = (np.array(column, dtype=np.int64) for column in zip(*files, strict=True))
    return FileRanges(bucket=bucket, low_slot=low, high_slot=high)


@st.composite
def functions(draw, n_buckets):
    slots = draw(st.lists(st.integers(0, n_buckets - 1), min_size=N_SLOTS, max_size=N_SLOTS))
    keys = draw(st.lists(st.sampled_from([*KEYS, None]), max_size=6, unique=True))
    bucket = st.integers(0, n_buckets - 1)
    cut = st.integers(1, N_GRAINS - 1)
    return make_function(
        slots,
        {key: draw(bucket) for key in keys[::2]},
        n_buckets=n_buckets,
        splits={
            key: [(draw(bucket), low := draw(cut)), (draw(bucket), N_GRAINS - low)] for key in keys[1::2]
        },
    )


@st.composite
def changes(draw):
    """Two functions, perhaps of different numbers of buckets, and files whose rows, (key, grain) each, obey the first."""
    before = draw(functions(draw(st.integers(1, 4))))
    after = draw(functions(draw(st.integers(1, 5))))
    files = []
    rows = [(key, grain) for key in [*KEYS, None] for grain in draw(st.lists(GRAIN, min_size=2, max_size=4))]
    for _ in range(draw(st.integers(1, 6))):
        bucket = draw(st.integers(0, before.n_buckets - 1))
        residents = [row for row in rows if before.bucket_of(*row) == bucket]
        if residents:
            files.append((bucket, draw(st.lists(st.sampled_from(residents), min_size=1, max_size=5))))
    return before, after, files


def file_of(bucket, rows, slack):
    slots = [slot_of(key, "bigint", N_SLOTS) for key, _ in rows]
    return bucket, max(0, min(slots) - slack), min(N_SLOTS - 1, max(slots) + slack)


@FEW
@given(changes(), st.integers(0, 3))
def test_no_file_stays_or_flips_with_a_row_that_must_go_elsewhere(change, slack):
    """The promise that data rests on: wrong here, rows land in a bucket where nobody looks for them."""
    before, after, files = change
    if not files:
        return
    classes = classify(ranges(*(file_of(bucket, rows, slack) for bucket, rows in files)), before, after)

    for (bucket, rows), action, target in zip(files, classes.action, classes.bucket, strict=True):
        if action != REWRITE:
            assert {after.bucket_of(*row) for row in rows} == {target}
            assert (action == STAY) == (target == bucket)
        else:
            assert target == NO_BUCKET


@FEW
@given(functions(4))
def test_nothing_moves_when_the_function_stays(function):
    """An equal function must not cost a byte."""
    slots = np.arange(N_SLOTS)
    files = FileRanges(bucket=function.slots, low_slot=slots, high_slot=slots)

    assert (classify(files, function, function).action == STAY).all()
    assert changed_buckets(function, function) == []


HALVES = [0] * 8 + [1] * 8
ROUTED = next(key for key in KEYS if slot_of(key, "bigint", N_SLOTS) == 2)


@pytest.mark.parametrize(
    ("routes_before", "slots_after", "routes_after", "file", "action", "target"),
    [
        pytest.param({}, {}, {}, (0, 0, 7), STAY, 0, id="mixed-file-of-slots-that-stay"),
        pytest.param({}, {2: 1}, {}, (0, 2, 2), FLIP, 1, id="settled-file-of-a-slot-that-leaves"),
        pytest.param({}, {2: 1}, {}, (0, 1, 2), REWRITE, NO_BUCKET, id="one-slot-leaves-one-stays"),
        pytest.param({}, {2: 1}, {}, (0, 3, 7), STAY, 0, id="mixed-file-beside-the-slot-that-leaves"),
        pytest.param({}, {1: 1, 2: 1}, {}, (0, 1, 2), FLIP, 1, id="two-slots-leave-together"),
        pytest.param({}, {1: 1, 2: 2}, {}, (0, 1, 2), REWRITE, NO_BUCKET, id="two-slots-part"),
        pytest.param({}, {}, {ROUTED: 3}, (0, 2, 2), REWRITE, NO_BUCKET, id="a-key-of-the-slot-leaves"),
        pytest.param({}, {2: 3}, {ROUTED: 0}, (0, 2, 2), REWRITE, NO_BUCKET, id="a-key-stays-alone"),
        pytest.param({ROUTED: 3}, {2: 1}, {ROUTED: 3}, (0, 2, 2), FLIP, 1, id="routed-key-is-elsewhere"),
        pytest.param({ROUTED: 3}, {}, {}, (3, 2, 2), FLIP, 0, id="routed-key-goes-home-alone"),
        pytest.param({}, {2: 1}, {}, (1, 2, 2), REWRITE, NO_BUCKET, id="rows-that-cannot-be-here"),
        pytest.param({}, {}, {}, (7, 0, 15), REWRITE, NO_BUCKET, id="bucket-that-does-not-exist"),
        pytest.param({}, {}, {}, (-1, 0, 15), REWRITE, NO_BUCKET, id="no-bucket-at-all"),
    ],
)
def test_file_is_classed_as_its_residents_demand(
    routes_before, slots_after, routes_after, file, action, target
):
    """Each case is a line of the reasoning; conservative is right, but needless rewriting is what we are paid to avoid."""
    before = make_function(HALVES, routes_before)
    after = make_function([slots_after.get(slot, bucket) for slot, bucket in enumerate(HALVES)], routes_after)
    classes = classify(ranges(file), before, after)

    assert (classes.action[0], classes.bucket[0]) == (action, target)


@pytest.mark.parametrize(
    ("parts_before", "parts_after", "file", "action", "target"),
    [
        pytest.param(None, "0 3", (0, 2, 2), REWRITE, NO_BUCKET, id="a-share-of-the-key-leaves"),
        pytest.param(None, "0 3", (0, 3, 7), STAY, 0, id="beside-the-slot-of-the-key"),
        pytest.param("0 3", "0 2", (3, 2, 2), FLIP, 2, id="a-part-moves-whole"),
        pytest.param("0 3", "0 2", (0, 2, 2), STAY, 0, id="the-other-part-stays"),
        pytest.param("0 3", None, (3, 2, 2), FLIP, 0, id="a-part-comes-home"),
        pytest.param("0 3", "3 0", (3, 2, 2), FLIP, 0, id="parts-change-places"),
        pytest.param("0 3", "3 0", (0, 2, 2), REWRITE, NO_BUCKET, id="others-of-the-slot-stay"),
    ],
)
def test_file_of_a_split_key_is_classed_by_its_parts(parts_before, parts_after, file, action, target):
    """A part that is alone in its files moves as whole files do; only a new cut through a key's rows is rewritten."""

    def function(parts):
        halves = None if parts is None else [(int(bucket), N_GRAINS // 2) for bucket in parts.split()]
        return make_function(HALVES, splits=None if halves is None else {ROUTED: halves})

    classes = classify(ranges(file), function(parts_before), function(parts_after))

    assert (classes.action[0], classes.bucket[0]) == (action, target)


def test_another_row_id_is_refused_between_two_functions_that_split():
    """All rows of both keys would have other grains: nothing could be proved from files."""
    split = make_function(HALVES, splits={1: [(0, 2048), (1, 2048)]})
    other = make_function(HALVES).with_changes(splits={1: [(0, 2048), (1, 2048)]}, row_id=("other",))

    with pytest.raises(
        FunctionError, match=r"by the row id of classify.before\. Got \['other'\] after \['id'\]"
    ):
        classify(ranges((0, 0, 0)), split, other)


def test_only_buckets_that_something_leaves_are_looked_at():
    """Files of the other buckets must not even travel to the driver."""
    before = make_function(HALVES, {ROUTED: 3})
    after = before.with_changes(slots={12: 2}, routes={ROUTED: 0})

    assert changed_buckets(before, after) == [1, 3]


def test_another_number_of_slots_is_refused():
    """The slot is part of every row: a function of other slots describes another table."""
    other = make_function([0] * 32)

    with pytest.raises(FunctionError, match=r"must have the slots .* Got 32 slots of bigint keys after 16"):
        classify(ranges((0, 0, 0)), make_function([0] * 16), other)
