"""The facts that a plan is judged by, before it may touch the table. Names of fields stand in a text, with commas."""

import math
from collections import Counter
from dataclasses import dataclass
from typing import Any

from partitioning.function import PartitioningFunction
from partitioning.splits import concentration
from schemas.dataset import Dataset
from spark_jobs.control_tables import Row
from spark_jobs.explanation_facts import wrong_explanations
from spark_jobs.plan_figures import KEY, MOVE_FIELDS, PART, SLOT, Figures
from spark_jobs.plan_record import plan_name_of

EPSILON = 1e-9  # two sums of the same floats may differ by this much, relative to what is summed
HARD_LIMITS = ("max_routes", "max_migration")


@dataclass(frozen=True, kw_only=True, eq=False)
class Evidence:
    """A plan as the tables hold it, and the figures that follow from the other tables."""

    dataset: Dataset
    plan: Row
    moves: list[Row]
    figures: Figures


def plan_facts(seen: Evidence) -> dict[str, Any]:
    """All there is to judge about a plan whose functions can be read."""
    return {
        "name_matches": _has_its_name(seen.plan),
        "window_matches": _is_of_window(seen),
        "wrong_buckets": _has_wrong_buckets(seen.figures),
        "items_amiss": _items_amiss(seen.figures.items, seen.dataset.n_slots),
        "misplaced_moves": _misplaced_moves(seen),
        "keys_moved_twice": _moved_twice(seen.moves),
        "wrong_predictions": _wrong_predictions(seen),
        "wrong_bounds": _wrong_bounds(seen),
        "wrong_explanations": wrong_explanations(seen.plan, seen.moves, seen.figures),
        "verdict_matches": seen.plan["verdict"] in _possible_verdicts(seen),
        **_budget_facts(seen),
    }


NAMING = (
    "dataset", "window_start", "from_function", "to_function", "planner", "planned_on", "max_imbalance", "target_imbalance", "max_routes",
    "max_migration", "n_buckets", "payback_windows",
)  # fmt: skip


def _has_its_name(plan: Row) -> bool:
    """A plan's name follows from these of its fields."""
    return bool(plan["plan"] == plan_name_of(*(plan[name] for name in NAMING)))


def _is_of_window(seen: Evidence) -> bool:
    """The statistics of the plan's window are of a window that ends when the plan's does."""
    return {item["window_end"] for item in seen.figures.items} == {seen.plan["window_end"]}


def _has_wrong_buckets(figures: Figures) -> bool:
    """Buckets that are to go stay as long as anything is in them, and no longer."""
    is_emptied = all(bucket < figures.n_wanted for bucket in figures.new_buckets)
    wanted = figures.n_wanted if is_emptied else max(figures.before.n_buckets, figures.n_wanted)
    return figures.after.n_buckets != wanted


def _items_amiss(items: list[Row], n_slots: int) -> int:
    """Slots and keys that are not there just once: such an item would have two buckets, or none."""
    slots = Counter(item["slot"] for item in items if item["kind"] == SLOT)
    keys = Counter(item["key"] for item in items if item["kind"] == KEY)
    n_strange = len(items) - slots.total() - keys.total()
    n_twice = sum(n - 1 for n in (*slots.values(), *keys.values()))
    return n_strange + n_twice + len(slots.keys() ^ set(range(n_slots)))


def _misplaced_moves(seen: Evidence) -> int:
    """Moves must be just the items on which the two functions differ, field by field."""
    given = Counter(tuple(move[field] for field in MOVE_FIELDS) for move in seen.moves)
    wanted = seen.figures.moves
    return (wanted - given).total() + (given - wanted).total()


def _moved_twice(moves: list[Row]) -> int:
    """Of a split key rows may go several ways, but each way once."""
    return len(moves) - len(
        {
            (move["kind"], move["slot"], move["key"])
            + ((move["from_bucket"], move["to_bucket"]) if move["kind"] == PART else ())
            for move in moves
        }
    )


def _wrong_predictions(seen: Evidence) -> str:
    expected = seen.figures.predictions
    return ", ".join(name for name, value in expected.items() if not is_same(seen.plan[name], value))


def is_same(given: Any, expected: Any) -> bool:
    """Equal as far as sums of floats can tell. NaN and NULL are equal to nothing."""
    if isinstance(expected, list):
        return (
            isinstance(given, list)
            and len(given) == len(expected)
            and all(is_same(one, other) for one, other in zip(given, expected, strict=True))
        )
    return given is not None and abs(given - expected) <= EPSILON * max(1.0, abs(expected))


def _wrong_bounds(seen: Evidence) -> str:
    """What no plan can beat must not be above what this plan does, nor below nothing."""
    reached = {
        "bound_imbalance": seen.figures.theta_after,
        "bound_migration": seen.figures.migration,
    }
    return ", ".join(
        name
        for name, value in reached.items()
        if seen.plan[name] is None or not 0 <= seen.plan[name] <= value + EPSILON * max(1.0, value)
    )


# Budgets and what became of them


def _limits(plan: Row | Dataset, total_state: float) -> dict[str, float]:
    """The goal and the hard limits of a plan or of a dataset file, migration in bytes; infinite where there is none."""
    fields = plan if isinstance(plan, dict) else vars(plan)
    share = fields["max_migration"]
    return {
        "max_imbalance": fields["max_imbalance"],
        "max_routes": math.inf if fields["max_routes"] is None else fields["max_routes"],
        "max_migration": math.inf if share is None else share * total_state if share <= 1 else share,
    }


def _budget_facts(seen: Evidence) -> dict[str, Any]:
    """
    Routes may be too many only if they were before, and then not more. θ may get worse only where buckets go away, where too
    many routes become fewer, where keys that may no longer be split are joined, within max_imbalance where others are, or where
    the ring alone, following more buckets, would make it as bad.
    """
    figures, limits = seen.figures, _limits(seen.plan, seen.figures.total_state)
    before, after = figures.before, figures.after
    used = {"max_routes": after.n_routes, "max_migration": figures.migration}
    unavoidable = {"max_routes": before.n_routes, "max_migration": 0.0}
    over = {name: max(0.0, used[name] - max(limits[name], unavoidable[name])) for name in HARD_LIMITS}
    may_get_worse = (
        figures.n_wanted < before.n_buckets
        or (before.n_routes > limits["max_routes"] and after.n_routes < before.n_routes)
        or (not seen.dataset.merge and _is_gathered(before, after))
    )
    worst = max(figures.theta_before, figures.theta_start)
    if _is_gathered(before, after):
        worst = max(worst, limits["max_imbalance"])
    allowed = _limits(seen.dataset, figures.total_state)
    return {
        "routes_over_budget": over["max_routes"],
        "migration_over_budget": over["max_migration"] / (figures.total_state or 1.0),
        "imbalance_gained": 0.0 if may_get_worse else max(0.0, figures.theta_after - worst),
        "imbalance_over_goal": max(0.0, figures.theta_after - limits["max_imbalance"]),
        "budgets_broken_before": ", ".join(
            name for name in HARD_LIMITS if _is_above(used[name], limits[name])
        ),
        "budgets_loosened": ", ".join(name for name in limits if _is_above(limits[name], allowed[name])),
    }


def _is_gathered(before: PartitioningFunction, after: PartitioningFunction) -> bool:
    """Whether rows of some split key are brought together."""
    return any(
        concentration(after.parts_of(key)) > concentration(before.parts_of(key)) for key in before.splits
    )


def _is_above(value: float, limit: float) -> bool:
    return value > limit and not (math.isfinite(value) and is_same(value, limit))


def _possible_verdicts(seen: Evidence) -> tuple[str, ...]:
    """
    What a plan with these figures may say of itself.

    A change of N moves items without any balancing, so that a plan that moves may still be one that balances nothing.
    """
    figures, limits = seen.figures, _limits(seen.plan, seen.figures.total_state)
    reaches = (
        figures.theta_after <= limits["max_imbalance"] + EPSILON
        and figures.after.n_routes <= limits["max_routes"]
        and not _is_above(figures.migration, limits["max_migration"])
        and all(bucket < figures.n_wanted for bucket in figures.new_buckets)
    )
    still, moving = (
        ("balanced already", "reaches the target")
        if reaches
        else ("cannot improve within the budgets", "improves")
    )
    if figures.before.n_buckets != figures.n_wanted:
        return (still, moving)
    return (moving,) if figures.moves else (still,)
