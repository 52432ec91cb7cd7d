"""MinMig: Alg. 3."""

import math

import numpy as np
import pytest
from hypothesis import given, settings

from partitioning.errors import PlanRequestError
from partitioning.planners.fang_phases import largest_gamma_first
from partitioning.planners.min_mig import MinMigOptions, plan_min_mig
from tests.partitioning.fang_cases import make_request, moved_on, reference_of, requests, scaled


@settings(max_examples=100, deadline=None, derandomize=True)
@given(requests())
def test_min_mig_equals_the_printed_algorithm(request_):
    """Alg. 3 word for word, with gamma compared exactly."""
    reference = reference_of(request_)

    plan = plan_min_mig(request_)

    assert plan.owner.tolist() == reference.balance(request_.owner.tolist(), reference.gamma_first)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(requests(max_keys=14))
def test_min_mig_ignores_the_units(request_):
    """Gammas that tie must tie in every unit, or the same table would get another plan in kilobytes."""
    expected = plan_min_mig(request_).owner.tolist()
    in_units = [
        plan_min_mig(scaled(request_, cost=c, state=s)).owner.tolist() for c, s in [(0.1, 3.3), (7, 1e-3)]
    ]

    assert in_units == [expected] * 2


@pytest.mark.parametrize(
    ("beta", "expected"),
    [pytest.param(1.0, [0.0, 0.0], id="alike"), pytest.param(0.5, [-0.5, -0.5], id="state-matters-more")],
)
def test_gamma_of_the_papers_two_keys(beta, expected):
    """Sec. III-B: with c = S, k1 and k2 tie at β = 1; at β = 0.5 the smaller key has the higher priority."""
    cost = np.array([7.0, 4.0])
    priority = largest_gamma_first(cost, cost, beta=beta)(np.array([0, 1]))

    assert priority == pytest.approx(np.array(expected) * np.log(cost))
    assert (priority[1] > priority[0]) == (beta < 1)


@pytest.mark.parametrize("unit", [1.0, 0.1, 3.3, 1e-7])
def test_equal_gammas_tie_in_every_unit(unit):
    """c / S is a third for all of these; rounding must not rank them, or a unit would pick who travels."""
    cost = np.array([1.0, 2, 3, 5, 7, 11, 13]) * unit
    priority = largest_gamma_first(cost, 3 * cost, beta=1.0)(np.arange(7))

    assert np.unique(priority).size == 1


@pytest.mark.parametrize(
    ("beta", "moved"), [pytest.param(0.0, [1], id="smallest-state"), pytest.param(1.5, [0], id="default")]
)
def test_beta_weighs_cost_against_state(beta, moved):
    """β = 0 looks at state alone; the paper's 1.5 prefers one heavy key to several light ones."""
    request = make_request([6, 3, 3], [0, 0, 0], state=[4, 2, 3], n_buckets=2, theta=0.5)

    assert plan_min_mig(request, MinMigOptions(beta=beta)).moved.tolist() == moved


def test_a_key_without_state_moves_first():
    """It moves for nothing: S = 0 is infinite priority, not a division by zero."""
    request = make_request([5, 5], [0, 0], state=[1, 0], n_buckets=2)

    assert plan_min_mig(request).moved.tolist() == [1]


@settings(max_examples=60, deadline=None, derandomize=True)
@given(requests(max_keys=14))
def test_min_mig_leaves_its_own_balanced_answer_alone(request_):
    """Planning twice must not move data twice."""
    plan = plan_min_mig(request_)

    if plan.imbalance <= request_.budgets.max_imbalance:
        assert plan_min_mig(moved_on(request_, plan.owner)).moved.size == 0


@pytest.mark.parametrize("beta", [-1, math.nan, math.inf, "1.5", True])
def test_beta_is_checked(beta):
    """A weight that is no number would reorder every move silently."""
    with pytest.raises(
        PlanRequestError, match=r"MinMigOptions.beta must be a finite number, 0 or more\. Got"
    ):
        MinMigOptions(beta=beta)
