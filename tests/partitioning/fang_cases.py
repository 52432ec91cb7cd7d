"""Small requests for the planners of Fang et al., drawn by hypothesis."""

import numpy as np
from hypothesis import strategies as st

from partitioning.budgets import Budgets
from partitioning.request import PlanRequest
from tests.partitioning.fang_reference import Reference

THETAS = ("0", "0.05", "0.1", "0.25", "1")


@st.composite
def requests(draw, *, max_keys=9, max_cost=9, max_state=6):
    """Whole costs and states, many of them equal or 0, any placement, any budget of routes."""
    n_keys = draw(st.integers(0, max_keys))
    n_buckets = draw(st.integers(1, 4))

    def whole(upper):
        return draw(st.lists(st.integers(0, upper), min_size=n_keys, max_size=n_keys))

    theta = draw(st.sampled_from(THETAS))
    budgets = Budgets(max_imbalance=float(theta), max_routes=draw(st.none() | st.integers(0, 4)))
    return PlanRequest.of_keys(
        cost=np.array(whole(max_cost), dtype=float),
        state=np.array(whole(max_state), dtype=float),
        owner=np.array(whole(n_buckets - 1), dtype=np.int64),
        home=np.array(whole(n_buckets - 1), dtype=np.int64),
        n_buckets=n_buckets,
        budgets=budgets,
    )


def reference_of(request):
    return Reference(
        cost=request.cost.tolist(),
        state=request.state.tolist(),
        home=request.home.tolist(),
        n=request.n_buckets,
        theta=f"{request.budgets.max_imbalance:g}",
    )


def scaled(request, *, cost=1.0, state=1.0):
    """The same request in other units."""
    return PlanRequest.of_keys(
        cost=request.cost * cost,
        state=request.state * state,
        owner=request.owner,
        home=request.home,
        n_buckets=request.n_buckets,
        budgets=request.budgets,
    )


def moved_on(request, owner):
    """The same request after a plan was carried out."""
    return PlanRequest.of_keys(
        cost=request.cost,
        state=request.state,
        owner=owner,
        home=request.home,
        n_buckets=request.n_buckets,
        budgets=request.budgets,
    )


def make_request(cost, owner, *, n_buckets, state=None, home=None, theta=0.0, max_routes=None):
    """A request of keys from lists; state is the cost and home the owner unless said otherwise."""
    return PlanRequest.of_keys(
        cost=np.array(cost, dtype=float),
        state=np.array(cost if state is None else state, dtype=float),
        owner=np.array(owner, dtype=np.int64),
        home=np.array(owner if home is None else home, dtype=np.int64),
        n_buckets=n_buckets,
        budgets=Budgets(max_imbalance=theta, max_routes=max_routes),
    )
