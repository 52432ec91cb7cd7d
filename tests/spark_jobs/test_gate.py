"""The gate: a plan goes on only if it is needed, wanted, worth it and about the newest whole window."""

from dataclasses import replace

import pytest

from schemas.tables import CHECKS, PLANS, SCORES
from spark_jobs.control_tables import read_one, replace_rows, save_function
from spark_jobs.gate_plan import gate_plan
from spark_jobs.job import JobError, Window
from spark_jobs.migrate_layout import migrate_layout
from spark_jobs.table_log import current_function
from tests.spark_jobs.conftest import DAY, KEYS, START, task_of

pytestmark = pytest.mark.spark


@pytest.fixture
def edited(dataset):
    """``edited(plan, field=value)``: the stored plan with other figures; the gate reads figures, validation judges them."""

    def edit(plan, **fields):
        row = read_one(PLANS, dataset=dataset.name, plan=plan)
        replace_rows([row | fields], PLANS, dataset=dataset.name, plan=plan)
        return plan

    return edit


def hold(dataset, sentence):
    row = {
        "expectation": "e", "column": "rows", "severity": "hold", "success": False, "observed": "3", "sentence": sentence,
    }  # fmt: skip
    replace_rows([row], CHECKS, dataset=dataset.name, subject="window", window_start=START)


def test_plan_that_helps_goes_on(task, planned):
    """Everything else is a reason to stop; this must not have one."""
    answer = gate_plan(task(0, planned(0)))

    assert (answer["go"], answer["reasons"]) == (True, [])


def test_balanced_table_stays(task, planned, edited, dataset):
    """The commonest day of all: nothing to do, and no failure."""
    plan = planned(0)
    row = read_one(PLANS, dataset=dataset.name, plan=plan)
    edited(plan, to_function=row["from_function"], verdict="balanced already", imbalance_before=0.01)
    answer = gate_plan(task(0, plan))

    assert answer["reasons"] == ["θ is 0.0100, within max_imbalance 0.08"]


def test_gain_that_does_not_pay_stays(task, planned, edited):
    """Moving half a table for a percent is work for nobody."""
    answer = gate_plan(task(0, edited(planned(0), cost_saved=10.0, cost_spent=11.0)))

    assert answer["reasons"] == [
        "the gain does not pay: 10 of cost saved over the next windows, 11 spent on moving"
    ]


@pytest.mark.parametrize(
    ("before", "after", "pays_or_joins"),
    [
        pytest.param([(0, 2048), (1, 2048)], [(0, 3000), (1, 1096)], True, id="some-rows-joined"),
        pytest.param([(0, 2048), (1, 2048)], [(0, 4096)], True, id="joined"),
        pytest.param([(0, 4096)], [(0, 2048), (1, 2048)], False, id="cut"),
        pytest.param([(0, 2048), (1, 2048)], [(0, 2048), (2, 2048)], False, id="moved"),
    ],
)
def test_join_that_does_not_pay_in_a_few_windows_goes_on(
    task, planned, edited, dataset, before, after, pays_or_joins
):
    """Merging is paid for in every window to come, and the planner joins nothing that was cut lately; all else must pay."""
    functions = [
        current_function(dataset).with_changes(splits={KEYS[0]: parts}, row_id=("at",))
        for parts in (before, after)
    ]
    names = dict(
        zip(("from_function", "to_function"), (function.digest for function in functions), strict=True)
    )
    plan = edited(planned(0), cost_saved=10.0, cost_spent=11.0, **names)
    for function in functions:
        save_function(dataset.name, function)

    reasons = gate_plan(task(0, plan))["reasons"]

    assert any("the table has moved on" in reason for reason in reasons)  # it starts from a function of ours
    assert any("does not pay" in reason for reason in reasons) != pays_or_joins


def test_held_window_stays(task, planned, dataset):
    """Half a day's events look like a day without skew."""
    plan = planned(0)
    hold(dataset, "rows must be at least 100. Got 3.")

    assert gate_plan(task(0, plan))["reasons"] == ["rows must be at least 100. Got 3."]


def test_window_that_is_not_over_stays(task, planned):
    """Its second half may look different."""
    future = Window(start=START, end=START + 100_000 * DAY)
    answer = gate_plan(replace(task(0, planned(0)), given_window=future))

    assert len(answer["reasons"]) == 1
    assert answer["reasons"][0].startswith("the window is not over: it ends at")


def test_dry_run_stays_and_names_the_plan(task, planned):
    """What was seen can be applied as it was seen."""
    plan = planned(0)
    answer = gate_plan(task(0, plan, dry_run=True))

    assert answer["dry_run"]
    assert answer["reasons"] == [f"this is a dry run; plan {plan} can be applied by its name"]


def test_named_plan_goes_on_whatever_the_window(task, planned, edited, dataset):
    """Whoever names a plan has looked at it: a held window or a poor payback is no reason any more."""
    plan = edited(planned(0), cost_saved=10.0, cost_spent=11.0)
    hold(dataset, "rows must be at least 100. Got 3.")

    assert gate_plan(task(0, plan, apply=True))["go"]


def test_named_plan_is_refused_once_the_table_moved_on(task, planned, edited):
    """It was made for another table than the one that is there now."""
    plan = edited(planned(0), from_function="0" * 64)

    with pytest.raises(JobError, match=r"must start from the table's function .* has moved on\. Plan again"):
        gate_plan(task(0, plan, apply=True))
    assert "has moved on" in gate_plan(task(0, plan))["reasons"][0]


def test_applied_plan_stays_open(task, planned, dataset):
    """Cleared and run again, a finished run must come to the same end."""
    plan = planned(0)
    migrate_layout(task(0, plan))
    hold(dataset, "rows must be at least 100. Got 3.")
    answer = gate_plan(task(0, plan))

    assert (answer["go"], answer["is_applied"]) == (True, True)


def test_ineffective_plans_pause_until_somebody_resumes(task, planned, dataset):
    """Plans that never keep what they promise move data for nothing: somebody must look, and then it goes on."""
    plan = planned(0)
    for number in range(3):
        write_score(dataset, f"{number}", number, is_effective=False)

    for _ in range(2):  # it stays paused
        (reason,) = gate_plan(task(0, plan))["reasons"]
        assert reason.startswith("visits is paused: the last 3 plans (2, 1, 0) each kept less than 25%")
    assert gate_plan(task(0, plan, resume=True))["go"]
    assert gate_plan(task(0, plan))["go"]
    write_score(dataset, "3", 3, is_effective=False)
    assert gate_plan(task(0, plan))["go"]  # begins to count anew


def test_one_effective_plan_is_enough(task, planned, dataset):
    """Bad luck is no pattern."""
    plan = planned(0)
    for number in range(3):
        write_score(dataset, f"{number}", number, is_effective=number == 1)

    assert gate_plan(task(0, plan))["go"]


def write_score(dataset, plan, day, *, is_effective):
    figures = ("imbalance_before", "imbalance_predicted", "imbalance_unmoved", "imbalance_realised")
    row = dict.fromkeys(figures, 0.5) | {
        "window_start": START + day * DAY,
        "is_effective": is_effective,
        "is_forgiven": False,
    }
    replace_rows([row], SCORES, dataset=dataset.name, plan=plan)


def test_gate_needs_no_spark(planned, dataset):
    """It decides in a second; a Spark start would take ten."""
    plan = planned(0)
    task = task_of(dataset, 0, plan)
    gate_plan(task)

    assert "spark" not in vars(task)
