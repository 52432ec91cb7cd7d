"""Planning in the loop: settings for once, resizing under the budget, what moved lately, and the score of the last plan."""

from dataclasses import replace

import numpy as np
import pytest

from schemas.tables import ITEM_STATS, PLANS, SCORES
from spark_jobs.control_tables import load_function, read_one, read_rows, replace_rows
from spark_jobs.item_stats import read_stats
from spark_jobs.job import JobError
from spark_jobs.migrate_layout import migrate_layout
from spark_jobs.plan_moves import plan_moves
from spark_jobs.recent_moves import recent_moves
from spark_jobs.scorecard import Score
from spark_jobs.table_log import current_function
from spark_jobs.verify_layout import verify_layout
from tests.spark_jobs.conftest import DAY, START, task_of, window_of

pytestmark = pytest.mark.spark


def plan_row(dataset, name):
    return read_one(PLANS, dataset=dataset.name, plan=name)


def copy_stats(dataset, day):
    """The statistics of day 0 as those of a later day."""
    rows = read_rows(ITEM_STATS, dataset=dataset.name, window_start=START)
    ends = np.full(rows.num_rows, START + (day + 1) * DAY)
    at = rows.column_names.index("window_end")
    later = rows.set_column(at, "window_end", [ends.tolist()])
    replace_rows(later, ITEM_STATS, dataset=dataset.name, window_start=START + day * DAY)


def test_settings_for_once_replace_the_datasets(planned, dataset):
    """What a person tries by hand is what the plan says it was made with."""
    planned(0)
    options = {"planner": "mixed", "max_imbalance": 0.3, "max_routes": 2, "max_migration": 0.5}
    row = plan_row(dataset, plan_moves(task_of(dataset, 0, **options))["plan"])

    assert {name: row[name] for name in options} == options
    assert row["n_routes"] <= 2
    assert row["migration"] <= 0.5 * row["total_state"] * (1 + 1e-9)


def test_too_many_buckets_are_refused(planned, dataset):
    """64 slots make no 5 even buckets, let alone 50."""
    planned(0)

    with pytest.raises(JobError, match=r"--buckets must be at most 4, a 16th of the slots\. Got 5\."):
        plan_moves(task_of(dataset, 0, n_buckets=5))


def test_applied_plan_is_answered_again(task, planned, dataset):
    """A cleared plan step must not make a second plan on the same window."""
    plan = planned(0)
    migrate_layout(task(0, plan))

    assert plan_moves(task(0))["plan"] == plan
    assert plan_moves(task(0, max_imbalance=0.5))["plan"] != plan


def test_named_plan_is_answered_and_an_unknown_one_refused(task, planned):
    """Applying by name starts from what was stored."""
    plan = planned(0)

    assert plan_moves(task(0, plan))["plan"] == plan
    with pytest.raises(JobError, match=r"plans must hold one row for dataset visits, plan 0+\. Got 0"):
        plan_moves(task(0, "0" * 16))


def test_shrinking_drains_under_the_budget_until_the_bucket_is_gone(task, planned, dataset):
    """Four buckets become three over as many windows as a fourth of the state a window takes; every row stays."""
    planned(0)
    fewer = replace(dataset, n_buckets=3, max_migration=0.25)
    for day in range(12):
        if day:
            copy_stats(dataset, day)
        plan = plan_moves(task_of(fewer, day))["plan"]
        row = plan_row(dataset, plan)
        assert row["migration"] <= 0.25 * row["total_state"] * (1 + 1e-9)
        migrate_layout(task_of(fewer, day, plan))
        assert verify_layout(task_of(fewer, day, plan))["conserved"]
        if current_function(dataset).n_buckets == 3:
            break

    assert 0 < day < 11
    assert current_function(dataset).slots.max() == 2
    assert all(bucket < 3 for bucket in current_function(dataset).routes.values())


def test_growing_moves_only_into_the_new_bucket_first(planned, dataset):
    """The ring's promise, kept under the budget: old buckets do not trade slots because a new one came."""
    planned(0)
    here = current_function(dataset)
    more = replace(dataset, n_buckets=4, max_migration=0.2, max_imbalance=10.0)
    smaller = replace(dataset, n_buckets=3, max_migration=None, max_imbalance=10.0)
    shrunk = plan_row(dataset, plan_moves(task_of(smaller, 0))["plan"])
    there = load_function(dataset.name, shrunk["to_function"])

    assert there.n_buckets == 3
    assert here.n_buckets == 4
    assert set(there.slots[here.slots < 3].tolist()) <= {0, 1, 2}
    row = plan_row(dataset, plan_moves(task_of(more, 0))["plan"])
    assert row["n_moves"] == 0


def test_what_moved_lately_is_the_planners_history(task, planned, dataset):
    """Otherwise two windows that differ send the same key there and back for ever."""
    plan = planned(0)
    migrate_layout(task(0, plan))
    copy_stats(dataset, 1)
    copy_stats(dataset, 4)
    items = read_stats(dataset, window_of(1))
    history = recent_moves(dataset, window_of(1), items)

    assert history.item.size == plan_row(dataset, plan)["n_moves"]
    assert set(history.age.tolist()) == {1}
    assert recent_moves(dataset, window_of(0), items).item.size == 0
    assert recent_moves(dataset, window_of(4), items).item.size == 0


def test_last_plan_is_scored_on_the_next_window_once(task, planned, dataset):
    """Predicted against realised: with the same load, a plan keeps what it promised."""
    plan = planned(0)
    migrate_layout(task(0, plan))
    for day in (1, 2):
        copy_stats(dataset, day)
        plan_moves(task(day))
    row, score = plan_row(dataset, plan), read_one(SCORES, dataset=dataset.name, plan=plan)

    assert score["window_start"] == START + DAY
    assert score["imbalance_realised"] == pytest.approx(row["imbalance_after"])
    assert score["imbalance_unmoved"] == pytest.approx(row["imbalance_before"])
    assert score["is_effective"]


def test_score_is_effective_from_a_fourth_of_the_promise():
    """Worked: from 0.5 to 0.1 promises 0.4; a fourth of that is 0.1."""
    promise = {"before": 0.5, "predicted": 0.1}

    assert Score(**promise, unmoved=0.45, realised=0.35).is_effective
    assert not Score(**promise, unmoved=0.45, realised=0.36).is_effective
