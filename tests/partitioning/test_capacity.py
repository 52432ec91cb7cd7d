"""How many workers: Eq. 1 of Balkesen et al., its monotony, and the verdicts."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from partitioning.capacity import Demand, RowCosts, Workers, recommend_workers, size_workers
from partitioning.errors import CapacityError

FEW = settings(max_examples=200, deadline=None, derandomize=True)
COSTS = RowCosts(load=0.0001, process=0.0004, merge=0.0005, sent_on=1000, headroom=0.2)


def test_eq_1_worked():
    """10,000 rows a second at 0.4 ms keep 4 nodes busy, 5 with a fifth kept free; these send 5,000 rows to be merged."""
    workers = size_workers(1_000_000, 100, COSTS)

    assert workers == Workers(loaders=2, buckets=5, mergers=4)  # 1.25; 5; 5 * 1000 * 0.0005 / 0.8 = 3.125


def test_eq_1_holds_and_one_worker_less_would_break_it():
    """The equations as printed: utilisation at most 1 - H with the answer, above it with one less."""
    workers = size_workers(7_654_321, 60, COSTS)
    rate = 7_654_321 / 60

    assert rate / workers.buckets * COSTS.process <= 0.8 < rate / (workers.buckets - 1) * COSTS.process
    merged = workers.buckets * COSTS.sent_on * COSTS.merge
    assert merged / workers.mergers <= 0.8 < merged / (workers.mergers - 1)


def test_a_whole_number_is_not_rounded_up_for_the_sake_of_floats():
    """0.7 / (1 - 0.9) is 7.000000000000002 in floats: nobody pays for an eighth bucket because of it."""
    assert size_workers(700, 1, replace(COSTS, process=0.001, headroom=0.9)).buckets == 7


def test_nothing_to_do_needs_a_table_all_the_same():
    """A bucket and a loader always; a merger only where something is merged."""
    assert size_workers(0, 60, replace(COSTS, sent_on=0)) == Workers(loaders=1, buckets=1, mergers=0)


amounts = st.floats(0, 1e6)
small = st.floats(0, 1e-2)


@FEW
@given(
    rows=amounts, seconds=st.floats(1, 1e4), costs=st.tuples(small, small, small, amounts, st.floats(0, 0.9)),
    more=st.floats(1, 3), field=st.sampled_from(["rows", "seconds", "load", "process", "merge", "sent_on", "headroom"]),
)  # fmt: skip
def test_more_of_anything_never_needs_fewer(rows, seconds, costs, more, field):
    """Monotone in every argument: a recommendation that shrinks as the load grows would never be believed again."""
    load, process, merge, sent_on, headroom = costs
    given_costs = RowCosts(load=load, process=process, merge=merge, sent_on=sent_on, headroom=headroom)
    before = size_workers(rows, seconds, given_costs)
    if field == "rows":
        after = size_workers(rows * more, seconds, given_costs)
    elif field == "seconds":
        after = size_workers(rows, seconds / more, given_costs)
    else:
        value = min(0.99, headroom * more) if field == "headroom" else getattr(given_costs, field) * more
        after = size_workers(rows, seconds, replace(given_costs, **{field: value}))

    assert after.loaders >= before.loaders
    assert after.buckets >= before.buckets
    assert after.mergers >= before.mergers


@pytest.mark.parametrize(
    ("buckets", "verdict"),
    [(4, "under-provisioned"), (5, "right-provisioned"), (8, "right-provisioned"), (9, "over-provisioned")],
)
def test_right_is_between_what_is_expected_and_what_may_come(buckets, verdict):
    """1.0 million rows are expected, 1.6 million may come: 5 to 8 buckets."""
    demand = Demand(rows=1_000_000, rows_high=1_600_000, seconds=100)

    recommendation = recommend_workers(Workers(loaders=2, buckets=buckets, mergers=4), demand, COSTS)

    line = next(line for line in recommendation.lines if line.what == "buckets")
    assert (line.needed, line.enough, line.verdict) == (5, 8, verdict)
    assert line.reason == ("1,000,000 rows (at most 1,600,000) in 100 s at 0.0004 s a row, 20% kept free")
    assert recommendation.is_right == (verdict == "right-provisioned")


def test_the_heaviest_key_limits_how_many_buckets_are_of_use():
    """A key of 300 in 1,000 rows: with four buckets it alone is above the mean, and splitting it is what would help."""
    demand = Demand(rows=1000, rows_high=1000, seconds=1, heaviest_rows=300)

    assert recommend_workers(Workers(loaders=1, buckets=1, mergers=0), demand, COSTS).useful_buckets == 3
    next_to_nothing = replace(demand, heaviest_rows=1e-310)  # more than a float can hold
    assert (
        recommend_workers(Workers(loaders=1, buckets=1, mergers=0), next_to_nothing, COSTS).useful_buckets
        > 1e299
    )
    without = replace(demand, heaviest_rows=0)
    assert recommend_workers(Workers(loaders=1, buckets=1, mergers=0), without, COSTS).useful_buckets is None


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: size_workers(-1, 1, COSTS), r"size_workers\.rows must be a finite number, 0 or more\. Got -1"),
        (lambda: size_workers(1, 0, COSTS), r"size_workers\.seconds must be a finite number above 0\. Got 0"),
        (lambda: size_workers(10**400, 1, COSTS), r"size_workers\.rows must be a finite number"),
        (lambda: size_workers(1e299, 1e-299, COSTS), r"The workers needed must be a number\. Got more than a float"),
        (lambda: replace(COSTS, headroom=1.0), r"RowCosts\.headroom must be .* below 1\. Got 1\.0"),
        (lambda: replace(COSTS, merge=float("inf")), r"RowCosts\.merge must be .* Got inf"),
        (lambda: replace(COSTS, load=float("nan")), r"RowCosts\.load must be .* Got nan"),
        (lambda: Demand(rows=2, rows_high=1, seconds=1), r"Demand\.rows_high must be at least rows\. Got 1 and 2"),
        (
            lambda: Demand(rows=2, rows_high=2, seconds=1, heaviest_rows=3),
            r"Demand\.heaviest_rows must be at most rows\. Got 3 of 2",
        ),
        (lambda: Workers(loaders=1, buckets=1.5, mergers=0), r"Workers\.buckets must be a whole number"),
    ],
)  # fmt: skip
def test_sizes_that_cannot_be_are_refused(make, message):
    """Which field, what it must be, what it was."""
    with pytest.raises(CapacityError, match=message):
        make()
