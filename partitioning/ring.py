"""The consistent-hash ring: which bucket each slot goes to before anybody has moved it."""

import numpy as np
from numpy.typing import NDArray

from partitioning.errors import FunctionError
from partitioning.hashing import check_n_slots, hash_keys, is_whole

DEFAULT_POINTS_PER_BUCKET = 256
MAX_POINTS = 2**26  # of all buckets together: half a gigabyte of positions


def ring_slots(
    n_slots: int, n_buckets: int, points_per_bucket: int = DEFAULT_POINTS_PER_BUCKET
) -> NDArray[np.int64]:
    """
    The bucket of each slot.

    The ring is the numbers below 2^64. A bucket's points lie at the hashes of (bucket, point), the slots at equal
    distances, and a slot belongs to the first point at or after it, round the end. A bucket's points do not depend on how
    many buckets there are, so one bucket more takes slots only from others to itself, about 1/(N+1) of all, and
    without the last bucket only what it held changes hands.

    How even it is: with p points and S/N slots a bucket, the number of slots a bucket holds deviates by about
    sqrt(1/p + N/S) of the mean. Measured with the default, fullest bucket against the mean: +11 % for
    S = 4,096 and N = 10, +20 % for 4,096 and 40, +11 % for 65,536 and 40, +45 % for 256 and 10. More points help only
    where S is large; planners even out the rest by moving slots.

    Parameters
    ----------
    n_slots
        A power of two, at most 65,536; at least 16 slots a bucket are a good choice.
    """
    check_n_slots(n_slots)
    check_n_buckets(n_buckets, n_slots=n_slots)
    check_points_per_bucket(points_per_bucket, n_buckets=n_buckets)

    owner, position = _points(n_buckets, points_per_bucket)
    slots = np.arange(n_slots, dtype=np.uint64) * np.uint64(2**64 // n_slots % 2**64)
    nearest = np.searchsorted(position, slots, side="left") % position.size
    return owner[nearest]


def _points(n_buckets: int, points_per_bucket: int) -> tuple[NDArray[np.int64], NDArray[np.uint64]]:
    """Owner and position of every point, by ascending position."""
    bucket = np.repeat(np.arange(n_buckets, dtype=np.int64), points_per_bucket)
    point = np.tile(np.arange(points_per_bucket, dtype=np.int64), n_buckets)
    # The hash of 8 bytes is one-to-one, so no two points coincide.
    position = hash_keys((bucket << 32) | point, "bigint").view(np.uint64)
    order = np.argsort(position, kind="stable")
    return bucket[order], position[order]


def check_n_buckets(n_buckets: int, *, n_slots: int) -> int:
    """``n_buckets`` itself, if that many buckets can share the slots."""
    if not is_whole(n_buckets) or not 1 <= n_buckets <= n_slots:
        raise FunctionError(
            f"n_buckets must be a whole number from 1 to n_slots = {n_slots}. Got {n_buckets!r}."
            " A bucket without a slot would stay empty: use fewer buckets, or more slots in a new dataset."
        )
    return int(n_buckets)


def check_points_per_bucket(points_per_bucket: int, *, n_buckets: int) -> int:
    """``points_per_bucket`` itself, if a ring of that many points can be built."""
    limit = MAX_POINTS // n_buckets
    if not is_whole(points_per_bucket) or not 1 <= points_per_bucket <= limit:
        raise FunctionError(
            f"points_per_bucket must be a whole number from 1 to {limit}, for {n_buckets} buckets."
            f" Got {points_per_bucket!r}. The default is {DEFAULT_POINTS_PER_BUCKET}."
        )
    return int(points_per_bucket)
