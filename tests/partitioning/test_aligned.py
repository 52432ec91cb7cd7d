"""Memory that begins where a line of the cache does."""

import numpy as np
import pytest

from partitioning.aligned import empty, filled


@pytest.mark.parametrize("shape", [(0,), (1,), (7,), (12_500,), (3, 5)])
def test_arrays_begin_where_a_line_does(shape):
    """64 bytes: from elsewhere every wide load takes two lines, which is what this is for."""
    arrays = [empty(shape) for _ in range(9)]

    assert all(array.shape == shape and array.flags.c_contiguous for array in arrays)
    assert all(array.ctypes.data % 64 == 0 for array in arrays if array.size)


def test_filled_arrays_share_nothing():
    """States are changed in place: what they begin with must not change with them."""
    values = np.array([1.0, 2.0])
    array = filled(values, (3, 2))
    array += 1

    assert array.tolist() == [[2, 3]] * 3
    assert values.tolist() == [1, 2]
