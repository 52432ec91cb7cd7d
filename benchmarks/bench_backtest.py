"""
How long a backtest takes: ``python -m benchmarks.bench_backtest [--quick]``. It shows its progress while it works.

30 windows of 10^5 items (65,536 slots and 34,464 heavy keys that drift), 256 buckets, and what ``make backtest`` replays for so many items: six
planners on the last window and on the chosen forecast, the dataset's own on every forecast, and the clairvoyant, on all
processors. With --quick a tenth of the items and ten windows.
"""

import argparse
import resource
import time
from dataclasses import dataclass

import numpy as np

from benchmarks.goals import Goal, print_goals
from partitioning import Budgets
from partitioning.backtest import Replays, run_backtest
from partitioning.item_forecast import LAST
from partitioning.item_windows import ItemWindows
from partitioning.replay import Contender, Setting
from partitioning.ring import ring_slots
from spark_jobs.backtest_plans import QUICK, usual_contenders
from spark_jobs.replay_pool import replaying

MOST_SECONDS = 60.0


@dataclass(frozen=True, kw_only=True)
class Size:
    """How much is replayed."""

    n_windows: int
    n_slots: int
    n_keys: int
    n_buckets: int

    def __str__(self) -> str:
        return f"{self.n_windows} windows, {self.n_slots + self.n_keys:,} items, {self.n_buckets} buckets"


FULL = Size(n_windows=30, n_slots=65_536, n_keys=34_464, n_buckets=256)
SMALL = Size(n_windows=10, n_slots=8_192, n_keys=1_808, n_buckets=64)


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="a tenth of the items, a third of the windows")
    print_goals(run(quick=parser.parse_args(argv).quick))


def run(*, quick: bool) -> list[Goal]:
    size = SMALL if quick else FULL
    replays = Replays(setting=setting_of(drifting_windows(size, np.random.default_rng(0)), size))
    champion = Contender(planner=QUICK[0], forecast=LAST)
    contenders = usual_contenders(QUICK, champion, period=None)
    said: list[str] = []
    began, worked = time.perf_counter(), processor_time()

    def say(sentence: str) -> None:
        said.append(sentence)
        print(f"  {time.perf_counter() - began:6.1f} s  {sentence}", flush=True)

    print(f"backtest: {size}", flush=True)
    with replaying(replays) as each:
        result = run_backtest(replays, contenders, champion=champion, each=each, say=say)
    seconds, processor = time.perf_counter() - began, processor_time() - worked
    what = f"backtest of {size}, {len(QUICK)} planners, {len(contenders)} contenders"
    hash_theta = float(np.mean(result.hash_imbalance))
    return [
        Goal.at_most(what, MOST_SECONDS, seconds, unit=" s", note=f" ({processor:.0f} s of processor time)"),
        Goal(
            what=f"{what}: sentences of progress",
            goal=f"{len(contenders) + 1}",
            result=f"{len(said)}",
            met=len(said) == len(contenders) + 1,
        ),
        Goal.at_most(
            f"{what}: mean θ, champion over plain hash",
            1.0,
            result.champion.mean_imbalance / hash_theta,
        ),
    ]


def processor_time() -> float:
    """Of this process and of those it waited for, in seconds."""
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(one.ru_utime + one.ru_stime for one in used)


def drifting_windows(size: Size, rng: np.random.Generator) -> ItemWindows:
    """Heavy keys with Zipf 0.9 whose costs walk at random, a few of them hot for a while; slots that waver around a level."""
    shape = (size.n_windows, size.n_keys)
    level = (
        2_000.0 / (1.0 + np.arange(size.n_keys)) ** 0.9 * np.exp(np.cumsum(rng.normal(0, 0.1, shape), axis=0))
    )
    is_tracked = rng.random(shape) < 0.95
    key_cost = np.where(is_tracked, np.floor(level) + 1.0, np.nan)
    slot_cost = rng.poisson(20.0, (size.n_windows, size.n_slots)).astype(np.float64)
    return ItemWindows(
        slot_cost=slot_cost,
        slot_state=10.0 * slot_cost,
        key_cost=key_cost,
        key_state=5.0 * key_cost,
        key_slot=rng.integers(0, size.n_slots, size.n_keys),
    )


def setting_of(windows: ItemWindows, size: Size) -> Setting:
    """The budgets that a dataset has unless its file says otherwise."""
    budgets = Budgets(max_imbalance=0.08, target_imbalance=0.06, max_routes=1_000, max_migration=0.1)
    home = np.asarray(ring_slots(size.n_slots, size.n_buckets), dtype=np.int64)
    return Setting(windows=windows, home=home, n_buckets=size.n_buckets, budgets=budgets)


if __name__ == "__main__":
    main()
