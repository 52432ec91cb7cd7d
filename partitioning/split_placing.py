"""
Parts of keys for given buckets: how much of a key goes where, with the sizes of its parts worked out from the room there is.

A planner is given parts and looks for places. Here the places come first: where slots and whole keys are coarse, even parts fit badly into
what those leave, and parts of other sizes do with fewer. Nothing here knows of budgets: the caller looks at what comes out.

Worked: three buckets may hold 10 each, and 9, 8 and 3 lie in them. A key of 9 finds room for 1, 2 and 7: in two parts, 7 and 2.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import accumulate, takewhile

import numpy as np
from numpy.typing import NDArray

from partitioning import measures
from partitioning.plan import Plan
from partitioning.reasons import give_reasons
from partitioning.split_plan import SplitPlan
from partitioning.splits import N_GRAINS, Part, Parts, held_by

Floats = NDArray[np.float64]
Shares = Mapping[int, float]  # bucket → how much of a key it holds, in any unit

N_BISECTIONS = 12


def placed(start: SplitPlan, wanted: Mapping[int, Shares]) -> SplitPlan:
    """``start`` with these keys, by position, spread like this over their buckets; as many rows as can be stay where they are today."""
    parted = start.parted
    parts = {item: spread(parted.parts_today(item), shares) for item, shares in wanted.items()}
    parts = {**start.parts, **parts}
    cut = {item: tuple(part.weight for part in of_key) for item, of_key in parts.items() if len(of_key) > 1}
    made = replace(parted, cut=cut)
    owner = np.append(start.plan.owner[: parted.whole.n_items], np.zeros(made.origin.size, dtype=np.int64))
    for item, of_key in parts.items():
        owner[made.positions(item)] = [part.bucket for part in of_key]
    plan = Plan(request=made.request, owner=owner[: made.origin.size], planner=start.plan.planner)
    reasons = give_reasons(plan, plan.given_up)
    return SplitPlan(parted=made, plan=replace(plan, reasons=reasons))


def spread(today: Parts, shares: Shares) -> Parts:
    """
    Parts in these proportions, to the grain. No more grains change bucket than must.

    Worked: all grains lie in bucket 0; ``{0: 1, 2: 3}`` leaves the first 1,024 there and takes the others to bucket 2.
    """
    left = dict(zip(shares, _grains(list(shares.values())), strict=True))
    stays = []
    for bucket, weight in today:
        stays.append(min(weight, left.get(bucket, 0)))
        if bucket in left:
            left[bucket] -= stays[-1]
    takers = iter([bucket for bucket in sorted(left) for _ in range(left[bucket])])
    parts: list[Part] = []
    for (bucket, weight), n in zip(today, stays, strict=True):
        parts += [Part(bucket, 1)] * n + [Part(next(takers), 1) for _ in range(weight - n)]
    return _joined(parts)


def _joined(parts: Sequence[Part]) -> Parts:
    """Neighbours of one bucket as one part."""
    made: list[Part] = []
    for bucket, weight in parts:
        if made and made[-1].bucket == bucket:
            made[-1] = Part(bucket, made[-1].weight + weight)
        else:
            made.append(Part(bucket, weight))
    return tuple(made)


def _grains(shares: Sequence[float]) -> list[int]:
    """Whole numbers in these proportions that sum to N_GRAINS, by the largest remainder."""
    exact = np.array(shares) * (N_GRAINS / sum(shares))
    grains = np.floor(exact).astype(np.int64)
    missing = np.argsort(grains - exact, kind="stable")[: N_GRAINS - int(grains.sum())]
    grains[missing] += 1
    return [int(n) for n in grains]


# Filling the room that everything else leaves


def fill(room: Floats, keys: Sequence[tuple[float, int]]) -> list[Shares] | None:
    """
    For each key, of a cost and in a bucket today, the buckets that take it; None if there is too little room.

    In the order given. A key that fits stays whole: in its own bucket, else in the one it fills best. Another goes to the fewest buckets that
    can hold it: the roomiest, and as the last of them the least roomy that will do.
    """
    room = room.copy()
    found: list[Shares] = []
    for cost, own in keys:
        taken = _taken(room, cost, own)
        if taken is None:
            return None
        for bucket, amount in taken.items():
            room[bucket] -= amount
        found.append(taken)
    return found


def _taken(room: Floats, cost: float, own: int) -> dict[int, float] | None:
    if room[own] >= cost:
        return {own: cost}
    roomiest = [int(bucket) for bucket in np.argsort(-room, kind="stable") if room[bucket] > 0]
    before = list(takewhile(lambda total: total < cost, accumulate(float(room[b]) for b in roomiest)))
    if len(before) == len(roomiest):
        return None
    full = roomiest[: len(before)]
    # Of floats, a sum that reaches the cost does not mean that the last of them reaches what is left of it.
    rest = min(cost - (before[-1] if before else 0.0), float(room[roomiest[len(full)]]))
    last = [bucket for bucket in roomiest[len(full) :] if room[bucket] >= rest][-1]
    return {**{bucket: float(room[bucket]) for bucket in full}, last: rest}


def filled(start: SplitPlan, keys: Sequence[int], level: float) -> SplitPlan | None:
    """
    ``start`` with these keys taken out and put where there is room below ``level``, the load a bucket may have; None if there is too little.

    Then the level is lowered as far as no more partial results are needed: what is left of the target is for the next window's drift.
    """
    whole = start.parted.whole
    held = _held_by_others(start, keys)
    by_cost, costs = _by_cost(start, keys)
    best = fill(_room(start, costs, level) - held, costs)
    if best is None:
        return None
    low, high = measures.mean_load(whole), level
    for _ in range(N_BISECTIONS):
        middle = (low + high) / 2
        found = fill(_room(start, costs, middle) - held, costs)
        if found is None or _n_buckets(found) > _n_buckets(best):
            low = middle
        else:
            best, high = found, middle
    return placed(start, dict(zip(by_cost, best, strict=True)))


def _by_cost(start: SplitPlan, keys: Sequence[int]) -> tuple[list[int], list[tuple[float, int]]]:
    """The keys, heaviest first, and of each its cost and the bucket it is in before any balancing: today's may be going away."""
    whole = start.parted.whole
    by_cost = sorted(keys, key=lambda item: (-float(whole.cost[item]), item))
    return by_cost, [(float(whole.cost[item]), int(whole.start[item])) for item in by_cost]


def _room(start: SplitPlan, costs: Sequence[tuple[float, int]], level: float) -> Floats:
    """What each bucket in use may hold, less a grain of the heaviest key: parts are rounded to whole grains. No room in others."""
    whole = start.parted.whole
    grain = costs[0][0] / N_GRAINS
    return np.asarray(np.where(whole.is_live, level * whole.capacity - grain, -np.inf))


def _held_by_others(start: SplitPlan, keys: Sequence[int]) -> Floats:
    request, others = start.plan.request, np.isin(start.parted.origin, keys, invert=True)
    return measures.load_per_bucket(request.cost[others], start.plan.owner[others], request.n_buckets)


def _n_buckets(found: Sequence[Shares]) -> int:
    return sum(map(len, found))


def packed(start: SplitPlan, keys: Sequence[int], level: float, *, has_keys_first: bool) -> SplitPlan | None:
    """
    ``start`` with everything but these keys in as few buckets as hold it below ``level``, heaviest first, so that the others are left for the keys.

    With ``has_keys_first`` it goes where the keys leave room if they are put first; None if they find none.
    """
    request, owner = start.plan.request, start.plan.owner.copy()
    _, costs = _by_cost(start, keys)
    room = _room(start, costs, level)
    taken = fill(room, costs) if has_keys_first else []
    if taken is None:
        return None
    for shares in taken:
        room[list(shares)] -= list(shares.values())
    is_other = np.isin(start.parted.origin, keys, invert=True)
    pinned, others = (
        np.flatnonzero(is_other & request.is_pinned),
        np.flatnonzero(is_other & ~request.is_pinned),
    )
    room -= measures.load_per_bucket(request.cost[pinned], owner[pinned], request.n_buckets)
    for item in others[np.argsort(-request.cost[others], kind="stable")]:
        fits = np.flatnonzero(room >= request.cost[item])
        owner[item] = fits[room[fits].argmin()] if fits.size else room.argmax()
        room[owner[item]] -= request.cost[item]
    return replace(start, plan=replace(start.plan, owner=owner))


# Joining what has cooled, as far as may move


def drained(start: SplitPlan, item: int, n_grains: int) -> SplitPlan:
    """
    ``start`` with so many grains of a split key brought to the bucket that holds most of it, the least loaded of such; the lightest parts first.

    Of buckets in use: nothing is brought to one that is to be emptied.
    """
    held, load, is_live = held_by(start.parts[item]), start.plan.load, start.plan.request.is_live
    target = max(held, key=lambda bucket: (is_live[bucket], held[bucket], -load[bucket], -bucket))
    if not is_live[target]:
        return start
    for bucket in sorted(held, key=lambda bucket: (held[bucket], bucket)):
        if bucket != target:
            moved = min(held[bucket], n_grains)
            held.update({bucket: -moved, target: moved})
            n_grains -= moved
    return placed(start, {item: +held})
