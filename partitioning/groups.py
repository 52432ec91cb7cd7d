"""Running sums within groups, without a loop over items."""

import numpy as np
from numpy.typing import NDArray


def sum_before_in_group(group: NDArray[np.int64], amount: NDArray[np.float64]) -> NDArray[np.float64]:
    """For items that lie together by group: the sum of the amounts before each one in its group."""
    before: NDArray[np.float64] = np.cumsum(amount) - amount
    is_first = np.ones(group.size, dtype=np.bool_)
    is_first[1:] = group[1:] != group[:-1]
    return np.asarray(before - before[is_first][np.cumsum(is_first) - 1])
