"""
Frequency-aware hash partitioning (Balkesen et al., Sec. 4.1) as split routes: frequent keys in parts, each part where its own hash has it.

How many parts a key has and how they are hashed is in ``sub_keys``. Parts of a key that meet in a bucket are one part of its split
route, of as many times the weight: a key in N buckets costs N - 1 routes, however many parts it was cut into.

Worked: the key of 50 rows of ``count_parts``'s example has 5 parts. If these are hashed to buckets 2, 0, 2, 1, 2, its route is 3/5 of the
grains to bucket 2, a fifth to 0 and a fifth to 1.
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike, NDArray

from partitioning.measures import home_after, is_within
from partitioning.parting import PartedRequest
from partitioning.planners.frequency_hash import FREQUENCY_HASH
from partitioning.planning import fit_plan
from partitioning.request import PlanRequest
from partitioning.split_plan import SplitPlan
from partitioning.splits import N_GRAINS, Part, Parts, even_weights, held_by
from partitioning.sub_keys import count_parts, slots_of_parts

Integers = NDArray[np.int64]

TOPS = (100, 50, 25, 12, 6, 3, 1)  # how many keys are cut; the paper finds 100 enough


def split_by_frequency(
    frequency: ArrayLike, key_hash: ArrayLike, slot_bucket: ArrayLike, *, n_top: int, others: float = 0.0
) -> dict[int, Parts]:
    """
    The split routes of the ``n_top`` most frequent keys, by position; ``slot_bucket`` holds the bucket of each slot, ``others`` is as for
    ``count_parts``.

    The bucket of a key's own slot comes first. A key whose parts all meet in one bucket, or that needs one part only, is not among them.
    """
    hashes, buckets = np.asarray(key_hash, dtype=np.int64), np.asarray(slot_bucket, dtype=np.int64)
    n_parts = np.minimum(count_parts(frequency, n_top, others=others), N_GRAINS)
    found = {}
    for key in np.flatnonzero(n_parts > 1).tolist():
        part = np.arange(n_parts[key])
        places = buckets[slots_of_parts(hashes[key], part, buckets.size)].tolist()
        weights = held_by(tuple(map(Part, places, even_weights(part.size))))
        if len(weights) > 1:
            found[key] = tuple(Part(bucket, weight) for bucket, weight in weights.items())
    return found


def plan_by_frequency(
    whole: PlanRequest, today: Mapping[int, Parts], key_hash: ArrayLike, slot_bucket: ArrayLike
) -> SplitPlan:
    """
    The best of standing still and of cutting the 100, 50, … most frequent keys, each fitted to the budgets as ``make_plan`` does.

    ``key_hash`` has one hash a key of ``whole``, in order; ``today`` holds the parts of keys that are split, by position. While the table is
    within θ_max as it is, no key is cut anew. A slot is a thing that stays whole: keys are not cut finer than the heaviest one. Fewer keys are
    cut where more routes would be needed than there may be.
    """
    kept = _stand_still(whole, today)
    if is_within(kept.plan.imbalance, whole.budgets.max_imbalance):
        return kept
    keys = np.flatnonzero(~whole.is_slot)
    slot = float(whole.cost[whole.is_slot].max(initial=0.0))
    tried = [kept]
    for n_top in TOPS:
        found = split_by_frequency(whole.cost[keys], key_hash, slot_bucket, n_top=n_top, others=slot)
        splits = {int(keys[key]): parts for key, parts in found.items()}
        n_routes = sum(len(parts) - 1 for parts in splits.values())
        if n_top == TOPS[-1] or n_routes <= whole.budgets.route_limit():
            tried.append(_fitted(whole, today, splits))
    return min((one for one in tried if one.parted.is_affordable), key=lambda one: one.rank)


def _stand_still(whole: PlanRequest, today: Mapping[int, Parts]) -> SplitPlan:
    parted = _parted(whole, today, today)
    request = parted.request
    return SplitPlan(parted=parted, plan=fit_plan(request, request.start, FREQUENCY_HASH))


def _fitted(whole: PlanRequest, today: Mapping[int, Parts], splits: Mapping[int, Parts]) -> SplitPlan:
    """Keys cut as ``splits`` has them, all others at home, as far as the budgets let that be."""
    parted = _parted(whole, today, splits)
    request = parted.request
    wanted = np.array(home_after(request, request.start))
    for item, parts in splits.items():
        wanted[parted.positions(item)] = [part.bucket for part in parts]
    return SplitPlan(parted=parted, plan=fit_plan(request, wanted, FREQUENCY_HASH))


def _parted(whole: PlanRequest, today: Mapping[int, Parts], splits: Mapping[int, Parts]) -> PartedRequest:
    cut = {item: tuple(part.weight for part in parts) for item, parts in splits.items()}
    return PartedRequest(whole=whole, today=today, cut=cut)
