"""A plan for a window's items, with keys split where the dataset lets results be merged, and the function it leads to."""

from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partitioning import History, Plan, make_plan
from partitioning.explain import Explanation, explain_plan
from partitioning.frequency_planning import plan_by_frequency
from partitioning.function import PartitioningFunction
from partitioning.function_json import text_of_key
from partitioning.hashing import hash_keys
from partitioning.measures import imbalance, loads
from partitioning.payback import Payback
from partitioning.planners.frequency_hash import FREQUENCY_HASH
from partitioning.split_plan import SplitPlan
from partitioning.split_planning import plan_with_splits
from partitioning.splits import N_GRAINS, stretches
from partitioning.verdict import BALANCED_ALREADY, CANNOT_IMPROVE, IMPROVES, REACHES_TARGET
from schemas.dataset import Dataset
from spark_jobs.item_stats import PART, ItemStats
from spark_jobs.plan_request import function_of, request_of
from spark_jobs.row_id import row_id_of

CUT = "split"  # the cause of moves that a new cut of a key makes by itself


@dataclass(frozen=True, kw_only=True, eq=False)
class Planned:
    """What ``plan_for`` answers. Figures are exact also where parts of keys are cut anew."""

    dataset: Dataset
    function: PartitioningFunction
    items: ItemStats  # every key whole, with the cost that is planned on
    made: SplitPlan

    @property
    def plan(self) -> Plan:
        return self.made.plan

    @property
    def is_split(self) -> bool:
        """Whether any key is split, before or afterwards."""
        return bool(self.made.parted.concerned)

    @cached_property
    def after(self) -> PartitioningFunction:
        """Every slot, every heavy key and every part ends where the plan has it; all other keys follow their slots."""
        has_splits = any(len({part.bucket for part in parts}) > 1 for parts in self.made.parts.values())
        row_id = row_id_of(self.dataset, self.function) if has_splits else None
        return function_of(self.dataset, self.items, self.function, self.made, row_id=row_id)

    @cached_property
    def named(self) -> ItemStats:
        """The plan's items, parts among them, in the plan's order."""
        if not self.is_split:
            return self.items
        parted = self.made.parted
        pieces = zip(parted.origin.tolist(), parted.grains, strict=True)
        return self.items.in_parts(
            [(item, None if grains == (0, N_GRAINS) else grains) for item, grains in pieces]
        )

    @property
    def load_before(self) -> NDArray[np.float64]:
        request = self.plan.request
        return self.made.parted.load_today() if self.is_split else loads(request, request.owner)

    @property
    def imbalance_before(self) -> float:
        if self.is_split:
            return self.items.imbalance(self.function, self.dataset.n_buckets)
        return imbalance(self.plan.request, self.plan.request.owner)

    @cached_property
    def explanation(self) -> Explanation:
        """Of the plan, with what it really moves and with merging on the scale."""
        explained = explain_plan(self.plan)
        if not self.is_split:
            return explained
        return replace(
            explained,
            certificate=replace(explained.certificate, migration=self.made.migration),
            payback=self._payback,
        )

    @property
    def _payback(self) -> Payback:
        """θ before any balancing is that of the ring where buckets are added, as ``weigh`` has it."""
        n_wanted, function, made = self.dataset.n_buckets, self.function, self.made
        start = function.with_n_buckets(n_wanted) if n_wanted > function.n_buckets else function
        before = self.items.imbalance(start, n_wanted) + made.merge_cost(made.n_partials_before)
        after = self.plan.imbalance + made.merge_cost(made.n_partials)
        weighed = made.payback
        return replace(weighed, saved=weighed.n_windows * (before - after) * float(self.items.cost.sum()))

    @property
    def verdict(self) -> str:
        """A new cut moves rows even if no item changes its bucket."""
        if not self.moves:
            return self.plan.verdict
        return {BALANCED_ALREADY: REACHES_TARGET, CANNOT_IMPROVE: IMPROVES}.get(
            self.plan.verdict, self.plan.verdict
        )

    # What moves, as rows of ``moves``

    @cached_property
    def moves(self) -> list[dict[str, Any]]:
        """Items that change bucket; of split keys, all rows that go from one bucket to another are one move."""
        concerned = set(self.made.parted.concerned)
        origin = self.made.parted.origin
        whole = [
            {
                **_named(self.named.name_of(move.item)),
                "from_bucket": move.source,
                "to_bucket": move.target,
                "cost": move.cost,
                "state": move.state,
                "cause": move.cause,
                "imbalance_without": move.imbalance_without,
            }
            for move in self.explanation.moves
            if int(origin[move.item]) not in concerned
        ]
        return [*whole, *self._moves_of_parts()]

    def _moves_of_parts(self) -> Iterator[dict[str, Any]]:
        cause = {
            (int(self.made.parted.origin[move.item]), move.target): move.cause
            for move in self.explanation.moves
        }
        for item, parts in self.made.parts.items():
            grains: Counter[tuple[int, int]] = Counter()
            for stretch in stretches([self.made.parted.parts_today(item), parts]):
                grains[stretch.buckets[0], stretch.buckets[1]] += stretch.high - stretch.low
            for (source, target), n_grains in sorted(grains.items()):
                if source == target:
                    continue
                cost, state = (
                    float(of[item]) * n_grains / N_GRAINS for of in (self.items.cost, self.items.state)
                )
                yield {
                    **_named(self.items.name_of(item)),
                    "kind": PART,
                    "from_bucket": source,
                    "to_bucket": target,
                    "cost": cost,
                    "state": state,
                    "cause": "drain" if source >= self.dataset.n_buckets else cause.get((item, target), CUT),
                    "imbalance_without": self._imbalance_without(source, target, cost),
                }

    def _imbalance_without(self, source: int, target: int, cost: float) -> float:
        load = self.plan.load.copy()
        load[target] -= cost
        load[source] += cost
        n_wanted = self.dataset.n_buckets
        mean = float(load.sum()) / n_wanted
        return max(0.0, float(load[:n_wanted].max()) / mean - 1.0) if mean > 0 else 0.0

    # In words

    @property
    def sentences(self) -> list[str]:
        """Which keys are split and what merging them costs, or that they are whole again."""
        return [self._sentence(item) for item in self.made.parts]

    def _sentence(self, item: int) -> str:
        name = self.items.name_of(item)["key"]
        key = "the NULL key" if name is None else f"key {text_of_key(name)}"
        before, after = (
            sorted({part.bucket for part in parts})
            for parts in (self.made.parted.parts_today(item), self.made.parts[item])
        )
        mean = float(self.items.cost.sum()) / self.dataset.n_buckets
        size = float(self.items.cost[item]) / mean if mean > 0 else 0.0
        if len(after) == 1:
            return f"{key} is whole again in bucket {after[0]}: it is {size:.4g} mean buckets now, and was in {len(before)} buckets"
        return (
            f"{key} is {size:.4g} mean buckets and is split over d = {len(after)} buckets ({', '.join(map(str, after))}), {len(before)} before;"
            f" Γ = {len(after)} partial results of it to merge a window, {self.made.merge_cost(len(after) - 1):.2g} on the scale of θ"
        )


def _named(name: dict[str, Any]) -> dict[str, Any]:
    return {**name, "key": text_of_key(name["key"])}


def plan_for(
    dataset: Dataset,
    items: ItemStats,
    function: PartitioningFunction,
    history: History,
    *,
    resting: Collection[int] = (),
) -> Planned:
    """
    Plan on these items, each key whole, from this function. Keys are split only if the dataset is mergeable.

    ``resting`` are positions of keys that were cut lately: ``plan_with_splits``.
    """
    whole = request_of(dataset, items, function, history)
    today = {
        position: function.parts_of(key)
        for position, key in enumerate(items.key, start=items.n_slots)
        if key in function.splits
    }
    if dataset.planner == FREQUENCY_HASH and is_mergeable(dataset) and not whole.drained.size:
        key_hash = hash_keys(items.key, dataset.key_type)
        made = plan_by_frequency(whole, today, key_hash, whole.start[: items.n_slots])
    else:
        made = plan_with_splits(
            whole,
            today,
            partial(make_plan, planner=dataset.planner),
            may_split=is_mergeable(dataset),
            resting=resting,
        )
    return Planned(dataset=dataset, function=function, items=items, made=made)


def is_mergeable(dataset: Dataset) -> bool:
    """Whether results of a key may be made in several buckets and merged."""
    return bool(dataset.merge) and dataset.rows_per_key == "many"


def why_not_split(dataset: Dataset) -> str | None:
    """Why a key that is too heavy stays whole, and what would help; None where keys may be split."""
    if dataset.rows_per_key == "one":
        return (
            f"{dataset.name} has one row a key (state.rows_per_key: one): there is nothing to split. More capacity for its bucket, or fewer"
            " buckets, would help; so would a finer key, if the job can work by it"
        )
    if not dataset.merge:
        return (
            f"{dataset.name} does not say how partial results merge, so no key may be split. Declare it (merge: in the dataset file, such"
            " as {amount: sum}) if they can; otherwise more capacity, or fewer buckets, would help"
        )
    return None
