"""
Replays windows that are over: what a planner, with what it believes about the next window, would have come to.

Before each window but the first a plan is made from what was known then, and judged by the window as it turned out. The function goes
on from plan to plan: routes first, slots for the rest, as in a state table.

    θ         of each window, under the function that the plans before it led to
    saved     sum over windows of (θ of the plain hash - θ) · all cost of the window
    spent     sum over plans of migration · (all cost / all state)
    net       (saved - spent) / all cost of the judged windows: one number for evenness and migration together
    gained    sum over plans of (θ of the window without the plan - θ) · all cost of the window
    payback   spent / gained: for how many windows a plan has to gain what it gained in the first, until its moves are paid

Worked: a window of cost 100 has θ 0.5 under the hash, 0.3 with the plans before, and 0.1 after one more that moved a tenth of the
state: saved 40, spent 10, net 0.3; gained 20, payback half a window. The gate's rule (``payback``), on what was realised, is: payback is
at most the horizon.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from partitioning.budgets import Budgets
from partitioning.errors import ForecastError
from partitioning.history import History
from partitioning.item_windows import ItemWindows
from partitioning.measures import load_per_bucket, overload
from partitioning.planning import make_plan
from partitioning.request import NO_SLOT, PlanRequest

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]
Belief = Callable[[int], Floats]  # the window just over → the cost of each of its items in the next one

NO_ROUTE = -1


@dataclass(frozen=True, kw_only=True)
class Contender:
    """Somebody to judge: a planner, and what it plans on."""

    planner: str
    forecast: str
    is_choosable: bool = field(default=True, compare=False)  # whether a dataset could change to it

    def __str__(self) -> str:
        return f"{self.planner} on {self.forecast}"


@dataclass(frozen=True, kw_only=True)
class Score:
    """What a contender came to, one entry a judged window."""

    contender: Contender
    imbalance: tuple[float, ...]
    migration: tuple[float, ...]  # share of all state that moved before the window
    n_routes: tuple[int, ...]
    n_thrash: int  # moves back to a bucket that the item had left in the last few windows
    net: float
    payback: float | None  # windows; 0 if nothing had to be paid, None if that is never paid

    @property
    def mean_imbalance(self) -> float:
        return float(np.mean(self.imbalance))


@dataclass
class _Account:
    """The sums over judged windows of which ``net`` and ``payback`` are made, all in the unit of cost."""

    total: float = 0.0
    saved: float = 0.0
    gained: float = 0.0
    spent: float = 0.0

    def add(self, *, total: float, saved: float, gained: float, moved: float) -> None:
        """A window of so much cost: both differences of θ, and the share of the state that moved before it."""
        self.total += total
        self.saved += saved * total
        self.gained += gained * total
        self.spent += moved * total

    @property
    def net(self) -> float:
        return (self.saved - self.spent) / self.total if self.total else 0.0

    @property
    def payback(self) -> float | None:
        if self.spent == 0:
            return 0.0
        return self.spent / self.gained if self.gained > 0 else None


@dataclass
class _Placement:
    """Where every slot and key is, and what left which bucket when."""

    slots: Whole
    routes: Whole  # of each key that any window tracks; NO_ROUTE: it follows its slot
    left: dict[tuple[int, int], int] = field(default_factory=dict)  # (item, bucket) → window

    def of(self, windows: ItemWindows, keys: Whole) -> Whole:
        """The bucket of each slot, then of these keys."""
        at_home = self.slots[windows.key_slot[keys]]
        routed = self.routes[keys]
        return np.concatenate([self.slots, np.where(routed == NO_ROUTE, at_home, routed)])

    def follow(self, windows: ItemWindows, keys: Whole, owner: Whole) -> None:
        """Take over a plan's answer. A route that agrees with its slot is dropped, whoever has it."""
        self.slots = owner[: windows.n_slots].copy()
        self.routes[keys] = owner[windows.n_slots :]
        self.routes[self.routes == self.slots[windows.key_slot]] = NO_ROUTE


@dataclass(frozen=True, kw_only=True, eq=False)
class Setting:
    """What all contenders have in common."""

    windows: ItemWindows
    home: Whole  # bucket of each slot under the plain hash
    n_buckets: int
    budgets: Budgets

    def __post_init__(self) -> None:
        if not self.judged:
            raise ForecastError(
                f"Setting.windows must be two or more. Got {self.windows.n_windows}. Wait for another: a plan is judged by the window after it."
            )
        if self.home.shape != (self.windows.n_slots,):
            raise ForecastError(
                f"Setting.home must have {self.windows.n_slots} values, as the windows have slots. Got shape {self.home.shape}."
                " Use the slots of the same function."
            )

    @property
    def judged(self) -> range:
        """The windows that a plan was made before: all but the first."""
        return range(1, self.windows.n_windows)

    def hash_imbalance(self, window: int) -> float:
        keys = self.windows.tracked(window)
        return self.imbalance(window, np.concatenate([self.home, self.home[self.windows.key_slot[keys]]]))

    def imbalance(self, window: int, owner: Whole) -> float:
        """θ of the window with its items there."""
        return overload(load_per_bucket(self.windows.cost(window), owner, self.n_buckets))


def replay(setting: Setting, contender: Contender, believe: Belief) -> Score:
    """Plans before each window but the first and judges the plan by that window. Deterministic."""
    windows = setting.windows
    place = _Placement(
        slots=setting.home.astype(np.int64), routes=np.full(windows.key_slot.size, NO_ROUTE, dtype=np.int64)
    )
    imbalance, migration, n_routes = [], [], []
    n_thrash, account = 0, _Account()
    for window in setting.judged:
        tracked = windows.tracked(window)
        request = _request(setting, place, window - 1, believe(window - 1))
        plan = make_plan(request, planner=contender.planner)
        n_thrash += _note_moves(windows, place, window, request.owner, plan.owner)
        unmoved = setting.imbalance(window, place.of(windows, tracked))
        place.follow(windows, windows.tracked(window - 1), plan.owner)
        imbalance.append(setting.imbalance(window, place.of(windows, tracked)))
        migration.append(plan.migration / request.total_state if request.total_state else 0.0)
        n_routes.append(int(np.count_nonzero(place.routes != NO_ROUTE)))
        account.add(
            total=float(windows.cost(window).sum()),
            saved=setting.hash_imbalance(window) - imbalance[-1],
            gained=unmoved - imbalance[-1],
            moved=migration[-1],
        )
    return Score(
        contender=contender,
        imbalance=tuple(imbalance),
        migration=tuple(migration),
        n_routes=tuple(n_routes),
        n_thrash=n_thrash,
        net=account.net,
        payback=account.payback,
    )


def _request(setting: Setting, place: _Placement, window: int, cost: Floats) -> PlanRequest:
    """What a planner is asked once ``window`` is over. Routes of keys that it does not track count against the limit."""
    windows, keys = setting.windows, setting.windows.tracked(window)
    n_slots = windows.n_slots
    positions = np.concatenate([np.full(n_slots, NO_SLOT), windows.key_slot[keys]])
    n_hidden = int(
        np.count_nonzero(place.routes != NO_ROUTE) - np.count_nonzero(place.routes[keys] != NO_ROUTE)
    )
    budgets = setting.budgets
    if budgets.max_routes is not None:
        budgets = replace(budgets, max_routes=max(0, budgets.max_routes - n_hidden))
    return PlanRequest.of_items(
        cost=cost,
        state=windows.state(window),
        owner=place.of(windows, keys),
        home=setting.home[np.where(positions == NO_SLOT, np.arange(positions.size), positions)],
        n_buckets=setting.n_buckets,
        is_slot=positions == NO_SLOT,
        slot=positions,
        budgets=budgets,
        history=_history(place, keys, n_slots, window + 1),
    )


def _history(place: _Placement, keys: Whole, n_slots: int, now: int) -> History:
    """The moves of the last few windows, of items that this request has."""
    position = {n_slots + int(key): n_slots + place_ for place_, key in enumerate(keys)}
    entries = [
        (position.get(item, item), bucket, now - when)
        for (item, bucket), when in place.left.items()
        if 1 <= now - when <= History().n_windows and (item < n_slots or item in position)
    ]
    columns = np.array(entries, dtype=np.int64).reshape(-1, 3)
    return History(item=columns[:, 0], source=columns[:, 1], age=columns[:, 2])


def _note_moves(windows: ItemWindows, place: _Placement, now: int, before: Whole, after: Whole) -> int:
    """Remember which bucket each moved item leaves; how many of them go back to one they left lately."""
    keys = windows.tracked(now - 1)
    n_back = 0
    for moved in np.flatnonzero(before != after).tolist():
        item = moved if moved < windows.n_slots else windows.n_slots + int(keys[moved - windows.n_slots])
        when = place.left.get((item, int(after[moved])))
        n_back += when is not None and now - when <= History().n_windows
        place.left[item, int(before[moved])] = now
    return n_back
