"""
Frequency-aware hash partitioning (Balkesen et al., Sec. 4.1): the most frequent keys are cut into parts that are hashed like keys.

Only for work whose partial results can be merged: a key's rows end up in several buckets.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from partitioning.errors import PaneError
from partitioning.hashing import hash_keys, is_whole
from partitioning.ring import ring_slots

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

N_SLOTS = 65_536
MAX_PARTS = 2.0**53  # beside next to nothing a key would have more parts than an int64 can count
_STEP = np.int64(
    -7046029254386353131
)  # 2^64 over the golden ratio, odd: parts of one key are far from each other


def count_parts(frequency: ArrayLike, n_top: int, *, others: float = 0.0) -> Integers:
    """
    Into how many parts each key is cut: the ``n_top`` most frequent in proportion to their frequency, all others into one.

    The paper leaves the constant open. Ours makes parts no more frequent than what stays whole: f_i / f_(top+1), rounded up. ``others`` is the
    frequency of the heaviest thing beside these keys, such as a slot, if that is more. If nothing stays whole, the least frequent key
    does. Ties go to the key that comes first.

    Worked: frequencies 50, 20, 10, 10 with ``n_top`` 2 are cut into 5, 2, 1, 1 parts of 10 each.
    """
    counts = _as_frequencies(frequency)
    if not is_whole(n_top) or n_top < 0:
        raise PaneError(f"n_top must be a whole number, 0 or more. Got {n_top!r}. Give how many keys to cut.")
    if not 0 <= others < np.inf:
        raise PaneError(
            f"others must be a finite number, 0 or more. Got {others!r}. Give a frequency, or leave it out."
        )
    parts = np.ones(counts.size, dtype=np.int64)
    order = np.argsort(-counts, kind="stable")
    order = order[counts[order] > 0]
    top = order[:n_top]
    whole = max(float(counts[order[n_top:]].max(initial=0.0)), others) or float(counts[order[-1:]].sum())
    if top.size:
        with np.errstate(over="ignore"):
            shares = np.minimum(counts[top] / whole * (1 - 1e-12), MAX_PARTS)
        parts[top] = np.ceil(shares).astype(np.int64)
    return parts


def _as_frequencies(frequency: ArrayLike) -> Floats:
    try:
        counts = np.asarray(frequency, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        counts = np.array(np.nan)
    if counts.ndim != 1 or not np.isfinite(counts).all() or (counts < 0).any():
        raise PaneError(
            "frequency must hold one finite number a key, 0 or more. Got others. Count rows per key."
        )
    return counts


def slots_of_parts(key_hash: ArrayLike, part: ArrayLike, n_slots: int) -> Integers:
    """The slot of each part, by a hash of its own; part 0 of a key is in the key's slot, so cutting a key moves only what leaves its home."""
    base, number = np.asarray(key_hash, dtype=np.int64), np.asarray(part, dtype=np.int64)
    with np.errstate(over="ignore"):
        mixed = hash_keys(base + number * _STEP, "bigint")
    return np.asarray(np.where(number == 0, base, mixed) % n_slots)


def place_parts(key_hash: ArrayLike, part: ArrayLike, n_buckets: int) -> Integers:
    """The bucket of each part on the consistent-hash ring. Another number of buckets moves about 1/N of the parts."""
    return np.asarray(ring_slots(N_SLOTS, n_buckets)[slots_of_parts(key_hash, part, N_SLOTS)])


def load_of_parts(frequency: ArrayLike, key_hash: ArrayLike, parts: ArrayLike, n_buckets: int) -> Floats:
    """The load of each bucket if every part of a key gets an equal share of its rows: they take turns."""
    counts, n_parts = np.asarray(frequency, dtype=np.float64), np.asarray(parts, dtype=np.int64)
    if (n_parts < 1).any():
        raise PaneError(
            f"parts must be one or more a key. Got {n_parts.min()} at position {n_parts.argmin()}. Use count_parts on the same keys."
        )
    key = np.repeat(np.arange(counts.size), n_parts)
    part = np.arange(key.size) - np.repeat(np.cumsum(n_parts) - n_parts, n_parts)
    bucket = place_parts(np.asarray(key_hash, dtype=np.int64)[key], part, n_buckets)
    load = np.bincount(bucket, weights=(counts / n_parts)[key], minlength=n_buckets)
    return load.astype(np.float64)


def spread(load: ArrayLike) -> float:
    """The paper's load-balancing ratio: standard deviation over mean (0 is even); 0 without any load."""
    loads = np.asarray(load, dtype=np.float64)
    return float(loads.std() / loads.mean()) if loads.size and loads.mean() > 0 else 0.0
