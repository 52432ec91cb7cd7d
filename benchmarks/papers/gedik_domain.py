"""
Gedik's workload (Sec. 5.1): |D| keys with Zipf frequencies, hashed by a consistent hash.

The most frequent keys are kept one by one. All others are only ever placed by their hash, so that the sums per slot of a fine
ring say as much: every figure is exact, and 10^8 keys take as much memory as 10^4.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache

import numpy as np
from numpy.typing import NDArray

from partitioning.measures import load_per_bucket
from partitioning.ring import ring_slots

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

N_SLOTS = 65_536
REPLICAS = 1_000  # points a channel (Sec. 5.5)
N_TOP = 4_096  # more than any δ of the experiments tracks
CHUNK = 4_000_000

LETTERS = {"C": "constant", "L": "linear", "Q": "quadratic"}


@dataclass(frozen=True, kw_only=True)
class Setting:
    """Table 1; the defaults are the paper's."""

    n_channels: int = 10
    alpha: float = 1.2
    resources: str = "LCL"  # of state, computation and traffic: Constant, Linear or Quadratic
    n_keys: int = 1_000_000
    zipf: float = 1.0
    sigma: float = 0.1
    utility: str = "U_APM"

    @property
    def resource_names(self) -> tuple[str, str, str]:
        state, computation, traffic = (LETTERS[letter] for letter in self.resources)
        return state, computation, traffic


@dataclass(frozen=True, kw_only=True, eq=False)
class Domain:
    """Keys by falling frequency; the tail beyond the first as sums per slot, one row a resource function."""

    frequency: Floats  # of the top keys: shares of the stream
    slot: Ints  # of the top keys
    tail: dict[str, Floats]  # resource function → load of each slot

    def total(self, resource: str) -> float:
        return float(size_of(resource, self.frequency).sum() + self.tail[resource].sum())

    def loads(self, resource: str, owner: Ints, bucket_of_slot: Ints, n_buckets: int) -> Floats:
        """Load per channel with the top keys at ``owner`` and the tail where its slots are."""
        top = load_per_bucket(size_of(resource, self.frequency), owner, n_buckets)
        return top + load_per_bucket(self.tail[resource], bucket_of_slot, n_buckets)


def size_of(resource: str, frequency: Floats) -> Floats:
    """β: the load that a key of this frequency causes."""
    return np.asarray(frequency ** {"constant": 0, "linear": 1, "quadratic": 2}[resource])


@lru_cache(maxsize=64)
def make_domain(n_keys: int, zipf: float, seed: int) -> Domain:
    """A domain whose keys are hashed anew for every seed."""
    total = sum(float(weight.sum()) for weight in _weights(n_keys, zipf))
    rng = np.random.default_rng([seed, n_keys])
    tail = {name: np.zeros(N_SLOTS) for name in LETTERS.values()}
    top: list[tuple[Floats, Ints]] = []
    for weight in _weights(n_keys, zipf):
        share, slot = weight / total, rng.integers(0, N_SLOTS, weight.size)
        n_top = 0 if top else min(N_TOP, share.size)
        top.append((share[:n_top], slot[:n_top]))
        for name in tail:
            tail[name] += np.bincount(slot[n_top:], weights=size_of(name, share[n_top:]), minlength=N_SLOTS)
    return Domain(frequency=top[0][0], slot=top[0][1], tail=tail)


def _weights(n_keys: int, zipf: float) -> Iterator[Floats]:
    for first in range(1, n_keys + 1, CHUNK):
        yield np.arange(first, min(first + CHUNK, n_keys + 1), dtype=np.float64) ** -zipf


@cache
def consistent_hash(n_channels: int, n_slots: int = N_SLOTS) -> Ints:
    """The channel of each slot: a ring of 1,000 points a channel."""
    return ring_slots(n_slots, n_channels, REPLICAS)


@cache
def uniform_hash(n_channels: int) -> Ints:
    """The channel of each slot: the remainder, which forgets everything when N changes."""
    return np.arange(N_SLOTS) % n_channels
