"""
Twenty windows of drift on a table of slots and routes: heavy keys are items of their own, all else is slots.

The papers' planners see every key. Ours sees S slots and the keys worth tracking, whatever the number of keys.
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from benchmarks.workloads import Workload, next_window, zipf_rows
from partitioning.budgets import Budgets
from partitioning.measures import load_per_bucket
from partitioning.request import NO_SLOT, PlanRequest

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

NO_ROUTE = -1
HEAVY = 0.05  # of θ_max · mean: a key of less cost is left to its slot


@dataclass
class Table:
    """Keys, their costs of the last windows, and the function that places them."""

    workload: Workload
    n_slots: int
    slot_of_key: Integers
    windows: list[Floats]  # cost of every key, the newest last
    slots: Integers  # bucket of each slot
    route: Integers  # bucket of each routed key, NO_ROUTE for all others
    rng: np.random.Generator = field(repr=False)

    @classmethod
    def of(cls, workload: Workload, *, n_slots: int) -> "Table":
        rng = np.random.default_rng(workload.seed)
        cost = rng.permutation(zipf_rows(workload))
        slots = rng.permutation(np.arange(n_slots) % workload.n_buckets)
        return cls(
            workload=workload,
            n_slots=n_slots,
            slot_of_key=rng.integers(0, n_slots, workload.n_keys),
            windows=[cost],
            slots=slots,
            route=np.full(workload.n_keys, NO_ROUTE),
            rng=rng,
        )

    @property
    def cost(self) -> Floats:
        return self.windows[-1]

    @property
    def state(self) -> Floats:
        return np.asarray(np.sum(self.windows[-self.workload.n_windows :], axis=0))

    @property
    def home(self) -> Integers:
        return self.slots[self.slot_of_key]

    @property
    def owner(self) -> Integers:
        return np.where(self.route == NO_ROUTE, self.home, self.route)

    def drift(self) -> None:
        self.windows.append(next_window(self.cost, self.owner, self.workload, self.rng))
        self.windows = self.windows[-self.workload.n_windows :]

    def key_request(self, budgets: Budgets) -> PlanRequest:
        return PlanRequest.of_keys(
            cost=self.cost,
            state=self.state,
            owner=self.owner,
            home=self.home,
            n_buckets=self.workload.n_buckets,
            budgets=budgets,
        )

    def item_request(self, budgets: Budgets, heavy: Integers) -> PlanRequest:
        """Slots first, then the heavy keys."""
        is_heavy = np.zeros(self.workload.n_keys, dtype=np.bool_)
        is_heavy[heavy] = True
        light = np.flatnonzero(~is_heavy)

        def total(amount: Floats) -> Floats:
            return load_per_bucket(amount[light], self.slot_of_key[light], self.n_slots)

        state = self.state
        owner = np.concatenate([self.slots, self.owner[heavy]])
        return PlanRequest.of_items(
            cost=np.concatenate([total(self.cost), self.cost[heavy]]),
            state=np.concatenate([total(state), state[heavy]]),
            owner=owner,
            home=np.concatenate([self.slots, self.home[heavy]]),
            n_buckets=self.workload.n_buckets,
            budgets=budgets,
            is_slot=np.arange(owner.size) < self.n_slots,
            slot=np.concatenate([np.full(self.n_slots, NO_SLOT), self.slot_of_key[heavy]]),
        )

    def adopt(self, owner: Integers, heavy: Integers) -> None:
        """Makes a plan's owners the function: slots where they went, routes for the heavy keys that need one."""
        self.slots = owner[: self.n_slots].copy()
        self.route = np.full(self.workload.n_keys, NO_ROUTE)
        home = self.home[heavy]
        placed = owner[self.n_slots :]
        self.route[heavy[placed != home]] = placed[placed != home]

    def adopt_keys(self, owner: Integers) -> None:
        """The same for a plan that placed every key: slots stay, and every key away from its slot is a route."""
        self.route = np.where(owner == self.home, NO_ROUTE, owner)

    def heavy_keys(self, budgets: Budgets) -> Integers:
        """The keys worth tracking: those that matter against what a bucket may be too hot by, and all routed ones."""
        cut = HEAVY * budgets.max_imbalance * float(self.cost.sum()) / self.workload.n_buckets
        return np.flatnonzero((self.cost >= cut) | (self.route != NO_ROUTE))

    def heaviest_keys(self, n_keys: int) -> Integers:
        """The ``n_keys`` costliest, ascending."""
        return np.sort(np.argsort(-self.cost, kind="stable")[:n_keys])
