"""Hypothesis strategies for plan requests: all kinds of items, sizes and budgets that planners must survive."""

from hypothesis import strategies as st

from partitioning import Budgets, PlanRequest
from partitioning.request import NO_SLOT

# Whole numbers (ties and exact sums), fractions, zeros, and a heavy tail.
amounts = st.one_of(
    st.integers(0, 9),
    st.floats(0, 100, allow_nan=False, width=32),
    st.sampled_from([0, 1, 1000]),
)
budgets = st.builds(
    Budgets,
    max_imbalance=st.sampled_from([0.0, 0.08, 0.3, 1.0]),
    max_routes=st.none() | st.integers(0, 8),
    max_migration=st.none() | st.sampled_from([0.0, 0.05, 0.29, 1.0, 2, 40]),
)
no_limits = st.builds(Budgets, max_imbalance=st.sampled_from([0.0, 0.08, 0.3]))


@st.composite
def requests(draw, *, budgets=budgets, change_of_n=True, slots=True, max_items=16):
    """A request of 0 to ``max_items`` items and 1 to 5 buckets; half the keys sit at home."""
    n_items = draw(st.integers(0, max_items))
    n_buckets = draw(st.integers(1, 5))
    before = draw(st.integers(1, 5)) if change_of_n and draw(st.booleans()) else n_buckets
    n_slots = draw(st.integers(0, n_items)) if slots else 0

    def column(values):
        return draw(st.lists(values, min_size=n_items, max_size=n_items))

    home = column(st.integers(0, n_buckets - 1))
    home_before = home if before == n_buckets else column(st.integers(0, before - 1))
    elsewhere = column(st.none() | st.integers(0, before - 1))
    in_slot = column(st.integers(NO_SLOT, n_slots - 1))
    return PlanRequest.of_items(
        cost=column(amounts),
        state=column(amounts),
        owner=[
            there if there is not None else at_home
            for there, at_home in zip(elsewhere, home_before, strict=True)
        ],
        home=home,
        n_buckets=n_buckets,
        is_slot=[i < n_slots for i in range(n_items)],
        slot=[NO_SLOT if i < n_slots else in_slot[i] for i in range(n_items)],
        budgets=draw(budgets),
        n_buckets_before=before,
        home_before=home_before,
    )
