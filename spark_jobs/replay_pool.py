"""Several replays at once, each processor one: replays share nothing but what they are given."""

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context

from partitioning.backtest import Each, Replays
from partitioning.replay import Contender, Score

MAX_PROCESSES = 4  # each holds all windows
WORTH_IT = 200_000  # items times windows; with fewer, starting a process takes longer than a replay

_OURS: list[Replays] = []  # of a process of the pool: forecasts that one planner had made serve the next


@contextmanager
def replaying(replays: Replays) -> Iterator[Each]:
    """How to replay many contenders: one after the other, or, where there is much to do, on all processors."""
    windows = replays.setting.windows
    n_processes = min(len(os.sched_getaffinity(0)), MAX_PROCESSES)
    if n_processes == 1 or windows.n_windows * (windows.n_slots + windows.key_slot.size) < WORTH_IT:
        yield map
        return
    # Not forked: threads of the libraries that have read the tables would be missing in the copy.
    with ProcessPoolExecutor(
        n_processes, mp_context=get_context("spawn"), initializer=_begin, initargs=(replays,)
    ) as pool:

        def each(_: Callable[[Contender], Score], contenders: Sequence[Contender]) -> Iterator[Score]:
            return pool.map(_score, contenders)

        yield each


def _begin(replays: Replays) -> None:
    _OURS.append(replays)


def _score(contender: Contender) -> Score:
    return _OURS[0].score(contender)
