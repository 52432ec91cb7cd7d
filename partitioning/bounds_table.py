"""
The table's price in the bound on migration: what a limit on routes adds to it.

With a price λ ≥ 0 on a route, every plan with at most A routes has migration ≥ migration + λ·(routes - A). Per item,
leaving takes S + λ from its home (a route more), S - λ from elsewhere (it may go home) and S where the home moves with a
slot, so with R routes now

    migration ≥ λ·(R - A) + the cheapest cover of every excess at these prices.

Worked: A = 0, bucket 0 must shed cost 1; its key at home has state 1, its routed key (R = 1) state 5, all costs 1. At
λ = 2: 2·1 + min(1 + 2, 5 - 2) = 5. Without the table the bound is 1.
"""

import numpy as np

from partitioning.bounds_cover import Floats, Shedding, cover_in_parts
from partitioning.tracking.numbering import number_codes

MAX_DOUBLINGS = 64
N_HALVINGS = 40
MAX_SINGLE_ITEMS = 5_000  # above, λ is looked for over classes of like items
CLASSES_PER_OCTAVE = 8


def route_prices(shedding: Shedding, *, n_too_many: float) -> tuple[float, ...]:
    """
    The λ worth trying: 0, and the two next to the highest bound if the table binds.

    ``n_too_many`` is R - A. The bound is concave in λ, and its slope the routes of the cheapest cover above A: so λ is
    doubled until the slope is no longer positive, then halved in. If it stays positive, no plan keeps the table, and
    no price on it means anything.
    """
    if n_too_many + np.count_nonzero(shedding.routes > 0) <= 0:
        return (0.0,)  # the table holds whatever leaves
    items = _classed(shedding) if shedding.cost.size > MAX_SINGLE_ITEMS else shedding
    if _slope(items, 0.0, n_too_many) <= 0:
        return (0.0,)
    low, high = 0.0, float(shedding.state.mean()) or 1.0
    for _ in range(MAX_DOUBLINGS):
        if _slope(items, high, n_too_many) <= 0:
            break
        low, high = high, 2 * high
    else:
        return (0.0,)
    for _ in range(N_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if _slope(items, middle, n_too_many) > 0 else (low, middle)
    return 0.0, low, high


def _slope(items: Shedding, route_price: float, n_too_many: float) -> float:
    return n_too_many + float((cover_in_parts(items, items.price(route_price)) * items.routes).sum())


def _classed(items: Shedding) -> Shedding:
    """The same with like items summed: λ needs no more, and the bound is taken on the items themselves."""
    routes = items.routes.astype(np.int64)  # of a slot with its keys: as many as there are keys
    routes -= routes.min(initial=0)
    width = int(routes.max(initial=0)) + 1
    code, n_codes = items.bucket * width + routes, items.excess.size * width
    for amount in (items.cost, items.state):
        octave = np.log2(amount, out=np.full(amount.size, -np.inf), where=amount > 0)
        step = np.round(CLASSES_PER_OCTAVE * np.maximum(octave, -1e3)).astype(np.int64)
        step -= step.min(initial=0)
        width = int(step.max(initial=0)) + 1
        _, code, _ = number_codes(code * width + step, n_codes=n_codes * width)
        n_codes = int(code.max(initial=0)) + 1
    first = np.zeros(n_codes, dtype=np.int64)
    first[code] = np.arange(code.size)

    def total(amount: Floats) -> Floats:
        return np.bincount(code, weights=amount, minlength=n_codes).astype(np.float64)

    return Shedding(
        bucket=items.bucket[first],
        cost=total(items.cost),
        state=total(items.state),
        routes=total(items.routes),
        excess=items.excess,
    )
