"""Which slots are written by the same task."""

import numpy as np
import pytest

from partitioning.function import PartitioningFunction
from partitioning.hashing import slots_of
from spark_jobs.settled_write import SLOTS_A_TASK, _task_of_slot

FUNCTION = PartitioningFunction.initial(key_type="bigint", n_buckets=40, n_slots=1024)
ROUTED = FUNCTION.with_changes(routes={key: (FUNCTION.bucket_of(key) + 1) % 40 for key in range(5)})


@pytest.mark.parametrize("function", [FUNCTION, ROUTED], ids=["slots", "routes"])
@pytest.mark.parametrize("share", [1.0, 0.3])
def test_slots_of_one_bucket_never_share_a_task(function, share):
    """They would end in one file, which could not be flipped."""
    own_file = np.random.default_rng(0).random(1024) <= share

    task = _task_of_slot(own_file, function)

    places = list(zip(task[own_file].tolist(), function.slots[own_file].tolist(), strict=True))
    assert len(set(places)) == own_file.sum()
    assert (task[~own_file] == -1).all()
    assert np.bincount(task[own_file]).max() <= SLOTS_A_TASK


def test_a_slot_with_a_route_has_a_task_of_its_own():
    """Its routed rows lie in the bucket of another slot, whose file must not take them in."""
    task = _task_of_slot(np.ones(1024, dtype=np.bool_), ROUTED)

    n_sharing = np.bincount(task)[task]
    assert (n_sharing[slots_of(range(5), "bigint", 1024)] == 1).all()


def test_tasks_are_few():
    """A task costs several times what a file does: there are fewer than a fourth of the slots."""
    task = _task_of_slot(np.ones(1024, dtype=np.bool_), FUNCTION)

    assert sorted(set(task.tolist())) == list(range(int(task.max()) + 1))
    assert task.max() + 1 < 1024 / 4


def test_without_a_function_each_slot_has_its_task():
    """Nothing is known of the buckets then."""
    own_file = np.array([True, False, True])

    assert _task_of_slot(own_file, None).tolist() == [0, -1, 1]
