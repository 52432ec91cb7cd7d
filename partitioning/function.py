"""
The partitioning function: which bucket a key lives in, or a row of a split key.

``bucket(key) = routes.get(key)  or  slots[pmod(xxhash64(key), S)]``

A key of ``splits`` has several buckets instead, and the row's grain decides: see ``partitioning.splits``.
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
    canonical_json,
    format_of,
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
from partitioning.splits import N_GRAINS, Part, Parts, SplitTable, bucket_of_grain, parts_of

_NO_ROUTE = -1
_MAX_BIT_MAP = 24  # as a power of two: 16 MB


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class PartitioningFunction:
    """
    Routes first, otherwise the bucket of the key's slot. Immutable, arrays included; equal if the digests are.

    A route that says what its slot says is dropped, and keys are brought to one form (timestamps to UTC, decimals to the
    column's scale), so a function has one representation only. Routes are ordered by what Spark hashes of the key: NULL
    first, then ascending numbers or, for string, binary and decimals above 18 digits, ascending bytes. So are splits; one that has
    a single bucket is a route. ``row_id`` belongs to the splits: without any it is empty.
    """

    key_type: str  # as Spark names it: see ``partitioning.key_types``
    n_buckets: int
    slots: NDArray[np.int64]  # bucket of each slot
    routes: Mapping[Key | None, int] = field(default_factory=dict)  # key → bucket; None is the NULL key
    points_per_bucket: int = DEFAULT_POINTS_PER_BUCKET  # of the ring that slots follow when n_buckets changes
    splits: Mapping[Key | None, Parts] = field(
        default_factory=dict
    )  # key → its parts, in the order of grains
    row_id: tuple[str, ...] = ()  # the columns whose hash is a row's grain, in the order of their names

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
        splits, whole = self._kept_splits()
        object.__setattr__(self, "routes", self._kept_routes(whole))
        object.__setattr__(self, "splits", splits)
        object.__setattr__(self, "row_id", _check_row_id(self.row_id) if splits else ())

    def _kept_splits(self) -> tuple[Mapping[Key | None, Parts], dict[Encoded | None, int]]:
        """The splits in canonical form and order, and the bucket of those that have only one."""
        encoded = _encode_routes(self.splits, self.key_type)
        both = encoded.keys() & _encode_routes(self.routes, self.key_type).keys()
        if both:
            raise FunctionError(
                f"A key must be routed or split, not both. Got both for key {decode_key(next(iter(both)), self.key_type)!r}."
                " Leave its route out."
            )
        kept: dict[Key | None, Parts] = {}
        whole: dict[Encoded | None, int] = {}
        for value in _in_order(encoded):
            key = decode_key(value, self.key_type)
            parts = parts_of(encoded[value], self.n_buckets, key=key)
            if len({part.bucket for part in parts}) == 1:
                whole[value] = parts[0].bucket
            else:
                kept[key] = parts
        return MappingProxyType(kept), whole

    def _kept_routes(self, whole: dict[Encoded | None, int]) -> Mapping[Key | None, int]:
        """The routes that say something, those of ``whole`` among them, in canonical form and order."""
        kept: dict[Key | None, int] = {}
        encoded = _encode_routes(self.routes, self.key_type) | whole
        for value in _in_order(encoded):
            key, bucket = decode_key(value, self.key_type), encoded[value]
            _check_bucket(bucket, self.n_buckets, of=f"key {key!r}")
            if bucket != self._home_of(value):
                kept[key] = int(bucket)
        return MappingProxyType(kept)

    # Looking keys up

    def bucket_of(self, key: Key | None, grain: int | None = None) -> int:
        """The bucket of one key. Of a split key it is that of a row, which must have its ``grain``."""
        value = encode_key(key, self.key_type)
        split = self._split_lookup.number.get(value)
        if split is not None:
            if grain is None:
                raise _no_grain(key)
            return bucket_of_grain(self._split_list[split], grain)
        bucket = self._lookup.number.get(value)
        return self._home_of(value) if bucket is None else bucket

    def buckets_of(self, keys: Iterable[Any], grains: NDArray[np.int64] | None = None) -> NDArray[np.int64]:
        """
        The bucket of each key; ``partitioning.hashing.hash_keys`` says which arrays are welcome.

        Where split keys are among them, each stands for a row, and ``grains`` must hold the grain of each.
        """
        encoded = encode_keys(keys, self.key_type)
        hashes = encoded.hashes()
        buckets: NDArray[np.int64] = self.slots[hashes & (self.n_slots - 1)]
        if self.routes:
            positions, routed = self._lookup.find(encoded, hashes)
            buckets[positions] = routed
        if encoded.is_null is not None and None not in self.splits:
            buckets[encoded.is_null] = self.bucket_of(None)
        if self.splits:
            positions, split = self._split_lookup.find(encoded, hashes)
            buckets[positions] = self._buckets_in(split, positions, grains)
        return buckets

    def _buckets_in(
        self, split: NDArray[np.int64], positions: NDArray[np.int64], grains: NDArray[np.int64] | None
    ) -> NDArray[np.int64]:
        if grains is None and split.size:
            raise _no_grain(list(self.splits)[split[0]])
        chosen = (
            np.empty(0, dtype=np.int64) if grains is None else np.asarray(grains, dtype=np.int64)[positions]
        )
        return SplitTable(self.splits).buckets(split, chosen)

    def parts_of(self, key: Key | None) -> Parts:
        """Where a key's rows are: its parts, or one part of all grains if it is whole."""
        value = encode_key(key, self.key_type)
        split = self._split_lookup.number.get(value)
        return (Part(self.bucket_of(key), N_GRAINS),) if split is None else self._split_list[split]

    def _home_of(self, value: Encoded | None) -> int:
        return int(self.slots[hash_encoded(value, self.key_type) % self.n_slots])

    @cached_property
    def _lookup(self) -> "_KeyLookup":
        return _KeyLookup(self.routes, self.key_type)

    @cached_property
    def _split_lookup(self) -> "_KeyLookup":
        return _KeyLookup({key: number for number, key in enumerate(self.splits)}, self.key_type)

    @cached_property
    def _split_list(self) -> list[Parts]:
        return list(self.splits.values())

    # What other faces of the function are built from

    @property
    def n_slots(self) -> int:
        return self.slots.size

    @cached_property
    def n_routes(self) -> int:
        """Routes, and parts of split keys; as a route does, a part that is where the key's slot is costs nothing."""
        homes = [(self._home_of(encode_key(key, self.key_type)), parts) for key, parts in self.splits.items()]
        return len(self.routes) + sum(part.bucket != home for home, parts in homes for part in parts)

    @property
    def exceptions(self) -> list[Key | None]:
        """The keys that do not simply follow their slot: those with a route, then those that are split."""
        return [*self.routes, *self.splits]

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
        is gone: then it goes home. Routes to buckets that are gone are dropped. Parts of split keys do what slots do, and their
        home is their slot's bucket. Growing and shrinking back gives this very function again.
        """
        check_n_buckets(n_buckets, n_slots=self.n_slots)
        before = ring_slots(self.n_slots, self.n_buckets, self.points_per_bucket)
        after = ring_slots(self.n_slots, n_buckets, self.points_per_bucket)
        follows = (self.slots == before) | (self.slots >= n_buckets)
        slots = np.where(follows, after, self.slots)

        def follow(key: Key | None, part: Part) -> Part:
            slot = hash_encoded(encode_key(key, self.key_type), self.key_type) % self.n_slots
            follows = part.bucket == self.slots[slot] or part.bucket >= n_buckets
            return Part(int(slots[slot]), part.weight) if follows else part

        return type(self)(
            key_type=self.key_type,
            n_buckets=n_buckets,
            slots=slots,
            routes={key: bucket for key, bucket in self.routes.items() if bucket < n_buckets},
            points_per_bucket=self.points_per_bucket,
            splits={key: tuple(follow(key, part) for part in parts) for key, parts in self.splits.items()},
            row_id=self.row_id,
        )

    def with_changes(
        self,
        *,
        slots: Mapping[int, int] | None = None,
        routes: Mapping[Key | None, int] | None = None,
        splits: Mapping[Key | None, Parts] | None = None,
        row_id: tuple[str, ...] | None = None,
    ) -> Self:
        """
        The function after a plan: these slots, these keys and these parts get these buckets.

        A key that is given ends in its bucket wherever its slot goes; giving it its slot's bucket removes its route. A split key
        that is given a bucket is whole again, and a routed key that is given parts is split. Every other routed or split key
        keeps what it has, and every other key follows its slot. ``row_id`` may change only while nothing is split.
        """
        if self.splits and row_id is not None and tuple(row_id) != self.row_id:
            raise FunctionError(
                f"row_id must stay {list(self.row_id)} while keys are split by it. Got {list(row_id)}. Join the"
                f" {len(self.splits)} split keys first: their rows would be elsewhere."
            )
        new_slots = self.slots.copy()
        for slot, bucket in (slots or {}).items():
            if not is_whole(slot) or not 0 <= slot < self.n_slots:
                raise FunctionError(
                    f"slots must be numbered in [0, {self.n_slots}). Got {slot!r}. Plan on this function's slots."
                )
            _check_bucket(bucket, self.n_buckets, of=f"slot {slot}")
            new_slots[slot] = bucket
        new_routes, new_splits = (_encode_routes(given or {}, self.key_type) for given in (routes, splits))
        old_routes, old_splits = (_encode_routes(held, self.key_type) for held in (self.routes, self.splits))
        return type(self)(
            key_type=self.key_type,
            n_buckets=self.n_buckets,
            slots=new_slots,
            routes=_decoded(_without(old_routes, new_splits) | new_routes, self.key_type),
            points_per_bucket=self.points_per_bucket,
            splits=_decoded(_without(old_splits, new_routes) | new_splits, self.key_type),
            row_id=self.row_id if row_id is None else tuple(row_id),
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
        keyed: dict[str, Any] = {
            name: {key_of_text(key, key_type): value for key, value in read_pairs(content[name], name)}
            for name in ("routes", "splits")
            if name in content
        }
        function = cls(**{**content, **keyed})
        if function.digest != digest:
            raise FunctionError(
                f"The function's digest must match its content. Got {digest!r} in the text, {function.digest!r} from"
                " the content. The text was changed or damaged: take it again from where it was written."
            )
        return function

    def _content(self) -> dict[str, Any]:
        """Without splits there is no word of them: such a function has the text, and the name, that it always had."""
        of_splits = {
            "row_id": list(self.row_id),
            "splits": [
                [text_of_key(key), [list(part) for part in parts]] for key, parts in self.splits.items()
            ],
        }
        return {
            "format": format_of(has_splits=bool(self.splits)),
            "key_type": self.key_type,
            "n_buckets": self.n_buckets,
            "points_per_bucket": self.points_per_bucket,
            "slots": self.slot_list,
            "routes": [[text_of_key(key), bucket] for key, bucket in self.routes.items()],
            **(of_splits if self.splits else {}),
        }

    def __eq__(self, other: object) -> bool:
        return self.digest == other.digest if isinstance(other, PartitioningFunction) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.digest)

    def __repr__(self) -> str:
        return (
            f"PartitioningFunction(key_type={self.key_type!r}, n_buckets={self.n_buckets}, n_slots={self.n_slots},"
            f" n_routes={self.n_routes}{f', n_splits={len(self.splits)}' if self.splits else ''}, digest={self.digest[:12]!r})"
        )

    def __reduce__(self) -> tuple[Callable[[str], Self], tuple[str]]:
        return type(self).from_json, (self.to_json(),)  # NumPy's own pickle would give writeable arrays


class _KeyLookup:
    """
    Finds the exceptions among many keys, and the number that each of them has: its bucket, or which split it is.

    A bit map over the lowest bits of the hash rules out all but about 1 in 32 of the other keys. The rest is compared
    with the exceptions themselves, for two keys may share a hash.
    """

    def __init__(self, number_of_key: Mapping[Key | None, int], key_type: str) -> None:
        self.number = {encode_key(key, key_type): number for key, number in number_of_key.items()}
        values = [value for value in self.number if value is not None]  # ascending; NULL is looked up alone
        hashes = np.array([hash_encoded(value, key_type) for value in values], dtype=np.int64)
        self._mask = (1 << min((32 * len(values)).bit_length(), _MAX_BIT_MAP)) - 1
        self._is_maybe = np.zeros(self._mask + 1, dtype=np.bool_)
        self._is_maybe[hashes & self._mask] = True
        self._integers = np.array([value for value in values if isinstance(value, int)], dtype=np.int64)
        self._numbers = np.array([self.number[value] for value in values], dtype=np.int64)

    def find(
        self, keys: EncodedKeys, hashes: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Positions of the exceptions, ascending, and the number of each."""
        positions = np.flatnonzero(self._is_maybe[hashes & self._mask])
        if keys.is_null is not None:
            positions = positions[~keys.is_null[positions]]
        if isinstance(keys.values, list):
            found = [self.number.get(keys.values[position], _NO_ROUTE) for position in positions.tolist()]
            numbers = np.array(found, dtype=np.int64)
        else:
            numbers = self._find_integers(keys.values[positions])
        positions, numbers = positions[numbers != _NO_ROUTE], numbers[numbers != _NO_ROUTE]
        if keys.is_null is None or None not in self.number:
            return positions, numbers
        nulls = np.flatnonzero(keys.is_null)
        order = np.argsort(np.concatenate([positions, nulls]), kind="stable")
        both = np.concatenate([numbers, np.full(nulls.size, self.number[None], dtype=np.int64)])
        return np.concatenate([positions, nulls])[order], both[order]

    def _find_integers(self, values: NDArray[np.int64]) -> NDArray[np.int64]:
        if not self._integers.size:
            return np.full(values.size, _NO_ROUTE, dtype=np.int64)
        nearest = np.minimum(np.searchsorted(self._integers, values), self._integers.size - 1)
        return np.where(self._integers[nearest] == values, self._numbers[nearest], _NO_ROUTE)


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


def _encode_routes(routes: Mapping[Key | None, Any], key_type: str) -> dict[Encoded | None, Any]:
    """Routes or splits by what Spark hashes, once no key is known to go two ways."""
    if not isinstance(routes, Mapping):
        raise FunctionError(
            f"Routes must be a mapping from key to bucket. Got {type(routes).__name__}. Use dict() on pairs."
        )
    encoded: dict[Encoded | None, Any] = {}
    for key, bucket in routes.items():
        value = encode_key(key, key_type)
        if encoded.setdefault(value, bucket) != bucket:
            raise FunctionError(
                f"Routes must send a key to one bucket. Got {encoded[value]} and {bucket} for key {key!r}, which"
                " is there in two forms. Keep one of them."
            )
    return encoded


def _in_order(encoded: Iterable[Encoded | None]) -> list[Any]:
    """NULL first, then ascending."""
    return sorted(encoded, key=lambda value: (value is not None, value))


def _decoded(encoded: dict[Encoded | None, Any], key_type: str) -> dict[Key | None, Any]:
    return {decode_key(value, key_type): given for value, given in encoded.items()}


def _without(held: dict[Encoded | None, Any], others: dict[Encoded | None, Any]) -> dict[Encoded | None, Any]:
    return {value: given for value, given in held.items() if value not in others}


def _check_row_id(row_id: Iterable[str]) -> tuple[str, ...]:
    """The columns in the order of their names."""
    names = tuple(row_id) if not isinstance(row_id, str) else (row_id,)
    if (
        not names
        or len(set(names)) != len(names)
        or not all(isinstance(name, str) and name for name in names)
    ):
        raise FunctionError(
            f"PartitioningFunction.row_id must name the columns that tell rows of a split key apart, each once. Got"
            f" {list(names)!r}. Name one or more: a row's place follows from them."
        )
    return tuple(sorted(names))


def _no_grain(key: Key | None) -> FunctionError:
    return FunctionError(
        f"A row of a split key must come with its grain. Got none for key {key!r}, whose rows live in several buckets. Give the"
        " grain of each row (partitioning.grains), or ask parts_of for all its buckets."
    )
