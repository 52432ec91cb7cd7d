"""What had been expected of a window beside what came: nothing left out, nothing counted twice."""

from dataclasses import replace

import pytest

from schemas.tables import SCORES
from spark_jobs.control_tables import replace_rows
from spark_jobs.forecast_facts import MOST_WRONG, regret_sentence, window_forecast_facts
from tests.spark_jobs.test_expected_cost import (
    DAY,
    dataset_of,
    months,
    plan_after,
    plan_on,
    store,
    store_window,
    window_of,
)


def run_of(day):
    """As much of a run's row as says which window it was of."""
    return {"window_start": window_of(day).start, "window_end": window_of(day).end}


@pytest.fixture
def plan(warehouse):
    """A plan on the mean of four windows, in which b cools."""
    for day in range(4):
        store(day, {"a": 100, "b": 80 - 20 * day})
    return plan_on(dataset_of(forecast="mean"), 3)


def test_forecast_is_set_beside_what_came(plan):
    """A key that only one window tracks counts with its slot: of slot 5 itself 10 and of b 50 were expected; 10 and 70 of the new one came."""
    store(4, {"a": 130, "new": 70})

    facts = window_forecast_facts(dataset_of(), run_of(4))

    assert (facts["plan"], facts["planned_on"]) == (plan["plan"], "mean")
    assert (facts["expected"], facts["realised"]) == (pytest.approx(470), 520)
    assert [(one["item"], one["expected"], one["realised"]) for one in facts["items"]] == [
        ("key a", pytest.approx(100), 130),
        ("slot 5", pytest.approx(60), 80),
    ]
    assert facts["error"] == pytest.approx((30 + 20) / 520)
    assert sum(one["error"] for one in facts["items"]) == pytest.approx(facts["error"])


@pytest.mark.parametrize(("came", "named"), [(10, ""), (1000, "abcdefgh"[:MOST_WRONG])])
def test_only_the_most_wrong_are_named(warehouse, came, named):
    """Ties in the order of their names; a list of 65,536 items says nothing, and one that was right is not wrong."""
    for day in range(4):
        store(day, dict.fromkeys("hgfedcba", 10))
    plan_on(dataset_of(forecast="mean"), 3)
    store(4, dict.fromkeys("hgfedcba", came))

    facts = window_forecast_facts(dataset_of(), run_of(4))

    assert [one["item"] for one in facts["items"]] == [f"key {key}" for key in named]
    assert (facts["error"] == 0) == (not named)


def score_of(day, **thetas):
    columns = [name for name in SCORES.columns if name not in SCORES.identity]
    return dict.fromkeys(columns) | {"window_start": window_of(day).start} | thetas


def test_plan_that_was_carried_out_is_the_one_that_is_told(plan):
    """Of several plans for a window one counted; its regret is told, and only of the window that it was for."""
    others = [plan_on(dataset_of(forecast=name), 3) for name in ("holt", "naive")]
    names = sorted(row["plan"] for row in (plan, *others))
    store(4, {"a": 100, "b": 10})
    thetas = {"imbalance_realised": 0.2, "imbalance_last": 0.3, "imbalance_clairvoyant": 0.1}
    replace_rows([score_of(4, **thetas)], SCORES, dataset="visits", plan=names[-1])

    facts = window_forecast_facts(dataset_of(), run_of(4))
    assert (facts["plan"], facts["regret"]) == (names[-1], {"is_carried_out": True, **thetas})

    for name in names:
        replace_rows([score_of(5, **thetas)], SCORES, dataset="visits", plan=name)
    facts = window_forecast_facts(dataset_of(), run_of(4))
    assert facts["plan"] == names[0]
    assert not facts["regret"]["is_carried_out"]


def test_plan_on_the_last_window_does_not_hide_a_forecast(plan):
    """It was carried out, but forecast nothing; what another plan expected can still be judged."""
    store(4, {"a": 100, "b": 10})
    by_last = plan_on(dataset_of(), 3)["plan"]
    replace_rows([score_of(4)], SCORES, dataset="visits", plan=by_last)

    assert window_forecast_facts(dataset_of(), run_of(4))["plan"] == plan["plan"]


def test_nothing_is_told_of_windows_that_nobody_forecast(plan):
    """A plan on the last window forecast nothing; one forecast another day, or a day where this window is half of one."""
    assert window_forecast_facts(dataset_of(), run_of(4)) is None  # it was not profiled
    store(4, {"a": 1})
    store(5, {"a": 1})
    plan_on(dataset_of(), 4)

    assert window_forecast_facts(dataset_of(), run_of(5)) is None
    assert window_forecast_facts(replace(dataset_of(), name="orders"), run_of(4)) is None
    half = run_of(4) | {"window_end": window_of(4).start + DAY / 2}
    assert window_forecast_facts(dataset_of(), half) is None
    assert window_forecast_facts(dataset_of(), run_of(4)) is not None


def test_months_are_forecast_from_one_to_the_next(warehouse):
    """January has 31 days and February 28: it is the window that was forecast all the same."""
    january, february = months(2)
    dataset = dataset_of(forecast="mean", schedule="@monthly")
    for month in (january, february):
        store_window(month, {"a": 100})
    plan = plan_after(dataset, january)["plan"]

    facts = window_forecast_facts(dataset, {"window_start": february.start, "window_end": february.end})
    assert facts["plan"] == plan


def test_regret_of_a_plan_that_moved_nothing_is_told(warehouse):
    """A spike that does not last: who plans on it pays for moving there and back, and who does not should read what that was worth."""
    for day in range(12):
        store(day, {"a": 1000 if day == 10 else 20, "b": 20})
    dataset = dataset_of(forecast="mean", max_imbalance=0.2)
    row = plan_on(dataset, 10)
    assert row["n_moves"] == 0

    regret = window_forecast_facts(dataset, run_of(11))["regret"]

    assert not regret["is_carried_out"]
    assert regret["imbalance_clairvoyant"] <= regret["imbalance_realised"] < regret["imbalance_last"]
    assert regret_sentence(regret).startswith("θ of this window would be ")
