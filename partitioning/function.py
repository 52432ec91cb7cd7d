"""
The partitioning function: which bucket a key lives in.

``bucket(key) = routes.get(key)  or  slots[pmod(xxhash64(key), S)]``
"""

import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from partitioning.errors import FunctionError
from partitioning.function_json import (
    FORMAT,
    canonical_json,
    key_of_text,
    read_content,
    read_pairs,
    text_of_key,
)
from partitioning.hashing import EncodedKeys, check_n_slots, encode_keys, hash_encoded, is_whole
from partitioning.key_types import Encoded, Key, decode_key, encode_key, key_type_of
from partitioning.ring import (
    DEFAULT_POINTS_PER_BUCKET,
    check_n_buckets,
    check_points_per_bucket,
    ring_slots,
)

_NO_ROUTE = -1
_MAX_BIT_MAP = 24  # as a power of two: 16 MB


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class PartitioningFunction:
    """
    Routes first, otherwise the bucket of the key's slot. Immutable, arrays included; equal if the digests are.

    A route that says what its slot says is dropped, and keys are brought to one form (timestamps to UTC, decimals to the
    column's scale), so a function has one representation only. Routes are ordered by what Spark hashes of the key: NULL
    first, then ascending numbers or, for string, binary and decimals above 18 digits, ascending bytes.
    """

    key_type: str  # as Spark names it: see ``partitioning.key_types``
    n_buckets: int
    slots: NDArray[np.int64]  # bucket of each slot
    routes: Mapping[Key | None, int] = field(default_factory=dict)  # key → bucket; None is the NULL key
    points_per_bucket: int = DEFAULT_POINTS_PER_BUCKET  # of the ring that slots follow when n_buckets changes

    @classmethod
    def initial(
        cls,
        *,
        key_type: str,
        n_buckets: int,
        n_slots: int,
        points_per_bucket: int = DEFAULT_POINTS_PER_BUCKET,
    ) -> Self:
        """The function of a new dataset: every slot at its home on the ring, no routes."""
        slots = ring_slots(n_slots, n_buckets, points_per_bucket)
        return cls(key_type=key_type, n_buckets=n_buckets, slots=slots, points_per_bucket=points_per_bucket)

    def __post_init__(self) -> None:
        slots = _check_slots(self.slots)
        n_buckets = check_n_buckets(self.n_buckets, n_slots=slots.size)
        _check_slot_buckets(slots, n_buckets)
        slots.flags.writeable = False
        checked: dict[str, Any] = {
            "key_type": key_type_of(self.key_type).name,
            "n_buckets": n_buckets,
            "slots": slots,
            "points_per_bucket": check_points_per_bucket(self.points_per_bucket, n_buckets=n_buckets),
        }
        for name, value in checked.items():
            object.__setattr__(self, name, value)
        object.__setattr__(self, "routes", self._kept_routes())

    def _kept_routes(self) -> Mapping[Key | None, int]:
        """The routes that say something, in canonical form and order."""
        kept: dict[Key | None, int] = {}
        encoded = _encode_routes(self.routes, self.key_type)
        for value in sorted(encoded, key=lambda value: (value is not None, value)):
            key, bucket = decode_key(value, self.key_type), encoded[value]
            _check_bucket(bucket, self.n_buckets, of=f"key {key!r}")
            if bucket != self._home_of(value):
                kept[key] = int(bucket)
        return MappingProxyType(kept)

    # Looking keys up

    def bucket_of(self, key: Key | None) -> int:
        """The bucket of one key."""
        value = encode_key(key, self.key_type)
        bucket = self._lookup.bucket.get(value)
        return self._home_of(value) if bucket is None else bucket

    def buckets_of(self, keys: Iterable[Any]) -> NDArray[np.int64]:
        """The bucket of each key; ``partitioning.hashing.hash_keys`` says which arrays are welcome."""
        encoded = encode_keys(keys, self.key_type)
        hashes = encoded.hashes()
        buckets: NDArray[np.int64] = self.slots[hashes & (self.n_slots - 1)]
        if self.routes:
            positions, routed = self._lookup.find(encoded, hashes)
            buckets[positions] = routed
        if encoded.is_null is not None:
            buckets[encoded.is_null] = self.bucket_of(None)
        return buckets

    def _home_of(self, value: Encoded | None) -> int:
        return int(self.slots[hash_encoded(value, self.key_type) % self.n_slots])

    @cached_property
    def _lookup(self) -> "_RouteLookup":
        return _RouteLookup(self)

    # What other faces of the function are built from

    @property
    def n_slots(self) -> int:
        return self.slots.size

    @property
    def n_routes(self) -> int:
        return len(self.routes)

    @property
    def slot_list(self) -> list[int]:
        """The bucket of each slot, as plain Python numbers."""
        buckets: list[int] = self.slots.tolist()
        return buckets

    @property
    def route_list(self) -> list[tuple[Key | None, int]]:
        """(key, bucket) of each route, in canonical order."""
        return list(self.routes.items())

    # Making the next function

    def with_n_buckets(self, n_buckets: int) -> Self:
        """
        The function for another number of buckets.

        A slot that sits at its home on the ring follows the ring; one that was placed elsewhere stays, unless its bucket
        is gone: then it goes home. Routes to buckets that are gone are dropped. Growing and shrinking back gives this very
        function again.
        """
        check_n_buckets(n_buckets, n_slots=self.n_slots)
        before = ring_slots(self.n_slots, self.n_buckets, self.points_per_bucket)
        after = ring_slots(self.n_slots, n_buckets, self.points_per_bucket)
        follows = (self.slots == before) | (self.slots >= n_buckets)
        return type(self)(
            key_type=self.key_type,
            n_buckets=n_buckets,
            slots=np.where(follows, after, self.slots),
            routes={key: bucket for key, bucket in self.routes.items() if bucket < n_buckets},
            points_per_bucket=self.points_per_bucket,
        )

    def with_changes(
        self, *, slots: Mapping[int, int] | None = None, routes: Mapping[Key | None, int] | None = None
    ) -> Self:
        """
        The function after a plan: these slots and these keys get these buckets.

        A key that is given ends in its bucket wherever its slot goes; giving it its slot's bucket removes its route. Every
        other routed key keeps its route, and every other key follows its slot.
        """
        new_slots = self.slots.copy()
        for slot, bucket in (slots or {}).items():
            if not is_whole(slot) or not 0 <= slot < self.n_slots:
                raise FunctionError(
                    f"slots must be numbered in [0, {self.n_slots}). Got {slot!r}. Plan on this function's slots."
                )
            _check_bucket(bucket, self.n_buckets, of=f"slot {slot}")
            new_slots[slot] = bucket
        new_routes = _encode_routes(self.routes, self.key_type) | _encode_routes(routes or {}, self.key_type)
        return type(self)(
            key_type=self.key_type,
            n_buckets=self.n_buckets,
            slots=new_slots,
            routes={decode_key(value, self.key_type): bucket for value, bucket in new_routes.items()},
            points_per_bucket=self.points_per_bucket,
        )

    # Identity and text

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the canonical text, in hex: the same on every machine."""
        return hashlib.sha256(canonical_json(self._content()).encode()).hexdigest()

    def to_json(self) -> str:
        """A lossless text of this function, with its digest."""
        return canonical_json({**self._content(), "digest": self.digest})

    @classmethod
    def from_json(cls, text: str) -> Self:
        """The function of ``to_json``. A text of another format, or one that was changed by hand, is refused."""
        content = read_content(text)
        key_type, digest = content["key_type"], content.pop("digest")
        del content["format"]
        routes = {key_of_text(key, key_type): bucket for key, bucket in read_pairs(content["routes"])}
        function = cls(**{**content, "routes": routes})
        if function.digest != digest:
            raise FunctionError(
                f"The function's digest must match its content. Got {digest!r} in the text, {function.digest!r} from"
                " the content. The text was changed or damaged: take it again from where it was written."
            )
        return function

    def _content(self) -> dict[str, Any]:
        return {
            "format": FORMAT,
            "key_type": self.key_type,
            "n_buckets": self.n_buckets,
            "points_per_bucket": self.points_per_bucket,
            "slots": self.slot_list,
            "routes": [[text_of_key(key), bucket] for key, bucket in self.routes.items()],
        }

    def __eq__(self, other: object) -> bool:
        return self.digest == other.digest if isinstance(other, PartitioningFunction) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.digest)

    def __repr__(self) -> str:
        return (
            f"PartitioningFunction(key_type={self.key_type!r}, n_buckets={self.n_buckets}, n_slots={self.n_slots},"
            f" n_routes={self.n_routes}, digest={self.digest[:12]!r})"
        )

    def __reduce__(self) -> tuple[Callable[[str], Self], tuple[str]]:
        return type(self).from_json, (self.to_json(),)  # NumPy's own pickle would give writeable arrays


class _RouteLookup:
    """
    Finds the routed ones among many keys.

    A bit map over the lowest bits of the hash rules out all but about 1 in 32 of the other keys. The rest is compared
    with the routed keys themselves, for two keys may share a hash.
    """

    def __init__(self, function: PartitioningFunction) -> None:
        self.bucket = {encode_key(key, function.key_type): bucket for key, bucket in function.routes.items()}
        values = [value for value in self.bucket if value is not None]  # ascending; NULL is looked up alone
        hashes = np.array([hash_encoded(value, function.key_type) for value in values], dtype=np.int64)
        self._mask = (1 << min((32 * len(values)).bit_length(), _MAX_BIT_MAP)) - 1
        self._maybe_routed = np.zeros(self._mask + 1, dtype=np.bool_)
        self._maybe_routed[hashes & self._mask] = True
        self._integers = np.array([value for value in values if isinstance(value, int)], dtype=np.int64)
        self._buckets = np.array([self.bucket[value] for value in values], dtype=np.int64)

    def find(
        self, keys: EncodedKeys, hashes: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Positions of the routed keys, and the bucket of each. What it says about NULLs means nothing."""
        positions = np.flatnonzero(self._maybe_routed[hashes & self._mask])
        if isinstance(keys.values, list):
            routed = [self.bucket.get(keys.values[position], _NO_ROUTE) for position in positions.tolist()]
            buckets = np.array(routed, dtype=np.int64)
        else:
            buckets = self._find_integers(keys.values[positions])
        return positions[buckets != _NO_ROUTE], buckets[buckets != _NO_ROUTE]

    def _find_integers(self, values: NDArray[np.int64]) -> NDArray[np.int64]:
        nearest = np.minimum(np.searchsorted(self._integers, values), self._integers.size - 1)
        return np.where(self._integers[nearest] == values, self._buckets[nearest], _NO_ROUTE)


def _check_slots(slots: ArrayLike) -> NDArray[np.int64]:
    """A copy of the slot table as int64, once it is known to be one."""
    try:
        array = np.asarray(slots)
    except ValueError:  # rows of different lengths
        array = np.asarray(slots, dtype=np.object_)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise FunctionError(
            "PartitioningFunction.slots must be one bucket number a slot. Got an array of shape"
            f" {array.shape} and dtype {array.dtype}. Start from PartitioningFunction.initial."
        )
    check_n_slots(array.size)
    return array.astype(np.int64)


def _check_slot_buckets(slots: NDArray[np.int64], n_buckets: int) -> None:
    outside = np.flatnonzero((slots < 0) | (slots >= n_buckets))
    if outside.size:
        raise FunctionError(
            f"PartitioningFunction.slots must lie in [0, {n_buckets}). Got {slots[outside[0]]} at slot {outside[0]};"
            f" slots out of range: {outside.size}. Use with_n_buckets to change the number of buckets."
        )


def _check_bucket(bucket: object, n_buckets: int, *, of: str) -> None:
    if not is_whole(bucket) or not 0 <= bucket < n_buckets:
        raise FunctionError(
            f"A bucket must be a whole number in [0, {n_buckets}). Got {bucket!r} for {of}. Plan for this function's"
            " n_buckets, or use with_n_buckets first."
        )


def _encode_routes(routes: Mapping[Key | None, int], key_type: str) -> dict[Encoded | None, int]:
    """The routes by what Spark hashes, once no key is known to go two ways."""
    if not isinstance(routes, Mapping):
        raise FunctionError(
            f"Routes must be a mapping from key to bucket. Got {type(routes).__name__}. Use dict() on pairs."
        )
    encoded: dict[Encoded | None, int] = {}
    for key, bucket in routes.items():
        value = encode_key(key, key_type)
        if encoded.setdefault(value, bucket) != bucket:
            raise FunctionError(
                f"Routes must send a key to one bucket. Got {encoded[value]} and {bucket} for key {key!r}, which"
                " is there in two forms. Keep one of them."
            )
    return encoded
