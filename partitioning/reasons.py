"""Says in sentences what a verdict rests on: the bucket, the item, the number."""

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from partitioning import measures
from partitioning.bounds import bound_plan
from partitioning.payback import weigh
from partitioning.plan import Plan
from partitioning.ranking import Limits
from partitioning.request import PlanRequest
from partitioning.verdict import forced_migration


def give_reasons(plan: Plan, given_up: NDArray[np.int64]) -> tuple[str, ...]:
    """Sentences, most telling first. Never empty. Items are named by position, counted from 0."""
    reasons = [_what_became(plan)]
    if not measures.is_within(plan.imbalance, plan.request.budgets.max_imbalance):
        reasons += _why_not_even(plan)
    reasons += _why_over_limit(plan)
    reasons += _what_cannot_move(plan)
    if given_up.size:
        reasons.append(_what_was_given_up(plan, given_up))
    reasons += _what_it_pays(plan)
    return tuple(reasons)


def _what_became(plan: Plan) -> str:
    request, load = plan.request, plan.load
    before = measures.loads(request, request.start)
    if not load.any():
        return f"no bucket of {request.n_buckets} has any load"
    hottest = hottest_bucket(request, load)
    now = f"bucket {hottest} is the hottest with {_in_means(request, load[hottest])}"
    goal = f"the goal is {1 + request.budgets.max_imbalance:.4g}"
    if np.array_equal(plan.owner, request.start):
        return f"{now}; {goal}"
    was = hottest_bucket(request, before)
    return f"bucket {was} was the hottest with {_in_means(request, before[was])}; now {now}; {goal}"


def _why_not_even(plan: Plan) -> Iterator[str]:
    request, goal = plan.request, plan.request.budgets.max_imbalance
    heaviest = int(request.cost.argmax())
    widest = float(request.capacity[request.is_live].max())
    if not measures.is_within(_means(plan, heaviest) / widest - 1, goal):
        share = float(request.cost[heaviest]) / float(request.cost.sum())
        yield (
            f"item {heaviest} alone is {_means(plan, heaviest):.4g} mean buckets ({share:.1%} of all cost);"
            " split it or raise capacity"
        )
    elif not measures.is_within(plan.bounds.imbalance, goal):
        yield (
            f"no placement of these {request.n_items} items in {request.n_buckets} buckets has an imbalance below"
            f" {plan.bounds.imbalance:.4g}; use finer items, or another number of buckets"
        )
    if not measures.is_within(plan.imbalance, plan.bounds.imbalance):
        yield from _why_hottest_stays(plan)


def _why_hottest_stays(plan: Plan) -> Iterator[str]:
    request = plan.request
    limits, needed = Limits.of_request(request), bound_plan(request)
    if needed.migration > limits.migration:
        in_table = "" if math.isinf(limits.routes) else f" with {limits.routes:.0f} routes"
        yield (
            f"an imbalance of {max(limits.imbalance, needed.imbalance):.4g}{in_table} takes at least"
            f" {needed.migration:.6g} of state to move; max_migration allows {limits.migration:.6g}"
        )
    if needed.routes > limits.routes:
        yield (
            f"an imbalance of {max(limits.imbalance, needed.imbalance):.4g} takes at least {needed.routes} routes;"
            f" max_routes allows {limits.routes:.0f}"
        )
    hottest = hottest_bucket(request, plan.load)
    inside = np.flatnonzero(plan.owner == hottest)
    largest = int(inside[request.cost[inside].argmax()])
    yield (
        f"bucket {hottest} stays hot, since {plan.planner} found nothing better within the budgets;"
        f" its largest item is item {largest} with {_means(plan, largest):.4g} mean buckets"
    )


def _why_over_limit(plan: Plan) -> Iterator[str]:
    request = plan.request
    limits, forced = Limits.of_request(request), forced_migration(request)
    if plan.migration > limits.migration and forced > limits.migration:
        yield (
            f"buckets {request.n_buckets} to {request.n_buckets_before - 1} go away and hold {forced:.6g} of state;"
            f" all of it must move, though max_migration allows {limits.migration:.6g}"
        )
    elif plan.migration > limits.migration:
        yield (
            f"the change from {request.n_buckets_before} to {request.n_buckets} buckets moves {plan.migration:.6g} of"
            f" state; max_migration allows {limits.migration:.6g}, but max_routes leaves no room to hold more back"
        )
    if plan.n_routes > limits.routes:
        yield (
            f"the table has {plan.n_routes} routes, {limits.still.routes} if nothing moves; max_routes allows"
            f" {limits.routes:.0f}, but max_migration leaves no room to send more keys home"
        )


def _what_cannot_move(plan: Plan) -> Iterator[str]:
    request = plan.request
    yield from _what_is_left_to_drain(plan)
    n_stuck = int(np.count_nonzero(request.is_pinned & np.isin(plan.owner, request.drained)))
    if n_stuck:
        yield f"buckets to be drained hold {n_stuck} pinned items, which stay; unpin them to empty the buckets"
    n_forced = int(np.count_nonzero(request.is_pinned & (request.owner >= request.n_buckets)))
    if n_forced:
        yield f"pinned items that must move all the same, since their bucket goes away: {n_forced}"


def _what_is_left_to_drain(plan: Plan) -> Iterator[str]:
    """Planning again helps only what a plan can move: an item of more state than may move in any plan waits for ever."""
    request, limits = plan.request, Limits.of_request(plan.request)
    left = np.flatnonzero(~request.is_live[plan.owner] & ~request.is_pinned)
    too_large = left[request.state[left] > limits.migration]
    if left.size == 0:
        return
    still_hold = f"buckets to be drained still hold {left.size} items that may leave"
    if too_large.size:
        largest = int(too_large[request.state[too_large].argmax()])
        yield (
            f"{still_hold}, of which {too_large.size} hold more state each than max_migration lets go in any plan"
            f" ({limits.migration:.6g}); item {largest} leaves with a max_migration of {request.state[largest]:.6g}"
        )
    if too_large.size == left.size:
        return
    has_drained = np.isin(request.owner[plan.moved], request.drained).any()
    remedy = (
        "plan again, or raise max_migration or max_routes"
        if has_drained
        else "raise max_migration or max_routes"
    )
    yield f"{still_hold}; the budgets let no more go in one plan: {remedy}"


def _what_it_pays(plan: Plan) -> Iterator[str]:
    """Said of plans that balance; a drain or a change of N is not weighed against its migration."""
    is_filling = plan.request.n_buckets > plan.request.n_buckets_before
    if plan.churn.balance.size == 0 or plan.request.drained.size or is_filling:
        return
    payback = weigh(plan.request, plan.owner)
    if not payback.is_worth_it:
        yield f"the plan is {payback}"


def _what_was_given_up(plan: Plan, given_up: NDArray[np.int64]) -> str:
    request = plan.request
    costliest = int(given_up[request.cost[given_up].argmax()])
    budgets = {"max_routes": request.budgets.max_routes, "max_migration": request.budgets.max_migration}
    limits = " and ".join(f"{name}={limit}" for name, limit in budgets.items() if limit is not None)
    return (
        f"moves given up to keep {limits}: {given_up.size}; the largest is item {costliest} of bucket"
        f" {request.owner[costliest]} with {_means(plan, costliest):.4g} mean buckets"
    )


def hottest_bucket(request: PlanRequest, load: NDArray[np.float64]) -> int:
    """The bucket in use with the highest load; of equals the first."""
    return int(np.where(request.is_live, load, -np.inf).argmax())


def _means(plan: Plan, item: int) -> float:
    """The item's cost in mean loads of a bucket of capacity 1; 0 where there is no load."""
    mean = measures.mean_load(plan.request)
    return float(plan.request.cost[item]) / mean if mean > 0 else 0.0


def _in_means(request: PlanRequest, load: float) -> str:
    return f"{load / measures.mean_load(request):.4g} mean loads"
