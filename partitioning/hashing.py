"""
Spark's ``xxhash64`` of one key column, bit for bit: NumPy for many keys, plain Python for one.

Spark hashes a key with XXH64, seed 42, over bytes that depend on the column's type: ``key_types`` says which. NULL
(``None``, ``NaT``, a masked position) hashes to the seed itself, 42.
"""

import itertools
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeGuard

import numpy as np
import xxhash
from numpy.typing import NDArray

from partitioning.errors import FunctionError
from partitioning.key_types import (
    LONG,
    Encoded,
    Key,
    KeyType,
    decode_key,
    encode_as,
    encode_key,
    key_type_of,
    shown,
)

__all__ = [
    "MAX_SLOTS",
    "SEED",
    "Encoded",
    "EncodedKeys",
    "Key",
    "KeyType",
    "check_n_slots",
    "decode_key",
    "encode_key",
    "encode_keys",
    "hash_encoded",
    "hash_key",
    "hash_keys",
    "is_whole",
    "key_type_of",
    "slot_of",
    "slots_of",
]

SEED = 42
MAX_SLOTS = 65_536

Words = NDArray[np.uint64]
Seed = Words | np.uint64  # one for all, or one a key


# ---------------------------------------------------------------------------------------------------- one key


def hash_key(key: Key | None, key_type: str) -> int:
    """What Spark's ``xxhash64(key)`` answers, as a signed 64-bit number."""
    return hash_encoded(encode_key(key, key_type), key_type)


def slot_of(key: Key | None, key_type: str, n_slots: int) -> int:
    """The key's slot: ``pmod(xxhash64(key), n_slots)``."""
    return hash_key(key, key_type) % check_n_slots(n_slots)


def check_n_slots(n_slots: int) -> int:
    """``n_slots`` itself, if it can be a number of slots."""
    if not is_whole(n_slots) or not 1 <= n_slots <= MAX_SLOTS or n_slots & (n_slots - 1):
        raise FunctionError(
            f"n_slots must be a power of two, at most {MAX_SLOTS}. Got {n_slots!r}."
            " Choose the power of two that makes a slot's file about 32 MB, with at least 16 slots a bucket."
        )
    return int(n_slots)


def is_whole(value: object) -> TypeGuard[int]:
    """Whether this is an integer, of Python or NumPy, and not a truth value."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def hash_encoded(value: Encoded | None, key_type: str) -> int:
    """The hash of what ``encode_key`` returned."""
    if value is None:
        return SEED
    column = key_type_of(key_type)
    if isinstance(value, int):
        value = value.to_bytes(8 if column.integer is LONG else 4, "little", signed=True)
    unsigned = xxhash.xxh64_intdigest(value, SEED)
    return unsigned - 2**64 if unsigned >= 2**63 else unsigned


# -------------------------------------------------------------------------------------------------- many keys


@dataclass(frozen=True, eq=False)
class EncodedKeys:
    """What Spark hashes of many keys. Where ``is_null`` is True the value is a filler."""

    values: NDArray[np.int64] | list[bytes]
    is_null: NDArray[np.bool_] | None  # None: no key is NULL
    key_type: KeyType

    def hashes(self, seeds: NDArray[np.int64] | None = None) -> NDArray[np.int64]:
        """
        The hash of each key, as ``hash_key`` would answer.

        With ``seeds``, one a key, what Spark answers for several columns: the hash of the columns before this one is its seed, and
        a NULL leaves it as it is.
        """
        if isinstance(self.values, list):
            each = itertools.repeat(SEED) if seeds is None else seeds.view(np.uint64).tolist()
            digests = map(xxhash.xxh64_intdigest, self.values, each)
            hashes = np.fromiter(digests, dtype=np.uint64, count=len(self.values)).view(np.int64)
        else:
            mix = _mix_long if self.key_type.integer is LONG else _mix_int
            hashes = _hash_integers(self.values, mix, seeds)
        if self.is_null is not None:
            hashes[self.is_null] = SEED if seeds is None else seeds[self.is_null]
        return hashes


def hash_keys(keys: Iterable[Any], key_type: str) -> NDArray[np.int64]:
    """
    What Spark's ``xxhash64`` answers for each key.

    Integers come fastest as an integer array, dates and timestamps as ``datetime64``, strings as a list. NULL is None
    in a list or object array, ``NaT``, or a masked position of a ``numpy.ma`` array.
    """
    return encode_keys(keys, key_type).hashes()


def slots_of(keys: Iterable[Any], key_type: str, n_slots: int) -> NDArray[np.int64]:
    """The slot of each key: ``pmod(xxhash64(key), n_slots)``."""
    # In two's complement, & with a power of two less one is pmod, below 0 too.
    mask = check_n_slots(n_slots) - 1
    return hash_keys(keys, key_type) & mask


def encode_keys(keys: Iterable[Any], key_type: str) -> EncodedKeys:
    """What Spark hashes of each key. A key of another type, or one that the column could not hold, is refused."""
    column = key_type_of(key_type)
    array, masked = _as_array(keys, column)
    if array.dtype.kind in "iu" and column.kind in ("bigint", "int"):
        return EncodedKeys(_check_integers(array, masked, column), masked, column)
    if array.dtype.kind == "M" and column.kind in ("date", "timestamp"):
        return _encode_datetimes(array, masked, column)
    if array.dtype.kind == "O" or array.size == 0 or (array.dtype.kind in "UT" and column.kind == "string"):
        return _encode_objects(array.tolist(), masked, column)
    raise FunctionError(
        f"{column.name} keys must come as {column.arrays}. Got an array of dtype {array.dtype}."
        " Convert it without loss; a NULL is None in an object array, or a masked position."
    )


def _as_array(keys: Any, column: KeyType) -> tuple[NDArray[Any], NDArray[np.bool_] | None]:
    """The keys as a one-dimensional array, its dtype never guessed, and where they are masked."""
    if isinstance(keys, str | bytes | bytearray) or not hasattr(keys, "__iter__"):
        raise FunctionError(
            f"{column.name} keys must be a list or an array of keys. Got {shown(keys)}. Put a single key in a list."
        )
    if not isinstance(keys, np.ndarray):
        # Of a list, np.asarray would cut trailing zeros off bytes and make floats of big integers.
        keys = np.asarray(keys) if hasattr(keys, "__array__") else np.fromiter(keys, dtype=np.object_)
    array: NDArray[Any] = np.ma.getdata(keys)
    if array.ndim != 1:
        raise FunctionError(
            f"{column.name} keys must be one-dimensional. Got an array of shape {array.shape}. Give one column."
        )
    return array, np.ma.getmaskarray(keys) if np.ma.is_masked(keys) else None


def _encode_objects(keys: list[Any], masked: NDArray[np.bool_] | None, column: KeyType) -> EncodedKeys:
    fast = None if masked is not None else _encode_alike(keys, column)
    if fast is not None:
        return EncodedKeys(fast, None, column)
    skipped = [False] * len(keys) if masked is None else masked.tolist()
    encoded = [
        None if skip else encode_as(key, column, position=position)
        for position, (key, skip) in enumerate(zip(keys, skipped, strict=True))
    ]
    is_null = np.fromiter((value is None for value in encoded), dtype=np.bool_, count=len(encoded))
    filled: list[Any] = [(0 if column.integer else b"") if value is None else value for value in encoded]
    values = np.array(filled, dtype=np.int64) if column.integer else filled
    return EncodedKeys(values, is_null if is_null.any() else None, column)


def _encode_alike(keys: list[Any], column: KeyType) -> NDArray[np.int64] | list[bytes] | None:
    """A quick way for keys of one plain Python type; None if the careful way is needed, which names the culprit."""
    kinds = {(kind, column.kind) for kind in set(map(type, keys))}
    try:
        if kinds == {(str, "string")}:
            return list(map(str.encode, keys))
        if kinds in ({(int, "bigint")}, {(int, "int")}):
            return _check_integers(np.array(keys, dtype=np.int64), None, column)
    except (UnicodeEncodeError, OverflowError):
        return None
    return keys if kinds == {(bytes, "binary")} else None


def _encode_datetimes(array: NDArray[Any], masked: NDArray[np.bool_] | None, column: KeyType) -> EncodedKeys:
    is_null = np.isnat(array) if masked is None else np.isnat(array) | masked
    unit = "D" if column.kind == "date" else "us"
    converted = array.astype(f"M8[{unit}]")
    # Converting back finds both what was rounded and what wrapped around.
    lost = np.flatnonzero((converted.astype(array.dtype) != array) & ~is_null)
    if lost.size:
        raise FunctionError(
            f"{column.name} keys must be whole [{unit}] that fit 64 bits. Got {array[lost[0]]} at position {lost[0]};"
            f" such keys: {lost.size}. Round them as the column in Spark was rounded."
        )
    values = _check_integers(converted.view(np.int64), is_null, column)
    return EncodedKeys(values, is_null if is_null.any() else None, column)


def _check_integers(
    array: NDArray[Any], masked: NDArray[np.bool_] | None, column: KeyType
) -> NDArray[np.int64]:
    """The integers as int64, 0 where masked, once every one is known to fit the column."""
    limits = column.integer or LONG
    if masked is not None:
        array = np.where(masked, 0, array)
    if not np.can_cast(array.dtype, limits.dtype):
        outside = np.flatnonzero((array < limits.min) | (array > limits.max))
        if outside.size:
            raise FunctionError(
                f"{column.name} keys must lie in [{limits.min}, {limits.max}]. Got {array[outside[0]]} at position"
                f" {outside[0]}; such keys: {outside.size}. Use the key type of the column in Spark."
            )
    return array.astype(np.int64, copy=False)


# ------------------------------------------------------------------------- XXH64 of 4 or 8 bytes, written out
# Inputs this short leave out the stripes: what is left is one tail step and the avalanche.

_P1 = np.uint64(0x9E3779B185EBCA87)
_P2 = np.uint64(0xC2B2AE3D27D4EB4F)
_P3 = np.uint64(0x165667B19E3779F9)
_P4 = np.uint64(0x85EBCA77C2B2AE63)
_P5 = np.uint64(0x27D4EB2F165667C5)
_CHUNK = 32_768  # keys mixed at a time, so that both buffers stay in the second-level cache


def _hash_integers(
    values: NDArray[np.int64],
    mix: Callable[[Words, Words, Words, Seed], None],
    seeds: NDArray[np.int64] | None,
) -> NDArray[np.int64]:
    """Hash chunk by chunk and in place: some twenty passes in cache, two over memory."""
    words = values.view(np.uint64)
    hashes = np.empty(words.shape, dtype=np.uint64)
    spare = np.empty(min(_CHUNK, words.size), dtype=np.uint64)
    for start in range(0, words.size, _CHUNK):
        chunk = hashes[start : start + _CHUNK]
        seed = np.uint64(SEED) if seeds is None else seeds.view(np.uint64)[start : start + _CHUNK]
        mix(words[start : start + _CHUNK], chunk, spare[: chunk.size], seed)
        _avalanche(chunk, spare[: chunk.size])
    return hashes.view(np.int64)


def _mix_long(words: Words, out: Words, spare: Words, seed: Seed) -> None:
    np.multiply(words, _P2, out=out)
    _rotate_left(out, spare, bits=31)
    np.multiply(out, _P1, out=out)
    np.bitwise_xor(out, _start(seed, n_bytes=8), out=out)
    _rotate_left(out, spare, bits=27)
    np.multiply(out, _P1, out=out)
    np.add(out, _P4, out=out)


def _mix_int(words: Words, out: Words, spare: Words, seed: Seed) -> None:
    np.bitwise_and(words, np.uint64(0xFFFF_FFFF), out=out)
    np.multiply(out, _P1, out=out)
    np.bitwise_xor(out, _start(seed, n_bytes=4), out=out)
    _rotate_left(out, spare, bits=23)
    np.multiply(out, _P2, out=out)
    np.add(out, _P3, out=out)


def _start(seed: Seed, *, n_bytes: int) -> Seed:
    return seed + np.uint64(int(_P5) + n_bytes)


def _rotate_left(words: Words, spare: Words, *, bits: int) -> None:
    np.right_shift(words, np.uint64(64 - bits), out=spare)
    np.left_shift(words, np.uint64(bits), out=words)
    np.bitwise_or(words, spare, out=words)


def _avalanche(words: Words, spare: Words) -> None:
    for shift, prime in ((33, _P2), (29, _P3)):
        np.right_shift(words, np.uint64(shift), out=spare)
        np.bitwise_xor(words, spare, out=words)
        np.multiply(words, prime, out=words)
    np.right_shift(words, np.uint64(32), out=spare)
    np.bitwise_xor(words, spare, out=words)
