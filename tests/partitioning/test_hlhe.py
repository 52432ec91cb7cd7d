"""HLHE discretisation (Sec. IV-B)."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from partitioning.errors import PlanRequestError
from partitioning.tracking.hlhe import classify, discretise

DEGREES = st.sampled_from([1, 2, 4, 8, 64])


def printed_hlhe(values, degree):
    """The two steps of Sec. IV-B, one value at a time, exact."""
    order = sorted((i for i, v in enumerate(values) if v > 0), key=lambda i: (-values[i], i))
    rounded = [Fraction(0)] * len(values)
    if not order:
        return rounded
    unit = Fraction(values[order[-1]])
    s = math.floor(Fraction(values[order[0]]) / unit / degree)
    ladder = [Fraction(j * degree) for j in range(s, 0, -1)]
    ladder += [Fraction(2**j) for j in range(degree.bit_length() - 2, -1, -1)]
    deviation = Fraction(0)
    for i in order:
        x = Fraction(values[i]) / unit
        if x >= ladder[0]:
            choices = [ladder[0]]
        else:
            j = next(j for j in range(1, len(ladder)) if ladder[j - 1] > x >= ladder[j])
            choices = [ladder[j], ladder[j - 1]]  # the smaller first: min() keeps it in a tie
        rounded[i] = min(choices, key=lambda y: abs(deviation + x - y))
        deviation += x - rounded[i]
        rounded[i] *= unit
    return rounded


@settings(max_examples=120, deadline=None, derandomize=True)
@given(st.lists(st.integers(0, 40), max_size=40), DEGREES)
def test_hlhe_equals_the_printed_method(values, degree):
    """Runs of equal values are done in one formula: it must choose as the greedy does, value by value."""
    values = [v if v != 1 else 4 for v in values] if degree == 64 else values  # a unit other than 1, too
    exact_unit = min((v for v in values if v > 0), default=1) in {1, 2, 4, 8, 16, 32}
    if exact_unit:
        assert discretise(np.array(values, dtype=float), degree=degree).tolist() == printed_hlhe(
            values, degree
        )


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.lists(st.floats(0.001, 1000), min_size=1, max_size=60), DEGREES)
def test_every_value_becomes_a_representative_and_the_total_survives(values, degree):
    """What the planner relies on: few different values, neighbours of the true ones, and loads that stay right."""
    array = np.array(values)
    unit = array.min()
    counted, rounded = array / unit, discretise(array, degree=degree) / unit
    s = math.floor(round(counted.max(), 6) / degree)
    is_linear = np.isclose(rounded % degree, 0) | np.isclose(rounded % degree, degree)
    is_power = np.isclose(np.exp2(np.round(np.log2(rounded))), rounded) & (rounded <= degree + 1e-6)

    assert np.all(is_linear | is_power)
    assert np.all(np.abs(counted - rounded) <= np.maximum(degree, counted) + 1e-5)
    n_above = int(np.count_nonzero(counted >= max(s * degree, degree / 2)))
    assert abs((counted - rounded).sum()) <= max(degree / 2, degree * n_above) + 1e-3


def test_zero_stays_zero():
    """A key that cost nothing must not become load, nor set the unit."""
    assert discretise(np.array([0.0, 6.0, 0.0, 3.0]), degree=1).tolist() == [0.0, 6.0, 0.0, 3.0]


@pytest.mark.parametrize(
    ("values", "degree", "expected"),
    [
        pytest.param([], 4, [], id="none"),
        pytest.param([0.0, 0.0], 4, [0, 0], id="all-zero"),
        pytest.param([5.0], 8, [5], id="one-value-is-its-own-unit"),
        pytest.param([7.0, 1.0], 8, [4, 2], id="without-a-linear-part-y1-is-half-of-R"),
        pytest.param([3.0, 3.0], 1, [3, 3], id="finest-is-exact-for-whole-multiples"),
        pytest.param(
            [9.0, 9.0, 1.0, 1.0, 1.0], 4, [8, 8, 2, 2, 1], id="overshoot-is-absorbed-by-what-follows"
        ),
        pytest.param(
            [6.0, 6.0, 4.0, 4.0, 1.0, 1.0], 4, [4, 4, 4, 4, 2, 2], id="above-y1-there-is-one-choice"
        ),
    ],
)
def test_hlhe_answers_these(values, degree, expected):
    """The edges, worked by hand: y1 = s·R where there is a linear part, R/2 where there is none."""
    assert discretise(np.array(values), degree=degree).tolist() == expected


def test_classes_name_each_value():
    """Planning needs numbered classes: they must say the same as the values."""
    values = np.random.default_rng(0).integers(0, 300, 5000).astype(float)
    representative, of = classify(values, degree=8)

    assert np.all(np.diff(representative) > 0)
    assert representative[of].tolist() == discretise(values, degree=8).tolist()


def test_whole_and_broken_values_are_numbered_alike():
    """Whole numbers are counted, others sorted: two ways to one answer, also with more than 65,536 distinct ones."""
    values = np.random.default_rng(1).permutation(70_000).astype(float) + 1
    by_sorting = discretise(np.append(values, 0.5), degree=8)[:-1]
    doubled = discretise(np.append(values * 2, 1.0), degree=8)[:-1]

    assert by_sorting.tolist() == (doubled / 2).tolist()
    assert discretise(values, degree=1).tolist() == values.tolist()


@pytest.mark.parametrize("degree", [0, 3, -4, 2.0, True])
def test_degree_is_checked(degree):
    """The exponential part exists only for powers of two."""
    with pytest.raises(PlanRequestError, match=r"degree must be a power of two, 1 or more\. Got"):
        discretise(np.array([1.0]), degree=degree)
