"""Old windows are forgotten; what the table still needs is not."""

from dataclasses import replace

import pytest

from schemas.tables import CHECKS, FUNCTIONS, ITEM_STATS, MOVES, PLANS
from spark_jobs.control_tables import read_rows, replace_rows
from spark_jobs.expire_history import expire_history
from spark_jobs.migrate_layout import migrate_layout
from tests.spark_jobs.conftest import DAY, START, task_of
from tests.spark_jobs.test_plan_moves import copy_stats

pytestmark = pytest.mark.spark


def test_windows_before_the_cutoff_go_and_the_plan_in_use_stays(task, planned, dataset):
    """Functions stay for ever, and so does the plan that the table has its function from; another dataset's rows are its own."""
    plan = planned(0)
    migrate_layout(task(0, plan))
    row = read_rows(PLANS, dataset="visits", plan=plan).to_pylist()[0]
    replace_rows([row], PLANS, dataset="visits", plan="0" * 16)
    replace_rows([row], PLANS, dataset="strangers", plan="0" * 16)
    functions = read_rows(FUNCTIONS, dataset="visits").num_rows
    copy_stats(dataset, 10)
    short = replace(dataset, history_days=9)

    assert expire_history(task_of(short, 0))["rows_expired"] > 0
    assert read_rows(ITEM_STATS, dataset="visits", window_start=START).num_rows == 0
    assert read_rows(ITEM_STATS, dataset="visits", window_start=START + 10 * DAY).num_rows > 0
    assert read_rows(PLANS, dataset="visits")["plan"].to_pylist() == [plan]
    assert read_rows(PLANS, dataset="strangers").num_rows == 1
    assert read_rows(MOVES, dataset="visits", plan=plan).num_rows == row["n_moves"]
    assert read_rows(FUNCTIONS, dataset="visits").num_rows == functions
    assert expire_history(task_of(short, 0))["rows_expired"] == 0


def test_dataset_that_rests_forgets_nothing(planned, dataset):
    """Age counts from the newest window, not from today: events of last year are no rubbish."""
    planned(0)

    assert expire_history(task_of(dataset, 0))["rows_expired"] == 0


def test_dataset_without_a_window_has_nothing_to_forget(task):
    """The first maintenance may come before the first window."""
    assert expire_history(task(0)) == {"rows_expired": 0}
    assert read_rows(CHECKS, dataset="visits").num_rows == 0
