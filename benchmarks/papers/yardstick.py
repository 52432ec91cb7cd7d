"""Times as ratios: processor time over that of one sort in the same process, so that they mean the same on every machine."""

import time
from functools import cache

import numpy as np

N_SORTED = 1_000_000
NAME = "argsorts of 10^6 floats"


@cache
def sort_seconds() -> float:
    """The best of five stable argsorts of 10^6 random floats, taken once a process."""
    numbers = np.random.default_rng(0).random(N_SORTED)
    times = []
    for _ in range(5):
        began = time.process_time()
        np.argsort(numbers, kind="stable")
        times.append(time.process_time() - began)
    return min(times)


def in_sorts(seconds: float) -> float:
    return seconds / sort_seconds()
