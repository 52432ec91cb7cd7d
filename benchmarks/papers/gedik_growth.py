"""
One run of Gedik's: from one channel to N, a channel at a time, each function built from the last (Sec. 5.1).

The load does not change, only N does. What is measured is the last step: balance and migration over all keys, tracked or not.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from benchmarks.papers.gedik_domain import (
    N_SLOTS,
    Domain,
    Floats,
    Ints,
    Setting,
    consistent_hash,
    make_domain,
    size_of,
    uniform_hash,
)
from partitioning.budgets import Budgets
from partitioning.measures import count_routes, overload
from partitioning.planners import PLANNERS
from partitioning.planners.gedik_state import GedikOptions
from partitioning.planners.readj import ReadjOptions
from partitioning.planning import make_plan
from partitioning.request import NO_SLOT, PlanRequest
from partitioning.tracking.delta import refined_threshold
from partitioning.utilities import max_over_min, relative_imbalance

OPTIONS: dict[str, type[GedikOptions]] = {
    "scan": GedikOptions,
    "redist": GedikOptions,
    "readj": ReadjOptions,
}
HASHES: dict[str, Callable[[int], Ints]] = {
    "consistent hash": consistent_hash,
    "uniform hash": uniform_hash,
}
# As printed, rho looks at the tracked keys alone. With this, at the load that the hash places too.
SEES_ALL = " + hash load"
METHODS = ("evenkeel", "readj", f"readj{SEES_ALL}", "redist", "scan", "consistent hash", "uniform hash")
# Readj's rounds grow with the cube of the keys: above so many, a key is readjusted five times at most (c of Sec. 4.2.4).
MAX_FREE, MAX_MOVES = 100, 5
OUR_SLOTS = 4_096  # that our planner may move


@dataclass(frozen=True, kw_only=True)
class Grown:
    """The last step of one run."""

    balance: float  # b, Eq. 11: 1 is exactly what is tolerated
    balances: tuple[float, ...]  # b_k of state, computation and traffic
    theta: float  # of traffic: how far the hottest channel is above the mean
    migration: float  # m, Eq. 12: 1 is a new channel's fair share of all state
    n_tracked: int
    n_routes: int  # tracked keys that are not where the hash would put them
    seconds: float


@dataclass(eq=False)
class _Table:
    """Where everything is: the top keys one by one, the tail by its slots."""

    domain: Domain
    owner: Ints
    bucket_of_slot: Ints
    n_tracked: int = 0
    n_routes: int = 0
    seconds: float = 0.0


@dataclass(frozen=True, kw_only=True, eq=False)
class _Step:
    """From one number of channels to the next."""

    setting: Setting  # with ``n_channels`` after the step
    table: _Table

    @property
    def n_channels(self) -> int:
        return self.setting.n_channels

    def count_tracked(self) -> int:
        """Keys at or above δ, corrected by what was counted (Sec. 4.1.3). They come first."""
        frequency = self.table.domain.frequency
        delta = refined_threshold(
            frequency,
            n_buckets=self.n_channels,
            n_keys=self.setting.n_keys,
            resources=self.setting.resource_names,
            alpha=self.setting.alpha,
            sigma=self.setting.sigma,
        )
        return int(np.count_nonzero(frequency >= delta))


def grow(setting: Setting, method: str, seed: int) -> Grown:
    """The figures of the last step of one run with keys hashed by ``seed``."""
    before, after = _run_to(setting, method, seed)
    return _measure(setting, before, after)


class _Runs:
    """Runs so far, each as the tables of 1, 2, 3 ... channels: a run to 32 channels begins with the run to 10."""

    def __init__(self) -> None:
        self._tables: dict[tuple[Setting, str, int], tuple[Callable[[_Step], _Table], list[_Table]]] = {}

    def tables(self, setting: Setting, method: str, seed: int) -> list[_Table]:
        """Of at least ``setting.n_channels`` channels."""
        key = (replace(setting, n_channels=0), method, seed)
        if key not in self._tables:
            self._tables[key] = (_step_of(method), [_one_channel(setting, seed)])
        take_step, tables = self._tables[key]
        while len(tables) < setting.n_channels:
            step = _Step(setting=replace(setting, n_channels=len(tables) + 1), table=tables[-1])
            tables.append(take_step(step))
        return tables


_RUNS = _Runs()


def _run_to(setting: Setting, method: str, seed: int) -> tuple[_Table, _Table]:
    """The last two tables. All of LCL and LLL is linear that counts: their plans are the same, only b differs. We have no utility."""
    planned = replace(setting, resources=setting.resources.replace("LLL", "LCL"))
    if method == "evenkeel":
        planned = replace(planned, utility=Setting().utility)
    before, after = _RUNS.tables(planned, method, seed)[setting.n_channels - 2 : setting.n_channels]
    return before, after


def _one_channel(setting: Setting, seed: int) -> _Table:
    domain = make_domain(setting.n_keys, setting.zipf, seed)
    return _Table(domain, np.zeros_like(domain.slot), np.zeros(N_SLOTS, dtype=np.int64))


def _step_of(method: str) -> Callable[[_Step], _Table]:
    if method == "evenkeel":
        return _OurGrowth().step
    if method in HASHES:
        return lambda step: _hash_step(step, HASHES[method])
    name, sees_all = method.removesuffix(SEES_ALL), method.endswith(SEES_ALL)
    return lambda step: _published_step(step, name, sees_all=sees_all)


def _hash_step(step: _Step, hashed: Callable[[int], Ints]) -> _Table:
    domain, bucket_of_slot = step.table.domain, hashed(step.n_channels)
    return _Table(domain, bucket_of_slot[domain.slot], bucket_of_slot)


def _published_step(step: _Step, name: str, *, sees_all: bool) -> _Table:
    """Tracked keys go where the planner says, all others where the consistent hash says."""
    domain, n_channels = step.table.domain, step.n_channels
    ring, old_ring = consistent_hash(n_channels), consistent_hash(n_channels - 1)
    owner = ring[domain.slot]
    began = time.process_time()
    n_tracked = step.count_tracked()
    tracked = slice(0, n_tracked)
    state, _, _ = step.setting.resource_names
    request = PlanRequest.of_keys(
        cost=domain.frequency[tracked],
        state=size_of(state, domain.frequency[tracked]),
        owner=step.table.owner[tracked],
        home=owner[tracked],
        n_buckets=n_channels,
        n_buckets_before=n_channels - 1,
        home_before=old_ring[domain.slot[tracked]],
    )
    background = _untracked_load(step, owner, n_tracked) if sees_all else None
    owner[tracked] = PLANNERS[name](request, _options(name, step.setting, n_tracked, background)).owner
    seconds = time.process_time() - began
    return _Table(domain, owner, ring, n_tracked, count_routes(request, owner[tracked]), seconds)


def _options(
    name: str, setting: Setting, n_tracked: int, background: list[list[float]] | None
) -> GedikOptions:
    options = OPTIONS[name](
        utility=setting.utility,
        resources=setting.resource_names,
        alpha=setting.alpha,
        background_load=background,
    )
    if isinstance(options, ReadjOptions) and n_tracked > MAX_FREE:
        return replace(options, max_moves_per_item=MAX_MOVES)
    return options


def _untracked_load(step: _Step, owner: Ints, n_tracked: int) -> list[list[float]]:
    """What the hash places, one row a resource. Constant ones do not count, so that zeros do."""
    domain, ring = step.table.domain, consistent_hash(step.n_channels)
    rows = []
    for resource in step.setting.resource_names:
        load = np.bincount(ring, weights=domain.tail[resource], minlength=step.n_channels)
        rest = size_of(resource, domain.frequency[n_tracked:])
        load += np.bincount(owner[n_tracked:], weights=rest, minlength=step.n_channels)
        rows.append(load.tolist())
    return rows


@dataclass(eq=False)
class _OurGrowth:
    """Our planner's run: slots may move too, and the tail follows its slots."""

    slots: Ints = field(default_factory=lambda: np.zeros(OUR_SLOTS, dtype=np.int64))

    def step(self, step: _Step) -> _Table:
        domain, n_channels, setting = step.table.domain, step.n_channels, step.setting
        state, _, _ = setting.resource_names
        coarse = domain.slot // (N_SLOTS // OUR_SLOTS)
        began = time.process_time()
        n_tracked = step.count_tracked()
        home, home_before = (consistent_hash(n, OUR_SLOTS) for n in (n_channels, n_channels - 1))
        tracked = coarse[:n_tracked]
        request = PlanRequest.of_items(
            cost=_items(domain, coarse, n_tracked, "linear"),
            state=_items(domain, coarse, n_tracked, state),
            owner=np.concatenate([self.slots, step.table.owner[:n_tracked]]),
            home=np.concatenate([home, home[tracked]]),
            n_buckets=n_channels,
            n_buckets_before=n_channels - 1,
            home_before=np.concatenate([home_before, home_before[tracked]]),
            is_slot=np.arange(OUR_SLOTS + n_tracked) < OUR_SLOTS,
            slot=np.concatenate([np.full(OUR_SLOTS, NO_SLOT), tracked]),
            budgets=Budgets(max_imbalance=_our_goal(setting)),
        )
        plan = make_plan(request)
        seconds = time.process_time() - began
        self.slots = plan.owner[:OUR_SLOTS].copy()
        owner = self.slots[coarse]
        owner[:n_tracked] = plan.owner[OUR_SLOTS:]
        bucket_of_slot = np.repeat(self.slots, N_SLOTS // OUR_SLOTS)
        return _Table(domain, owner, bucket_of_slot, n_tracked, plan.n_routes, seconds)


def _items(domain: Domain, coarse: Ints, n_tracked: int, resource: str) -> Floats:
    """Our slots, then the tracked keys: the load of a resource, of all keys that are not tracked in the slots."""
    of_keys = size_of(resource, domain.frequency)
    slots = domain.tail[resource].reshape(OUR_SLOTS, -1).sum(axis=1)
    slots += np.bincount(coarse[n_tracked:], weights=of_keys[n_tracked:], minlength=OUR_SLOTS)
    return np.concatenate([slots, of_keys[:n_tracked]])


def _our_goal(setting: Setting) -> float:
    """The θ at which max/min is at most alpha wherever the rest of the load is: the coolest may have lost (N - 1) · θ."""
    return (setting.alpha - 1) / (1 + setting.alpha * (setting.n_channels - 1))


def _measure(setting: Setting, before: _Table, after: _Table) -> Grown:
    domain, n_channels = after.domain, setting.n_channels
    state, _, _ = setting.resource_names
    moved = float(size_of(state, domain.frequency)[after.owner != before.owner].sum())
    moved += float(domain.tail[state][after.bucket_of_slot != before.bucket_of_slot].sum())
    loads = [
        domain.loads(name, after.owner, after.bucket_of_slot, n_channels) for name in setting.resource_names
    ]
    return Grown(
        balance=relative_imbalance(loads, [setting.alpha] * len(loads)),
        balances=tuple(float(max_over_min(load)) / setting.alpha for load in loads),
        theta=overload(loads[-1]),
        migration=moved / (domain.total(state) / n_channels),
        n_tracked=after.n_tracked,
        n_routes=after.n_routes,
        seconds=after.seconds,
    )
