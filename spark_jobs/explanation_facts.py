"""Whether a plan's explanation says what is so: its figures computed a second time, in plain Python."""

import json
import math
from collections.abc import Iterator
from math import fsum
from typing import Any

from spark_jobs.control_tables import Row
from spark_jobs.plan_figures import Figures, theta

CAUSES = ("relief", "room", "cleaning", "change of N", "split")
EPSILON = 1e-9  # two sums of the same floats may differ by this much, relative to what is summed


def wrong_explanations(plan: Row, moves: list[Row], figures: Figures) -> str:
    """Names of what the explanation gets wrong, with commas; empty if nothing."""
    try:
        said = json.loads(plan["explanation"])
        return ", ".join(_wrong(said, plan, moves, figures))
    except (TypeError, ValueError, LookupError, AttributeError):
        return "explanation"


def _wrong(said: dict[str, Any], plan: Row, moves: list[Row], figures: Figures) -> Iterator[str]:
    certificate, payback = said["certificate"], said["payback"]
    expected = {
        "certificate.imbalance": (certificate["imbalance"], figures.theta_after),
        "certificate.migration": (certificate["migration"], figures.migration),
        "payback.saved": (payback["saved"], figures.predictions["cost_saved"]),
        "payback.spent": (payback["spent"], figures.predictions["cost_spent"]),
    }
    yield from (name for name, pair in expected.items() if not _is_near(*pair))
    if not 0 <= certificate["imbalance_bound"] <= figures.theta_after + EPSILON:
        yield "certificate.imbalance_bound"
    given, hot = (
        {bucket["bucket"]: bucket["load"] for bucket in said["hot_buckets"]},
        hot_buckets(plan["max_imbalance"], figures),
    )
    if given.keys() != hot.keys() or not all(_is_near(given[bucket], hot[bucket]) for bucket in hot):
        yield "hot_buckets"
    if any(not _is_near(move["imbalance_without"], theta_without(move, figures)) for move in moves):
        yield "moves.imbalance_without"
    if not all(_is_possible(move["cause"], move["from_bucket"], figures) for move in moves):
        yield "moves.cause"
    yield from wrong_capacity(said.get("capacity"), figures)


def wrong_capacity(said: dict[str, Any] | None, figures: Figures) -> Iterator[str]:
    """What of the recommendation does not follow from the numbers it names; a plan that makes none is older than it."""
    if said is None:
        return
    if not _is_near(said["expected"], figures.total_cost):
        yield "capacity.expected"
    high = said["expected"] if said["high"] is None else said["high"]
    for line in said["lines"]:
        needed, enough = (_workers(line["what"], rows, said) for rows in (said["expected"], high))
        verdict = "under" if line["present"] < needed else "over" if line["present"] > enough else "right"
        is_other = line["what"] == "buckets" and line["present"] != figures.n_wanted
        told = line["needed"], line["enough"], line["verdict"]
        if is_other or told != (needed, enough, f"{verdict}-provisioned"):
            yield f"capacity.{line['what']}"


def _workers(what: str, rows: float, said: dict[str, Any]) -> int:
    """Eq. 1: workers so that each is busy for at most the share of its time that is not kept free."""
    free = 1.0 - said["headroom"]
    if what == "mergers":
        buckets = _workers("buckets", rows, said)
        return _whole(buckets * said["sent_on"] * said["merge"]["seconds"] / free)
    seconds = said["load" if what == "loaders" else "process"]["seconds"]
    return max(1, _whole(rows * seconds / said["seconds"] / free))


def _whole(workers: float) -> int:
    """The next whole number, but for what floats add."""
    return math.ceil(workers * (1 - EPSILON))


def hot_buckets(goal: float, figures: Figures) -> dict[int, float]:
    """The buckets in use above the goal, and the load of each in means."""
    mean = fsum(figures.load_after) / figures.n_wanted
    return {
        bucket: load / mean
        for bucket, load in enumerate(figures.load_after[: figures.n_wanted])
        if mean > 0 and load / mean - 1.0 > goal + EPSILON
    }


def _is_possible(cause: str, source: int, figures: Figures) -> bool:
    """What leaves a bucket that goes away leaves it for that, and nothing else does."""
    return cause == "drain" if source >= figures.n_wanted else cause in CAUSES


def theta_without(move: Row, figures: Figures) -> float:
    """θ with this one move not made."""
    load = list(figures.load_after)
    load[move["to_bucket"]] -= move["cost"]
    load[move["from_bucket"]] += move["cost"]
    return theta(load, figures.n_wanted)


def _is_near(given: float | None, expected: float) -> bool:
    return given is not None and abs(given - expected) <= EPSILON * max(1.0, abs(expected))
