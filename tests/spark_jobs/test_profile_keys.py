"""What each item cost and what it holds: the planner believes every number of it."""

from dataclasses import replace

import numpy as np
import pytest

from schemas.tables import ITEM_STATS
from spark_jobs.control_tables import read_rows
from spark_jobs.data_files import collected
from spark_jobs.item_stats import read_stats
from spark_jobs.layout_transaction import LayoutTransaction
from spark_jobs.load_window import load_window
from spark_jobs.profile_keys import may_move_keys, profile_keys
from spark_jobs.table_log import initial_function
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


def test_without_routes_a_slot_with_its_heavy_keys_holds_what_the_log_says(spark, dataset, task):
    """Where only whole slots may move, no row of the state is read: a slot's sum is what a plan moves, and that is exact."""
    dataset = replace(dataset, max_routes=0, min_file_bytes=1)
    load_window(replace(task(0), dataset=dataset))
    profile_keys(replace(task(0), dataset=dataset))
    files = collected(LayoutTransaction(spark, dataset).file_frame())
    in_log = np.bincount(files.low_slot, weights=files.live_bytes, minlength=64)
    stats = read_stats(dataset, task(0).window)
    cost, state = (np.bincount(stats.slot, weights=of, minlength=64) for of in (stats.cost, stats.state))

    assert (files.low_slot == files.high_slot).all()
    assert state == pytest.approx(in_log)
    heavy = slice(stats.n_slots, None)
    share = stats.cost[heavy] / cost[stats.slot[heavy]]
    assert stats.state[heavy] == pytest.approx(share * in_log[stats.slot[heavy]])


def test_a_key_may_move_where_routes_are_allowed_or_there(dataset):
    """A route that is left from before can be taken back: its key moves without its slot, whatever the budget is now."""
    plain = initial_function(dataset)
    routed = plain.with_changes(routes={"user 1": 3 - plain.bucket_of("user 1")})

    assert may_move_keys(dataset, plain)
    assert may_move_keys(replace(dataset, max_routes=None), plain)
    assert not may_move_keys(replace(dataset, max_routes=0), plain)
    assert may_move_keys(replace(dataset, max_routes=0), routed)
