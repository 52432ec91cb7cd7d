"""
Compact statistics: items with like characteristics as one record with a count (Fang et al., Sec. IV).

A record of the paper is (d', d, d_h, v_c, v_S, #): the next bucket, the present one, the hash's, the discretised
cost and state, and how many keys share all of these. d' is what a planner decides, so it is not kept here.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from partitioning.tracking.hlhe import classify
from partitioning.tracking.numbering import number_codes


@dataclass(frozen=True, kw_only=True, eq=False)
class CompactStatistics:
    """
    Records, ordered by (bucket, home, cost, state); position r of each array but the last describes one record.

    The counts sum to the number of items. No two records agree in all of bucket, home, cost and state.
    """

    bucket: NDArray[np.int64]  # d, where its items are
    home: NDArray[np.int64]  # d_h, where the hash wants them
    cost: NDArray[np.float64]  # v_c of each of its items
    state: NDArray[np.float64]  # v_S of each of its items
    count: NDArray[np.int64]  # #, at least 1
    record_of: NDArray[np.int64]  # the record of each item: how records are turned back into items

    @property
    def n_records(self) -> int:
        return self.count.size


def summarise(
    *,
    cost: NDArray[np.float64],
    state: NDArray[np.float64],
    bucket: NDArray[np.int64],
    home: NDArray[np.int64],
    degree: int = 8,
) -> CompactStatistics:
    """
    The compact statistics of these items, cost and state discretised by HLHE with R = ``degree``.

    Deterministic. O(K log K) for K items; the records are at most K, and at most N² times the representatives used.
    """
    v_cost, cost_class = classify(cost, degree=degree)
    v_state, state_class = classify(state, degree=degree)
    values, value_of, _ = number_codes(
        cost_class * v_state.size + state_class, n_codes=v_cost.size * v_state.size
    )
    n_buckets = int(max(bucket.max(initial=0), home.max(initial=0))) + 1
    place = bucket * n_buckets + home
    found, record_of, count = number_codes(place * values.size + value_of, n_codes=n_buckets**2 * values.size)
    places, values = found // max(values.size, 1), values[found % max(values.size, 1)]
    return CompactStatistics(
        bucket=places // n_buckets,
        home=places % n_buckets,
        cost=v_cost[values // v_state.size],
        state=v_state[values % v_state.size],
        count=count,
        record_of=record_of,
    )
