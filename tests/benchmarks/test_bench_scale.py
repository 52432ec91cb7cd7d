"""The benchmark of scale, in its quick form: every series is there, grows as it must, and has its exponents."""

import math
import re

import pytest

from benchmarks.bench_scale import QUICK, measure
from benchmarks.exponents import Series, continued, fitted_exponent
from benchmarks.scale_figures import goals_of, head_of, rows_of


def test_exponent_of_a_power_is_that_power():
    """Cost 3 · n^1.5 grows with exponent 1.5, at every size."""
    sizes = [10.0, 100.0, 1000.0]
    assert fitted_exponent(sizes, [3 * n**1.5 for n in sizes]) == pytest.approx(1.5)


def test_last_exponent_leaves_fixed_costs_behind():
    """What starts flat and ends linear must not be taken for flat when it is extrapolated."""
    series = Series(axis="keys", what="load", unit="s", sizes=[1, 10, 1000, 10_000], values=[5, 5, 10, 100])
    assert series.last_exponent == pytest.approx(1.0)
    assert series.exponent < 0.5
    assert series.at(100_000) == pytest.approx(1000)


def test_falling_values_are_not_extrapolated_to_nothing():
    """Noise can make a flat cost fall; a larger table never costs less."""
    series = Series(axis="keys", what="plan", unit="s", sizes=[1, 10], values=[2, 1])
    assert series.at(1e9) == 1


def test_exponents_of_too_few_points_are_refused():
    with pytest.raises(ValueError, match=r"two points or more, all above 0. Got sizes \[1\]"):
        fitted_exponent([1], [1])


def test_a_size_measured_by_itself_follows_the_kept_ones():
    """The largest size takes longer than all others together: it is added to them, and what it measured again counts."""
    kept = [Series(axis="keys", what="load", unit="s", sizes=[1, 10, 100], values=[5, 6, 7])]
    new = Series(axis="keys", what="load", unit="s", sizes=[100], values=[8])
    other = Series(axis="keys", what="plan", unit="s", sizes=[100], values=[1])

    load, plan = continued(kept, [new, other])

    assert (load.sizes, load.values) == ([1, 10, 100], [5, 6, 8])
    assert (plan.sizes, plan.values) == ([100], [1])


@pytest.mark.spark
def test_quick_form_measures_every_step(spark, warehouse):
    """Steps that are measured here are those whose growth docs/scale.md reasons from."""
    series = measure(QUICK, most_keys=10**4)

    found = {(one.axis, one.what, one.unit): one for one in series}
    for step in ("load", "profile", "plan", "classify and flip", "verify"):
        assert found["keys", step, "CPU s"].sizes == [1_000, 10_000]
    for axis, step in (
        ("bytes", "load"),
        ("files", "read the log anew"),
        ("buckets", "plan"),
        ("slots", "classify and flip"),
    ):
        assert (axis, step, "CPU s") in found
    assert all(math.isfinite(one.exponent) for one in series)
    rows, files = found["keys", "bytes of the table", "bytes"], found["files", "checkpoint", "bytes"]
    assert rows.values[1] > 2 * rows.values[0]
    assert files.values[1] > files.values[0]
    # The entry names eight times the files: 8 slots of 64 a file each, and of 512.
    assert found["buckets", "function with 5,000 routes", "bytes"].last_exponent < 0.1
    of_keys = [one for one in series if one.axis == "keys"]
    assert len(head_of("keys", of_keys)) == len(rows_of(of_keys)[0]) == 5
    assert {"keys", "files", "buckets"} <= {
        goal.what.split(" over ")[1].split(",")[0] for goal in goals_of(series)
    }
    assert all(re.search(r" \(up to [\d,.]+( \w)?\)$", goal.result) for goal in goals_of(series))
