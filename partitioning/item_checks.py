"""Turns what a caller gives into read-only arrays, and refuses whatever cannot be planned on."""

from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from partitioning.errors import PlanRequestError

NO_SLOT = -1
MAX_EXACT = 2.0**53  # from here on a float64 no longer holds every whole number
MAX_BUCKETS = 2**24  # one load a bucket must fit in memory
MAX_ENTRIES = 2**53

Scalar = TypeVar("Scalar", bound=np.generic)


def as_amounts(field: str, value: ArrayLike) -> NDArray[np.float64]:
    """A read-only copy as float64: finite, 0 or more, each and in total below 2^53."""
    array = _as_vector(field, value)
    if array.dtype.kind not in "iufO":
        raise _refusal(field, "hold numbers", f"dtype {array.dtype}", "Give one number an item")
    try:
        amounts = array.astype(np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise _refusal(field, "hold numbers", f"objects ({error})", "Give one number an item") from None
    _refuse_where(field, ~np.isfinite(amounts), amounts, rule="be finite", remedy="Drop or fill these items")
    _refuse_where(field, amounts < 0, amounts, rule="be 0 or more", remedy="Clip these items at 0")
    _refuse_where(field, amounts >= MAX_EXACT, amounts, rule="be below 2^53", remedy="Give a coarser unit")
    total = float(amounts.sum())
    if total >= MAX_EXACT:
        raise _refusal(field, "total less than 2^53", f"a total of {total:.6g}", "Give a coarser unit")
    return _frozen(amounts)


def as_buckets(field: str, value: ArrayLike, *, n_buckets: int) -> NDArray[np.int64]:
    """A read-only copy as int64, every value in [0, n_buckets)."""
    array = _as_integers(field, value)
    outside = (array < 0) | (array >= n_buckets)
    _refuse_where(field, outside, array, rule=f"lie in [0, {n_buckets})", remedy="Give a bucket that exists")
    return _frozen(array.astype(np.int64))


def as_flags(field: str, value: ArrayLike) -> NDArray[np.bool_]:
    """A read-only copy as booleans; numbers are refused, since 2 is neither."""
    array = _as_vector(field, value)
    if array.size and array.dtype.kind != "b":
        raise _refusal(
            field, "hold booleans", f"dtype {array.dtype}", "Give True for a slot, False for a key"
        )
    return _frozen(array.astype(np.bool_))


def as_slot_positions(field: str, value: ArrayLike, is_slot: NDArray[np.bool_]) -> NDArray[np.int64]:
    """A read-only copy as int64: for a key NO_SLOT or the position of a slot item, for a slot NO_SLOT."""
    array = _as_integers(field, value)
    check_length(field, array, is_slot.size)
    outside = (array < NO_SLOT) | (array >= is_slot.size)
    rule = f"be {NO_SLOT} or a position below {is_slot.size}"
    _refuse_where(field, outside, array, rule=rule, remedy=f"Give {NO_SLOT} where a key's slot is no item")
    positions = array.astype(np.int64)
    has_slot = positions != NO_SLOT
    _refuse_where(
        field,
        is_slot & has_slot,
        positions,
        rule=f"be {NO_SLOT} for a slot item",
        remedy="A slot lies in no slot",
    )
    points_at_key = has_slot.copy()
    points_at_key[has_slot] = ~is_slot[positions[has_slot]]
    _refuse_where(
        field,
        points_at_key,
        positions,
        rule="point at a slot item",
        remedy="Set is_slot there, or give -1 here",
    )
    return _frozen(positions)


def as_bucket_count(field: str, value: object) -> int:
    """A plain int in [1, 2^24]."""
    if not isinstance(value, int | np.integer) or isinstance(value, bool):
        raise _refusal(field, "be a whole number", repr(value), "Give the number of buckets as an int")
    count = int(value)
    if not 1 <= count <= MAX_BUCKETS:
        raise _refusal(field, f"be between 1 and {MAX_BUCKETS}", str(count), "Give at least one bucket")
    return count


def check_length(field: str, array: NDArray[Any], n_items: int) -> None:
    """Refuses an array that does not describe each item once."""
    if array.size != n_items:
        raise _refusal(
            field, f"have {n_items} values, as cost has", str(array.size), "Give one value an item"
        )


def _as_vector(field: str, value: ArrayLike) -> NDArray[Any]:
    try:
        array = np.asarray(value)
    except ValueError as error:
        raise _refusal(field, "be one-dimensional", f"nested values ({error})", "Give a flat array") from None
    if array.ndim != 1:
        raise _refusal(field, "be one-dimensional", f"shape {array.shape}", "Give a flat array")
    return array


def _as_integers(field: str, value: ArrayLike) -> NDArray[Any]:
    array = _as_vector(field, value)
    if array.size == 0:
        return array.astype(np.int64)  # an empty list has no type of its own
    if array.dtype.kind not in "iu":
        raise _refusal(field, "hold integers", f"dtype {array.dtype}", "Convert it with astype(np.int64)")
    return array


def _refuse_where(
    field: str, is_bad: NDArray[np.bool_], values: NDArray[Any], *, rule: str, remedy: str
) -> None:
    bad = np.flatnonzero(is_bad)
    if bad.size:
        first = int(bad[0])
        got = f"{values[first].item()!r} at position {first} ({bad.size} of {values.size} items)"
        raise _refusal(field, rule, got, remedy)


def _refusal(field: str, rule: str, got: str, remedy: str) -> PlanRequestError:
    return PlanRequestError(f"{field} must {rule}. Got {got}. {remedy}.")


def _frozen(array: NDArray[Scalar]) -> NDArray[Scalar]:
    array.flags.writeable = False
    return array
