"""Readj: keep the placement and readjust it by moves and swaps (Gedik, Sec. 4.2.4, Alg. 4)."""

from dataclasses import dataclass
from itertools import chain
from typing import Literal, NamedTuple

import numpy as np

from partitioning.errors import PlanRequestError
from partitioning.plan import Plan
from partitioning.planners.gedik_state import SAME, SAME_LOAD, Floats, GedikOptions, Ints, Penalties
from partitioning.planners.readj_candidates import (
    NOTHING,
    Bar,
    Mapping,
    Readjustments,
    SizeOrder,
    merged,
    moves,
    swaps_from_highest,
    swaps_into_lowest,
)
from partitioning.request import PlanRequest

LEAST_SHIFT = 1e-15  # of the largest cost: a load shifted without any cost must not be divided by 0
NOISE = 1e-14  # rounding error of a difference of two utilities, as a share of them
MAX_ROUNDS_PER_ITEM = 1000  # some 200 times what was ever seen to be needed: a bound, not a setting


@dataclass(frozen=True, kw_only=True)
class ReadjOptions(GedikOptions):
    """Options of all three algorithms, and when to start from where and when to stop."""

    # Printed: until no readjustment lowers the penalty. "goal": as soon as the loads are within what is tolerated.
    stop_at: Literal["optimum", "goal"] = "optimum"
    # How often one item may be readjusted (c of Sec. 4.2.4). None is Alg. 4 as printed. A limit of 5 can save rounds, but
    # strands items: 1.4 to 37 times the migration at 2,000 Zipf items in 40 buckets, and a second run moves on.
    max_moves_per_item: int | None = None
    # "start": items at their hash home follow it when N changes. "owner": printed, all stay where they are at first, but
    # for those of buckets that are gone, which go home. The same when N does not change.
    start_from: Literal["start", "owner"] = "start"

    def __post_init__(self) -> None:
        super().__post_init__()
        for field, value, allowed in (
            ("stop_at", self.stop_at, ("optimum", "goal")),
            ("start_from", self.start_from, ("start", "owner")),
        ):
            if value not in allowed:
                raise PlanRequestError(
                    f"ReadjOptions.{field} must be one of {', '.join(allowed)}. Got {value!r}. The first is the default."
                )
        if self.max_moves_per_item is not None and self.max_moves_per_item < 1:
            raise PlanRequestError(
                f"ReadjOptions.max_moves_per_item must be 1 or more. Got {self.max_moves_per_item}."
                " Give None for no limit, or 5 as in the paper."
            )


DEFAULTS = ReadjOptions()


class Best(NamedTuple):
    """The readjustment to beat: more gain, or the same and earlier in the order of the tuple."""

    gain: float
    slack: float  # gains this much lower count as equal
    order: tuple[bool, int, int, int, int]  # is a swap, i, j, d1, d2


def plan_readj(request: PlanRequest, options: ReadjOptions = DEFAULTS) -> Plan:
    """
    Apply the readjustment of most utility gained per cost shifted, again and again, while one lowers rho.

    rho must fall with every readjustment; the utility only ranks them. So balance never gets worse than at the start, and
    the search ends: no placement comes back, and every item moves at most ``max_moves_per_item`` times. It ends early
    where two buckets share the highest and two the lowest load, since no single readjustment then lowers rho. Ties:
    moves before swaps, then the lowest buckets, then the lowest positions. Items without cost never move.

    Cost of a round, for n items in N buckets: 2n moves and up to 2n · n/N swaps are considered, but few swaps judged one by
    one: those within reach of the extreme loads that can still beat the best move (``readj_candidates``). Measured for
    n = 2,000 and N = 40, on one core: 2 to 4 ms a round; 300 rounds to the goal after costs drifted by 20 %, 2,000 to 11,000 from a
    random start to the printed end, since the gain per cost shifted favours small steps. Never more than 1,000 n.
    """
    search = _Search(request, options)
    for _ in range(search.max_rounds):
        load = search.penalties.load(search.owner)
        if options.stop_at == "goal" and search.penalties.meets_goal(load):
            break
        best = search.best_readjustment(load)
        if best is None:
            break
        search.apply(best)
    return Plan(request=request, owner=search.owner, planner="readj")


class _Search:
    """The mapping being readjusted, and what never changes while it is."""

    def __init__(self, request: PlanRequest, options: ReadjOptions) -> None:
        self.request = request
        self.penalties = Penalties(request=request, options=options)
        self.owner = _starting_owner(request, options)
        limit = MAX_ROUNDS_PER_ITEM if options.max_moves_per_item is None else options.max_moves_per_item
        self.max_rounds = limit * request.n_items  # each round moves an item
        self.moves_left = np.full(request.n_items, limit)
        self.migrated = float(request.state[self.owner != request.owner].sum())
        # Relative, so that no unit of cost makes gains overflow.
        self.cost = request.cost / max(float(request.cost.max(initial=0.0)), np.finfo(np.float64).tiny)
        self.size_rises_with_cost = _rises_with(self.cost, self.penalties.size)
        self.ascending = [SizeOrder(size) for size in self.penalties.size]
        self.descending = [SizeOrder(-size) for size in self.penalties.size]

    def best_readjustment(self, load: Floats) -> Best | None:
        """The one of most gain among all that lower rho; None if there is none."""
        spread = load.max(axis=1, keepdims=True) - load.min(axis=1, keepdims=True)
        rho = self.penalties.rho(spread, load.mean(axis=1, keepdims=True))
        if not rho > 0:
            return None
        mappings = [self._mapping(k, row) for k, row in enumerate(load)]
        best = None
        for mapping in mappings:
            best = self._better(best, moves(mapping), load, float(rho[0]))
        bar = self._bar(best, load, rho)
        for mapping, ascending, descending in zip(mappings, self.ascending, self.descending, strict=True):
            both = chain(
                swaps_from_highest(mapping, ascending, bar), swaps_into_lowest(mapping, descending, bar)
            )
            for candidates in merged(both):
                best = self._better(best, candidates, load, float(rho[0]))
        return best

    def apply(self, best: Best) -> None:
        """Eq. 21, and the running migration of Alg. 4."""
        _, source, target, item, partner = best.order
        items = np.array([item] if partner == NOTHING else [item, partner])
        self.owner[items] = [target] if partner == NOTHING else [target, source]
        self.moves_left[items] -= 1
        self.migrated = float(self.request.state[self.owner != self.request.owner].sum())

    def _better(self, best: Best | None, candidates: Readjustments, load: Floats, rho: float) -> Best | None:
        """The best of ``best`` and the candidates."""
        if candidates.item.size == 0:
            return best
        shift = self._shift(candidates)
        spread = _spread_if_shifted(load, candidates.source, candidates.target, shift)
        rho_after = self.penalties.rho(spread, load.mean(axis=1, keepdims=True))
        falls = np.flatnonzero(rho_after < rho * (1 - SAME))  # otherwise: worse balance, next candidate
        if falls.size == 0:
            return best
        falling = Readjustments(*(column[falls] for column in candidates))
        gain, slack = self._gain(falling, rho, rho_after[falls])
        most = int(gain.argmax())
        ties = np.flatnonzero(gain + slack >= gain[most] - slack[most])
        here = Best(float(gain[most]), float(slack[most]), _first(falling, ties))
        if best is None:
            return here
        difference, margin = here.gain - best.gain, here.slack + best.slack
        is_better = difference > margin or (difference >= -margin and here.order < best.order)
        return here if is_better else best

    def _gain(self, candidates: Readjustments, rho: float, rho_after: Floats) -> tuple[Floats, Floats]:
        """(u - u') / |f(d1) - f(d2)|, with u the utility of the mapping as it is (Alg. 4); and what rounding may do to it."""
        now = self.penalties.utility(np.array(rho), self.migrated)
        after = self.penalties.utility(rho_after, self.migrated + self._migration(candidates))
        back = np.where(_is_swap(candidates), self.cost[candidates.partner], 0.0)
        shifted = np.maximum(np.abs(self.cost[candidates.item] - back), LEAST_SHIFT)
        gain = np.asarray((now - after) / shifted)
        return gain, SAME * np.abs(gain) + NOISE * float(now) / shifted

    def _migration(self, candidates: Readjustments) -> Floats:
        """State that leaves its old bucket, less state that returns to it (Eq. 22)."""
        there = self._leaving(candidates.item, candidates.source, candidates.target)
        back = self._leaving(candidates.partner, candidates.target, candidates.source)
        return there + np.where(_is_swap(candidates), back, 0.0)

    def _leaving(self, item: Ints, source: Ints, target: Ints) -> Floats:
        old = self.request.owner[item]
        return np.asarray(self.request.state[item] * ((old == source).astype(np.float64) - (old == target)))

    def _shift(self, candidates: Readjustments) -> Floats:
        """Load that goes from i to j, K x candidates; less than 0 where more comes back."""
        size = self.penalties.size
        back = np.where(_is_swap(candidates), size[:, candidates.partner], 0.0)
        return np.asarray(size[:, candidates.item] - back)

    def _mapping(self, k: int, load: Floats) -> Mapping:
        return Mapping(
            owner=self.owner,
            old=self.request.owner,
            is_free=self.moves_left > 0,
            state=self.request.state,
            cost=self.cost,
            size=self.penalties.size[k],
            load=load,
        )

    def _bar(self, best: Best | None, load: Floats, rho: Floats) -> Bar | None:
        """
        What is known of the gain of any readjustment that brings no item back; None if nothing is.

        All five utilities are straight lines in rho at a given gamma. In gamma they rise, the slower the larger it is,
        and no slower for a larger rho: so the chord at the least rho in reach is a lower bound for all.
        """
        if best is None or len(load) > 1 or not self.size_rises_with_cost:
            return None
        in_order = np.sort(load[0])
        allowed = float(self.penalties.theta[0, 0]) * float(in_order.mean())
        most_off = (in_order[-1] - in_order[-2] + in_order[1] - in_order[0]) / allowed
        least_rho = max(0.0, float(rho[0]) - float(most_off))
        most_state = 2 * float(self.request.state.max())
        at_zero, at_one = self.penalties.utility(np.array([0.0, 1.0]), self.migrated)
        now, then = self.penalties.utility(np.array(least_rho), [self.migrated, self.migrated + most_state])
        per_state = float(then - now) / most_state * (1 - SAME) if most_state > 0 else 0.0
        per_load = float(at_one - at_zero) / allowed
        noise = (
            NOISE * float(self.penalties.utility(rho[0], self.migrated))
            + SAME_LOAD * per_load * in_order.mean()
        )
        return Bar(
            gain=best.gain - best.slack - 2 * SAME * abs(best.gain),
            per_load=per_load,
            per_state=per_state,
            noise=2 * float(noise),
        )


def _starting_owner(request: PlanRequest, options: ReadjOptions) -> Ints:
    if options.start_from == "start":
        return request.start.copy()
    return np.where(request.owner < request.n_buckets, request.owner, request.start)


def _rises_with(cost: Floats, sizes: Floats) -> bool:
    """Whether no item is larger in a resource than one that costs more."""
    by_cost = np.argsort(cost, kind="stable")
    return bool((np.diff(sizes[:, by_cost], axis=1) >= 0).all())


def _is_swap(candidates: Readjustments) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
    return np.asarray(candidates.partner != NOTHING)


def _first(candidates: Readjustments, among: Ints) -> tuple[bool, int, int, int, int]:
    """The first of these candidates in the order of ties."""
    item, source, target, partner = (column[among] for column in candidates)
    # A swap has two names; Alg. 4 meets the one from the lower bucket first.
    is_turned = (partner != NOTHING) & (source > target)
    item, partner = np.where(is_turned, partner, item), np.where(is_turned, item, partner)
    source, target = np.where(is_turned, target, source), np.where(is_turned, source, target)
    first = np.lexsort((partner, item, target, source, partner != NOTHING))[0]
    is_swap = bool(partner[first] != NOTHING)
    return is_swap, int(source[first]), int(target[first]), int(item[first]), int(partner[first])


def _spread_if_shifted(load: Floats, source: Ints, target: Ints, shift: Floats) -> Floats:
    """max - min of each resource's load after each shift, K x candidates."""
    spread = np.empty(shift.shape)
    for k, row in enumerate(load):
        left, joined = row[source] - shift[k], row[target] + shift[k]
        highest = np.maximum(np.maximum(left, joined), _highest_of_others(row, source, target))
        lowest = np.minimum(np.minimum(left, joined), -_highest_of_others(-row, source, target))
        spread[k] = highest - lowest
    return spread


def _highest_of_others(load: Floats, source: Ints, target: Ints) -> Floats:
    """The highest load among all buckets but two; minus infinity where there are only two."""
    top = np.argsort(-load, kind="stable")[:3]  # one of the first three is neither source nor target
    others = np.full(source.size, -np.inf)
    for bucket in top[::-1]:
        others = np.where((source == bucket) | (target == bucket), others, load[bucket])
    return others
