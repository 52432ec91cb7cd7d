"""What each item cost and what it holds: the planner believes every number of it."""

from dataclasses import replace

import pytest

from schemas.tables import ITEM_STATS
from spark_jobs.control_tables import read_rows
from spark_jobs.item_stats import read_stats
from spark_jobs.load_window import load_window
from spark_jobs.profile_keys import profile_keys
from tests.spark_jobs.conftest import rows_of_day

pytestmark = pytest.mark.spark


def count_of(rows):
    counts = {}
    for key, *_ in rows:
        counts[key] = counts.get(key, 0) + 1
    return counts


def test_heavy_keys_and_slots_add_up_to_the_window_and_to_the_table(spark, dataset, task):
    """What is not a key of its own must be in its slot's total: a planner that misses load balances the rest."""
    load_window(task(0))
    result = profile_keys(task(0))
    stats = read_stats(dataset, task(0).window)
    counts = count_of(rows_of_day(0))

    heavy = dict(zip(stats.key, stats.cost[stats.n_slots :], strict=True))
    assert heavy == {key: counts[key] for key in heavy}
    assert {key for key, count in counts.items() if count >= 0.1 * 0.08 * sum(counts.values()) / 4} == set(
        heavy
    )
    assert stats.cost.sum() == sum(counts.values()) == result["cost"]
    n_bytes = sum(
        row["size"]
        for row in spark.sql(f"DESCRIBE DETAIL delta.`{dataset.state}`")
        .selectExpr("sizeInBytes size")
        .collect()
    )
    assert stats.state.sum() == pytest.approx(n_bytes, rel=0.05)


def test_costs_come_from_the_datasets_own_expression(dataset, task):
    """Rows are only the default; here a row costs the length of its page's name."""
    load_window(task(0))
    costly = replace(task(0), dataset=replace(dataset, cost="length(page)"))
    profile_keys(costly)

    assert read_stats(dataset, costly.window).cost.sum() == sum(len(row[2]) for row in rows_of_day(0))


def test_the_driver_gets_no_more_than_the_tracked_keys_and_the_slots(dataset, task):
    """Memory must not grow with the number of keys; the heaviest are the ones that are kept."""
    load_window(task(0))
    profile_keys(replace(task(0), dataset=replace(dataset, max_tracked_keys=3)))
    stats = read_stats(dataset, task(0).window)

    counts = count_of(rows_of_day(0))
    tracked = sorted(stats.cost[stats.n_slots :], reverse=True)
    assert 0 < len(tracked) <= 3
    assert tracked == sorted(counts.values(), reverse=True)[: len(tracked)]
    assert stats.cost.sum() == sum(counts.values())
    assert stats.slot.size == 64 + len(tracked)


def test_profiling_again_replaces_the_windows_rows(dataset, task):
    """A retry must not double the load that is planned on."""
    load_window(task(0))
    for _ in range(2):
        profile_keys(task(0))

    rows = read_rows(ITEM_STATS, dataset=dataset.name)
    assert len({(row["kind"], row["slot"], row["key"]) for row in rows.to_pylist()}) == rows.num_rows
