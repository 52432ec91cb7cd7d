"""
What a split costs a window: the model of Katsipoulakis et al. (Sec. 2.3 and 3.1), and what no splitter can avoid.

Splitting evens out rows and pays by merging: every bucket hands over one partial result for each key it holds.

Worked (their Sec. 2.2): bucket 0 counted x 12 and y 123, bucket 1 counted x 43, y 1 and z 4. Loads are 135 and 48
rows, so the imbalance is 135 - 91.5 = 43.5 rows; 2 and 3 keys, so the cardinality imbalance is 0.5; Γ = 5 partial
results are merged into 3, and 3 <= 5 <= 2 * 3. Merging is worth it: 5 <= 135.
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from partitioning.errors import SplitRequestError
from partitioning.hashing import is_whole
from partitioning.splitters.options import check_row_weight
from partitioning.splitters.request import SplitRequest


@dataclass(frozen=True, kw_only=True, eq=False)
class SplitCost:
    """One window as some splitter assigned it."""

    rows: NDArray[np.int64]  # L: rows of each bucket
    keys: NDArray[np.int64]  # CL: different keys of each bucket (Eq. 5)
    n_keys: int  # ||S||: different keys of the window

    @property
    def tuple_imbalance(self) -> float:
        """Rows of the fullest bucket above the mean (Eq. 1)."""
        return _above_mean(self.rows)

    @property
    def cardinality_imbalance(self) -> float:
        """Keys of the bucket with the most above the mean (Eq. 6)."""
        return _above_mean(self.keys)

    def hybrid_load(self, row_weight: float = 0.5) -> NDArray[np.float64]:
        """H of each bucket: p L' + (1 - p) CL', each scaled to [0, 1]; 0 where all buckets have the same (Eq. 7 to 9)."""
        check_row_weight("row_weight", row_weight)
        return row_weight * _scaled(self.rows) + (1 - row_weight) * _scaled(self.keys)

    def hybrid_imbalance(self, row_weight: float = 0.5) -> float:
        """The highest hybrid load above the mean (Eq. 10)."""
        return _above_mean(self.hybrid_load(row_weight))

    @property
    def merge_cost(self) -> int:
        """Γ: partial results to merge, one for each key in each bucket (Eq. 2 and 4)."""
        return int(self.keys.sum())

    @property
    def merge_cost_bounds(self) -> tuple[int, int]:
        """What Γ can be: no key split, and every key in every bucket (Proposition 1)."""
        return self.n_keys, self.n_keys * self.rows.size

    @property
    def is_merge_worth_it(self) -> bool:
        """Whether merging takes no longer than the fullest bucket does (the constraint of Eq. 3)."""
        return self.merge_cost <= int(self.rows.max())


def cost_of_split(key_hash: NDArray[np.int64], bucket: NDArray[np.int64], n_buckets: int) -> SplitCost:
    """What it costs to have these rows in these buckets, as one window."""
    _check_buckets(bucket, n_buckets, n_rows=key_hash.size)
    keys, code = np.unique(key_hash, return_inverse=True)
    parts = np.unique(code * n_buckets + bucket)  # one for each key in each bucket
    return SplitCost(
        rows=np.bincount(bucket, minlength=n_buckets),
        keys=np.bincount(parts % n_buckets, minlength=n_buckets),
        n_keys=keys.size,
    )


def cost_of_windows(request: SplitRequest, bucket: NDArray[np.int64]) -> dict[int, SplitCost]:
    """What each window costs, by its number."""
    _check_buckets(bucket, request.n_buckets, n_rows=request.n_rows)
    if not request.n_rows:
        return {}
    changes = (np.flatnonzero(request.window[1:] != request.window[:-1]) + 1).tolist()
    return {
        int(request.window[start]): cost_of_split(
            request.key_hash[start:end], bucket[start:end], request.n_buckets
        )
        for start, end in pairwise([0, *changes, request.n_rows])
    }


def least_tuple_imbalance(*, hottest_rows: int, n_rows: int, n_buckets: int, n_choices: int) -> float:
    """
    An imbalance (Eq. 1) that no splitter goes below which keeps every key in at most ``n_choices`` buckets.

    Some bucket holds the hottest key's rows over ``n_choices`` at least, and some bucket the mean at least: (p1/d - 1/n) m
    of Nasir et al. (Sec. 5.1), in whole rows. More hot keys than one say nothing further: j of them share j times
    as many buckets, or all.

    Worked: 60 of 100 rows are one key's, 8 buckets. Whole, it leaves at least 60 - 12.5 = 47.5 rows above the mean; in
    2 buckets 17.5; in 5 buckets 13 - 12.5 = 0.5.
    """
    for name, value in (("n_buckets", n_buckets), ("n_choices", n_choices)):
        if not is_whole(value) or value < 1:
            raise SplitRequestError(
                f"{name} must be a whole number, at least 1. Got {value!r}."
                " Give the buckets there are, and how many of them a key may have."
            )
    if not (is_whole(hottest_rows) and is_whole(n_rows) and 0 <= hottest_rows <= n_rows):
        raise SplitRequestError(
            f"hottest_rows and n_rows must be whole numbers, 0 <= hottest_rows <= n_rows. Got {hottest_rows!r} and"
            f" {n_rows!r}. Count both in the same window."
        )
    least_load = max(-(-hottest_rows // min(n_choices, n_buckets)), -(-n_rows // n_buckets))
    return least_load - n_rows / n_buckets


def _above_mean(load: NDArray[np.int64] | NDArray[np.float64]) -> float:
    return float(load.max() - load.mean())


def _scaled(load: NDArray[np.int64]) -> NDArray[np.float64]:
    above: NDArray[np.float64] = (load - load.min()).astype(np.float64)
    return above / (above.max() or 1.0)


def _check_buckets(bucket: NDArray[np.int64], n_buckets: int, *, n_rows: int) -> None:
    if not is_whole(n_buckets) or n_buckets < 1:
        raise SplitRequestError(
            f"n_buckets must be a whole number, at least 1. Got {n_buckets!r}. Give the buckets the rows were sent to."
        )
    if bucket.size and bucket.dtype.kind not in "iu":
        raise SplitRequestError(
            f"bucket must be an array of integers. Got dtype {bucket.dtype}. Give what the splitter answered."
        )
    if bucket.shape != (n_rows,):
        raise SplitRequestError(
            f"bucket must have one value a row: {n_rows}. Got shape {bucket.shape}. Give what the splitter answered."
        )
    wrong = np.flatnonzero((bucket < 0) | (bucket >= n_buckets))
    if wrong.size:
        raise SplitRequestError(
            f"bucket must lie in [0, {n_buckets}). Got {bucket[wrong[0]]} at position {wrong[0]}; such rows:"
            f" {wrong.size}. Give what the splitter answered for the same n_buckets."
        )
