"""The figures plans are judged by, and Gedik's, on numbers worked by hand."""

import numpy as np
import pytest

from partitioning import PlanRequest, PlanRequestError, measures, utilities
from partitioning.churn import churn_by_cause
from partitioning.request import NO_SLOT


def loads(*values):
    return np.array(values, dtype=np.float64)


def test_imbalance_has_both_signs():
    """Overload is what is bounded, underload is what is wasted: 6, 3, 3 has a mean of 4."""
    load = loads(6, 3, 3)

    assert measures.overload(load) == 0.5
    assert measures.underload(load) == 0.25
    assert measures.max_over_mean(load) == 1.5
    assert measures.max_over_min(load) == 2.0


def test_an_empty_bucket_is_a_full_underload():
    """An idle worker is 100 % below the mean, and no ratio to it is finite."""
    assert measures.underload(loads(2, 0)) == 1.0
    assert measures.max_over_min(loads(2, 0)) == float("inf")


@pytest.mark.parametrize("load", [loads(0, 0, 0), loads(5, 5), loads(7)])
def test_even_loads_have_no_imbalance(load):
    """No load, equal loads and a single bucket are even: nothing may divide by zero, or call for a plan."""
    assert measures.overload(load) == 0
    assert measures.underload(load) == 0
    assert measures.max_over_mean(load) == 1
    assert measures.max_over_min(load) == 1


def test_rounding_never_makes_a_negative_imbalance():
    """Three loads of 0.1 have a mean above 0.1 in floats; θ must still not fall below 0."""
    load = loads(0.1, 0.1, 0.1)

    assert load.mean() > load.max()
    assert measures.overload(load) == 0
    assert measures.underload(load) == pytest.approx(0, abs=1e-15)


def test_load_counts_empty_buckets():
    """A bucket without items has load 0, and belongs into the mean."""
    load = measures.load_per_bucket(loads(1, 2, 4), np.array([0, 2, 2]), 4)

    assert load.tolist() == [1, 0, 6, 0]


SLOTTED = PlanRequest.of_items(
    cost=[1, 1, 1, 1, 1],
    state=[1, 2, 4, 8, 16],
    owner=[0, 1, 0, 1, 1],
    home=[0, 1, 0, 0, 0],
    n_buckets=2,
    is_slot=[True, True, False, False, False],
    slot=[NO_SLOT, NO_SLOT, 0, 0, NO_SLOT],
)


@pytest.mark.parametrize(
    ("owner", "home", "routes"),
    [
        pytest.param([0, 1, 0, 1, 1], [0, 1, 0, 0, 0], 2, id="as-it-is"),
        pytest.param([1, 1, 0, 1, 1], [1, 1, 1, 1, 0], 2, id="slot-leaves-one-key-and-joins-another"),
        pytest.param([1, 1, 1, 1, 0], [1, 1, 1, 1, 0], 0, id="everything-at-home"),
    ],
)
def test_home_of_a_key_is_wherever_its_slot_goes(owner, home, routes):
    """A slot that moves needs no route, a key it leaves behind does, and a key it joins loses one."""
    owner = np.array(owner)

    assert measures.home_after(SLOTTED, owner).tolist() == home
    assert measures.count_routes(SLOTTED, owner) == routes


def test_migration_is_the_state_of_what_changes_bucket():
    """Slots and keys alike, counted from the bucket that holds them today."""
    assert measures.migration(SLOTTED, np.array([1, 1, 0, 1, 0])) == 1 + 16


def test_churn_has_one_cause_a_move():
    """Users want to know why data travels: N changed, for balance, or to keep the table small."""
    request = PlanRequest.of_keys(
        cost=[1] * 5,
        state=[1, 2, 4, 8, 16],
        owner=[2, 0, 0, 1, 1],
        home_before=[2, 0, 1, 1, 0],
        home=[0, 0, 1, 1, 0],
        n_buckets=2,
        n_buckets_before=3,
    )
    churn = churn_by_cause(request, np.array([1, 1, 1, 0, 1]))

    assert churn.change_of_n.tolist() == [0]
    assert churn.balance.tolist() == [1, 3]
    assert churn.cleaning.tolist() == [2]
    assert [churn.state(cause) for cause in ("change_of_n", "balance", "cleaning")] == [1, 10, 4]


def test_churn_counts_a_slot_as_balance():
    """A slot is always at home: moving it can never clean the table."""
    churn = churn_by_cause(SLOTTED, np.array([1, 1, 1, 1, 0]))

    assert churn.balance.tolist() == [0, 2]
    assert churn.cleaning.tolist() == [4]


# [G] Fig. 1: X, Z, V, R, U, Y, W, L. The figure prints 24 for {U, Y}; 4² + 3² is 25.
FREQUENCY = loads(5, 3, 2, 1, 4, 3, 3, 1)


@pytest.mark.parametrize(
    ("before", "after", "linear", "squared", "migration"),
    [
        pytest.param(
            ["XZVR", "UYWL"],
            ["XZ", "UY", "WVRL"],
            [[11, 11], [8, 7, 7]],
            [[39, 35], [34, 25, 15]],
            7,
            id="for-the-network",
        ),
        pytest.param(
            ["XZV", "UYWLR"],
            ["X", "UY", "WZVRL"],
            [[10, 12], [5, 7, 10]],
            [[38, 36], [25, 25, 24]],
            10,
            id="for-processing",
        ),
        pytest.param(
            ["XZV", "UYWLR"],
            ["XRL", "UY", "WZV"],
            [[10, 12], [7, 7, 8]],
            [[38, 36], [27, 25, 22]],
            10,
            id="for-both",
        ),
    ],
)
def test_gedik_figure_1(before, after, linear, squared, migration):
    """The paper's toy example comes out, all rows, with its misprints corrected."""

    def owner_of(buckets):
        return np.array([next(i for i, keys in enumerate(buckets) if key in keys) for key in "XZVRUYWL"])

    for owner, expected in ((owner_of(before), 0), (owner_of(after), 1)):
        for function, result in ((utilities.linear, linear), (utilities.quadratic, squared)):
            load = measures.load_per_bucket(function(FREQUENCY), owner, owner.max() + 1)
            assert load.tolist() == result[expected]
            assert utilities.max_over_min(load) == max(result[expected]) / min(result[expected])
    request = PlanRequest.of_keys(
        cost=FREQUENCY,
        state=FREQUENCY,
        owner=owner_of(before),
        home=owner_of(before),
        n_buckets=3,
        n_buckets_before=2,
    )
    assert measures.migration(request, owner_of(after)) == migration
    moved = owner_of(after) != owner_of(before)
    assert utilities.relative_migration(FREQUENCY, moved, 3) == pytest.approx(migration / (22 / 3))


@pytest.mark.parametrize("n_buckets", [2, 3, 10, 40])
@pytest.mark.parametrize("alpha", [1.0, 1.2, 1.28, 4.0])
def test_gedik_equation_15_agrees_with_its_derivation(alpha, n_buckets):
    """The simplified and the unsimplified tolerance are the same number; the planners rely on it."""
    unsimplified = alpha * n_buckets / (alpha + n_buckets - 1) - 1

    assert utilities.tolerated_deviation(alpha, n_buckets) == pytest.approx(unsimplified, abs=1e-12)


def test_gedik_section_3_1_example():
    """10 GB on four channels of 3 GB is alpha = 9/7 = 1.28: no channel then holds more than 3 GB."""
    alpha = 3 * 3 / (10 - 3)

    assert 10 / 4 * (1 + utilities.tolerated_deviation(alpha, 4)) == pytest.approx(3)
    assert utilities.tolerated_deviation(alpha, 1) == 0


def test_relative_imbalance_is_a_geometric_mean_over_any_resources():
    """b = 1 is exactly what is tolerated; resources can have any function, and their own alpha."""
    frequency, owner = loads(4, 1, 1), np.array([0, 1, 1])
    functions = [utilities.constant, utilities.linear, utilities.quadratic, np.sqrt]
    per_resource = [measures.load_per_bucket(function(frequency), owner, 2) for function in functions]

    ratios = [utilities.max_over_min(load) for load in per_resource]
    assert ratios == [2, 2, 8, 1]
    assert utilities.relative_imbalance(per_resource, [2, 2, 8, 1]) == pytest.approx(1)
    assert utilities.relative_imbalance(per_resource, [1, 1, 1, 1]) == pytest.approx(32 ** (1 / 4))


def test_max_over_min_of_many_placements_at_once():
    """Candidates are judged in one call: infinite with an idle bucket, 1 without any load."""
    assert utilities.max_over_min([[4, 2], [4, 0], [0, 0]]).tolist() == [2, np.inf, 1]


def test_balance_penalty_is_the_spread_in_tolerated_spreads():
    """rho = (6 - 2) / (0.5 · 4) = 2; even loads cost nothing, and no tolerance makes any spread infinitely bad."""
    assert utilities.balance_penalty([6, 4, 2], 0.5) == 2
    assert utilities.balance_penalty([[6, 4, 2], [4, 4, 4], [0, 0, 0]], 0.5).tolist() == [2, 0, 0]
    assert utilities.balance_penalty([[6, 4, 2], [4, 4, 4]], 0.0).tolist() == [np.inf, 0]


def test_penalties_combine_over_the_resources_left_in():
    """The exponent is 1 / (resources left in); with none left every placement is as good."""
    assert utilities.geometric_mean([4.0, 9.0]) == pytest.approx(6)
    assert utilities.geometric_mean([8.0]) == 8
    assert utilities.geometric_mean([[0.0, 1.0], [np.inf, 4.0]]).tolist() == [0, 2]
    assert utilities.geometric_mean([]) == 0


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("U_A", 2.0),
        ("U_APM", 5.0),
        ("U_APLM", 2 + np.log(4)),
        ("U_ATM", 8.0),
        ("U_ATLM", 2 * (1 + np.log(4))),
    ],
)
def test_five_utilities(name, value):
    """Section 4.3 with rho = 2 and gamma = 3, for one candidate and for many."""
    assert utilities.utility(name, balance_penalty=2, migration_penalty=3) == pytest.approx(value)
    many = utilities.utility(name, balance_penalty=[2, 2], migration_penalty=[3, 3])
    assert many.tolist() == pytest.approx([value, value])


def test_unknown_utility_is_refused():
    """A misspelt utility must not silently rank by another."""
    with pytest.raises(PlanRequestError, match=r"utility\.name must be one of U_A, .*Got 'U_X'\. U_APM is"):
        utilities.utility("U_X", balance_penalty=1, migration_penalty=1)


def test_relative_migration_without_state_is_nothing():
    """Nothing to move is not an infinite multiple of nothing."""
    assert utilities.relative_migration(loads(0, 0), np.array([True, False]), 2) == 0
