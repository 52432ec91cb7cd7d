"""Checks what a request says about buckets: their capacities, and which are to be emptied."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from partitioning import item_checks
from partitioning.errors import PlanRequestError


def as_capacities(field: str, value: ArrayLike | None, n_buckets: int) -> NDArray[np.float64]:
    """A read-only copy, one finite number above 0 a bucket; 1s where nothing was said."""
    given = np.ones(n_buckets) if value is None else value
    capacity = item_checks.as_amounts(field, given)
    if capacity.size != n_buckets:
        raise PlanRequestError(
            f"{field} must have {n_buckets} values, one a bucket. Got {capacity.size}."
            " Leave it out if all buckets are alike."
        )
    if not (capacity > 0).all():
        bucket = int(capacity.argmin())
        raise PlanRequestError(
            f"{field} must be above 0. Got {capacity[bucket]:g} at bucket {bucket}."
            " To take a bucket out of use, give its number in drained."
        )
    return capacity


def as_drained(field: str, value: ArrayLike | None, n_buckets: int) -> NDArray[np.int64]:
    """A read-only copy, ascending and without repeats; at least one bucket must be left."""
    numbers = item_checks.as_buckets(field, [] if value is None else value, n_buckets=n_buckets)
    drained = np.unique(numbers)
    if drained.size == n_buckets:
        raise PlanRequestError(
            f"{field} must leave at least one bucket in use. Got all {n_buckets}. Name fewer buckets."
        )
    drained.flags.writeable = False
    return drained
