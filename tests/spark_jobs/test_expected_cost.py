"""Plans on tomorrow: what is planned on is kept, judged and explained; what was declared counts, and expires."""

import itertools
import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pyarrow as pa
import pytest
from deltalake import DeltaTable

from partitioning.function import PartitioningFunction
from partitioning.hashing import slot_of
from partitioning.measures import load_per_bucket, overload
from partitioning.peaks import MOST
from schemas.dataset import Dataset
from schemas.peaks import DeclaredPeak
from schemas.places import locate
from schemas.tables import FORECASTS, ITEM_STATS, PLANS
from spark_jobs.control_tables import (
    load_function,
    read_one,
    read_rows,
    replace_rows,
    save_function,
)
from spark_jobs.expected_cost import expected_cost, planned_on, with_expected_cost
from spark_jobs.item_stats import read_stats
from spark_jobs.job import JobError, Task, Window
from spark_jobs.plan_moves import plan_moves
from spark_jobs.regret import NOTHING, regret_of
from spark_jobs.stored_windows import read_windows
from spark_jobs.table_log import FUNCTION

START, DAY = datetime(2026, 1, 1, tzinfo=UTC), timedelta(days=1)
KEYS = ["a", "b", None]


def dataset_of(**changes):
    fields = {
        "name": "visits", "about": "", "schedule": "@daily", "start": START.date(), "key": "who", "key_type": "string",
        "events": locate("visits/events"), "event_time": "at", "state": locate("visits/state"), "n_buckets": 2, "n_slots": 32,
        "max_imbalance": 0.08, "max_routes": 20, "max_migration": None, "planner": "evenkeel", "min_rows": 1,
    }  # fmt: skip
    return Dataset(**{**fields, **changes})


def window_of(day):
    return Window(start=START + day * DAY, end=START + (day + 1) * DAY)


def months(n):
    """The first months of the year."""
    starts = [datetime(2026, month, 1, tzinfo=UTC) for month in range(1, n + 2)]
    return [Window(start=start, end=end) for start, end in itertools.pairwise(starts)]


def store(day, key_costs):
    """A day with 10 in every slot, and these keys tracked."""
    store_window(window_of(day), key_costs)


def store_window(window, key_costs):
    rows = [{"kind": "slot", "slot": slot, "key": None, "cost": 10.0, "state": 1.0} for slot in range(32)]
    rows += [
        {"kind": "key", "slot": 5, "key": key, "cost": float(cost), "state": 2.0}
        for key, cost in key_costs.items()
    ]
    rows = [{**row, "window_end": window.end} for row in rows]
    replace_rows(rows, ITEM_STATS, dataset="visits", window_start=window.start)


def test_windows_come_back_as_they_were_stored(warehouse):
    """Keys that only some windows track leave gaps, and no window mixes with another, or with another dataset's."""
    store(0, {"a": 3, None: 1})
    store(1, {"b": 7, "a": 4})
    store(2, {"a": 5})

    stored = read_windows(dataset_of(), until=window_of(1).start, n_windows=30)

    assert stored.starts == [window_of(0).start, window_of(1).start]
    assert stored.keys == [None, "a", "b"]
    np.testing.assert_array_equal(stored.items.key_cost, [[1, 3, np.nan], [np.nan, 4, 7]])
    np.testing.assert_array_equal(stored.items.slot_cost, np.full((2, 32), 10.0))
    np.testing.assert_array_equal(stored.items.cost(1), read_stats(dataset_of(), window_of(1)).cost)


def test_missing_windows_are_said(warehouse):
    """A forecast from nothing would be a guess."""
    with pytest.raises(
        JobError, match=r"item_stats must hold windows of visits\. Got none\. Run a few windows first"
    ):
        read_windows(dataset_of(), until=START, n_windows=3)


def test_growing_key_is_planned_for_where_it_will_be(warehouse):
    """A line goes on: the key that grew by 100 a window is expected at 100 more than it had, not at what it had."""
    for day in range(10):
        store(day, {"a": 100 * (day + 1), "b": 500})
    dataset = dataset_of(forecast="holt")

    made = expected_cost(dataset, window_of(9), read_stats(dataset, window_of(9)))

    np.testing.assert_allclose(made.forecast.expected[32:], [1100, 500], rtol=0.02)
    np.testing.assert_allclose(made.forecast.expected[:32], 10.0)
    assert made.sentences == ("planned on what the next window is expected to cost, forecast by holt",)


def test_declared_peak_counts_in_its_window_only(warehouse):
    """The day before Black Friday plans for it; on the day itself nothing is planned for it any more."""
    for day, (cost, of_null) in enumerate([(100, 50), (100, 50), (500, 0)]):
        store(day, {"a": cost, None: of_null})
    peak = DeclaredPeak(key="a", start=window_of(2).start, end=window_of(2).end, factor=5.0)
    quiet = DeclaredPeak(key=None, start=window_of(2).start, end=window_of(2).end, rate=0.0)
    unknown = DeclaredPeak(key="zebra", start=window_of(2).start, end=window_of(2).end, factor=2.0)
    dataset = dataset_of(expect=(peak, quiet, unknown))

    before = expected_cost(dataset, window_of(1), read_stats(dataset, window_of(1)))
    after = expected_cost(dataset, window_of(2), read_stats(dataset, window_of(2)))

    assert before.forecast.expected[32:].tolist() == [0.0, 500.0]
    assert [sentence for sentence in before.sentences if "zebra" in sentence] == [
        "a declared peak of key zebra has no effect: this window does not track the key, so that only a rate above 0 could count"
    ]
    assert after.forecast.expected[32:].tolist() == [50.0, 100.0]
    assert planned_on(dataset) == "last with peaks"


def keys_after(dataset, day):
    """What the keys are expected to cost after this day."""
    return expected_cost(dataset, window_of(day), read_stats(dataset, window_of(day))).forecast.expected[32:]


@pytest.mark.parametrize("method", ["last", "naive", "mean", "holt", "chosen"])
@pytest.mark.parametrize("what", [{"factor": 5.0}, {"rate": 500.0}])
def test_peak_of_many_windows_neither_compounds_nor_outlives_its_end(warehouse, method, what):
    """Three days at five times the usual, as declared: on the second the first is known, on the day after all of them."""
    for day in range(9, 14):
        store(day, {"a": 500 if 10 <= day < 13 else 100, "b": 100})
    peak = DeclaredPeak(key="a", start=window_of(10).start, end=window_of(12).end, **what)
    dataset = dataset_of(forecast=method, expect=(peak,))

    expected = [keys_after(dataset, day).tolist() for day in range(9, 14)]

    np.testing.assert_allclose(expected, [[500, 100]] * 3 + [[100, 100]] * 2)


def test_key_that_is_tracked_for_its_peak_alone_is_not_planned_for_after_it(warehouse):
    """Before it, its cost was its slot's, and so it is again: the windows with the peak are no history, of the key or of its slot."""
    for day in range(7):
        store(day, {"b": 100} if day < 4 or day == 6 else {"b": 100, "a": 9000})
    peak = DeclaredPeak(key="a", start=window_of(4).start, end=window_of(5).end, rate=9000.0)
    dataset = dataset_of(forecast="mean", expect=(peak,))

    assert keys_after(dataset, 4).tolist() == [9000, 100]
    assert keys_after(dataset, 5).tolist() == [0, 100]
    after = expected_cost(dataset, window_of(6), read_stats(dataset, window_of(6))).forecast
    np.testing.assert_allclose(after.expected, [10] * 32 + [100])


def test_rate_of_a_key_that_is_not_tracked_counts_in_its_slot(warehouse):
    """A key that nobody has seen yet is announced: its slot is planned for it, and its interval holds that."""
    store(0, {"a": 100})
    during = {"start": window_of(1).start, "end": window_of(1).end}
    half = {"start": window_of(1).start, "end": window_of(1).start + DAY / 2}
    peaks = (DeclaredPeak(key="zebra", rate=600.0, **during), DeclaredPeak(key="okapi", rate=80.0, **half))
    dataset = dataset_of(forecast="holt", expect=peaks)

    made = expected_cost(dataset, window_of(0), read_stats(dataset, window_of(0)))

    added = np.zeros(33)
    added[slot_of("zebra", "string", 32)] += 600
    added[slot_of("okapi", "string", 32)] += 40
    np.testing.assert_allclose(made.forecast.expected, np.array([10.0] * 32 + [100]) + added)
    assert (made.forecast.low <= made.forecast.expected).all()
    assert made.sentences[1:] == tuple(
        f"a declared peak of key {key} counts with its slot, as this window does not track the key"
        for key in ("zebra", "okapi")
    )


def test_window_to_come_is_as_long_as_the_schedule_has_it(warehouse):
    """February's plan is for all 31 days of March, January's for the 28 of February and for no day after them."""
    january, february, _ = months(3)
    for window in (january, february):
        store_window(window, {"a": 100})
    peak = DeclaredPeak(
        key="a", start=datetime(2026, 3, 1, tzinfo=UTC), end=datetime(2026, 4, 1, tzinfo=UTC), factor=5.0
    )
    dataset = dataset_of(schedule="@monthly", expect=(peak,))

    after_january, after_february = (
        expected_cost(dataset, window, read_stats(dataset, window)).forecast.expected[32]
        for window in (january, february)
    )

    assert (after_january, after_february) == (100, 500)


def test_peaks_that_no_plan_can_count_are_cut_and_said(warehouse):
    """Two peaks that overlap by mistake must not end the planning; the sentence names the key."""
    for day in range(3):
        store(day, {"a": 1000, "b": 100})
    during = {"start": window_of(3).start, "end": window_of(3).end}
    peaks = tuple(DeclaredPeak(key="a", factor=1e6, **during) for _ in range(3))
    dataset = dataset_of(forecast="holt", expect=peaks)

    made = expected_cost(dataset, window_of(2), read_stats(dataset, window_of(2)))
    row = plan_on(dataset, 2)

    assert made.forecast.expected.sum() == MOST
    assert (made.forecast.low <= made.forecast.expected).all()
    assert (made.forecast.expected <= made.forecast.high).all()
    assert made.sentences[-1] in row["reasons"]
    assert made.sentences[-1] == (
        "what is declared for key a is cut to 4,503,599,627,370,076: more cost in all than a plan can count"
    )


def test_intervals_follow_declared_peaks(warehouse):
    """An expectation outside its own interval makes a reader doubt both; nothing of an unknown is nothing."""
    for day in range(2):
        store(day, {"a": 100 + 20 * day, "b": 80})
    store(2, {"a": 140, "b": 80, "c": 9})
    during = {"start": window_of(3).start, "end": window_of(3).end}
    peaks = tuple(
        DeclaredPeak(key=key, factor=factor, rate=None, **during) for key, factor in (("a", 5.0), ("c", 0.0))
    )
    plain, peaked = (
        expected_cost(dataset, window_of(2), read_stats(dataset, window_of(2))).forecast
        for dataset in (dataset_of(forecast="naive"), dataset_of(forecast="naive", expect=peaks))
    )

    for ends in ("low", "expected", "high"):
        assert getattr(peaked, ends)[32] == 5 * getattr(plain, ends)[32]
        assert getattr(peaked, ends)[33] == getattr(plain, ends)[33]
        assert getattr(peaked, ends)[34] == 0
    assert plain.high[34] == np.inf


def plan_on(dataset, day):
    return plan_after(dataset, window_of(day))


def plan_after(dataset, window):
    """The plan of this window as the job stores it, for an empty table that has the plain hash."""
    function = PartitioningFunction.initial(key_type="string", n_buckets=2, n_slots=32)
    save_function("visits", function)
    DeltaTable.create(
        dataset.state,
        schema=pa.schema([("who", pa.string())]),
        configuration={FUNCTION: function.digest},
        raise_if_key_not_exists=False,
        mode="ignore",
    )
    result = plan_moves(Task(dataset=dataset, given_window=window))
    return read_one(PLANS, dataset="visits", plan=result["plan"])


def test_key_that_cools_is_not_moved(warehouse):
    """The heat of the last window is not expected to last, so nothing moves for it; on the last window something does."""
    for day in range(12):
        store(day, {"a": 1000 if day == 11 else 20, "b": 20})
    by_last, by_mean = (
        plan_on(dataset_of(forecast=name, max_imbalance=0.2), 11) for name in ("last", "mean")
    )

    assert by_last["planned_on"] == "last"
    assert by_last["n_moves"] > 0
    assert by_mean["n_moves"] == 0
    assert by_last["imbalance_before"] > by_mean["imbalance_before"]
    assert by_last["plan"] != by_mean["plan"]
    assert "planned on what the next window is expected to cost, forecast by mean" in by_mean["reasons"]


def test_spike_that_was_always_over_is_not_moved_for(warehouse):
    """The method that is chosen has learned from the spikes before; the last window alone never does."""
    for day in range(40):
        store(day, {"a": 1000 if day % 4 == 3 else 20, "b": 20})
    by_last, by_chosen = (
        plan_on(dataset_of(forecast=name, max_imbalance=0.4), 39) for name in ("last", "chosen")
    )

    assert by_last["n_moves"] > by_chosen["n_moves"]


def test_plan_is_judged_by_what_it_was_made_on(warehouse):
    """Validation computes the plan's figures from the stored forecast; a forecast that was changed no longer fits."""
    for day in range(6):
        store(day, {"a": 100 * (day + 1), "b": 40})
    row = plan_on(dataset_of(forecast="holt"), 5)
    stored = read_rows(ITEM_STATS, dataset="visits", window_start=window_of(5).start).to_pylist()

    judged = with_expected_cost(stored, "visits", row)

    assert sum(item["cost"] for item in judged) == pytest.approx(sum(row["load_after"]))
    assert json.loads(row["explanation"])["payback"]["saved"] == row["cost_saved"]
    kept = read_rows(FORECASTS, dataset="visits", plan=row["plan"]).to_pylist()
    names = [name for name in FORECASTS.columns if name not in FORECASTS.identity]
    replace_rows(
        [{n: one[n] for n in names} for one in kept[1:]], FORECASTS, dataset="visits", plan=row["plan"]
    )
    with pytest.raises(
        JobError, match=r"forecasts must hold the items of plan \w+, 34 of them, each once\. Got 33 rows"
    ):
        with_expected_cost(stored, "visits", row)


def test_last_window_is_planned_on_as_ever(warehouse):
    """A dataset that asks for nothing keeps no forecast, and its rows are judged as they are."""
    store(0, {"a": 400})
    row = plan_on(dataset_of(), 0)

    assert read_rows(FORECASTS, dataset="visits").num_rows == 0
    assert with_expected_cost([{"cost": 1.0}], "visits", row) == [{"cost": 1.0}]
    assert replace(dataset_of(), forecast="last") == dataset_of()


def test_regret_sets_the_forecast_between_ignorance_and_knowledge(warehouse):
    """Two keys of one slot that grow as they have grown: the forecast foresees it, the last window does not."""
    for day in range(9):
        store(day, {"a": 10 + 30 * day, "b": 250 - 20 * day})
    dataset = dataset_of(forecast="holt", max_imbalance=0.02, max_migration=None)
    row = plan_on(dataset, 7)

    regret = regret_of(dataset, row, window_of(8), read_stats(dataset, window_of(8)))

    foreseen = load_function("visits", row["to_function"])
    realised = read_stats(dataset, window_of(8)).imbalance(foreseen, row["n_buckets"])
    assert regret["imbalance_clairvoyant"] <= realised < regret["imbalance_last"]
    assert (
        regret_of(dataset, {**row, "planned_on": "last"}, window_of(8), read_stats(dataset, window_of(8)))
        == NOTHING
    )


def test_regret_of_a_window_that_did_not_follow_is_not_known(warehouse):
    """A plan is judged by the window it was made for, or not at all."""
    for day in (0, 1, 3, 4):
        store(day, {"a": 100 * (day + 1)})
    dataset = dataset_of(forecast="holt")
    row = plan_on(dataset, 1)

    assert regret_of(dataset, row, window_of(4), read_stats(dataset, window_of(4))) == NOTHING


def test_windows_before_a_gap_or_of_another_length_are_left_out(warehouse):
    """A forecast counts windows: one that is missing, or a quarter of a day among days, would shift or shrink everything."""
    for day in (0, 2, 3, 4):
        store(day, {"a": day})
    rows = read_rows(ITEM_STATS, dataset="visits", window_start=window_of(4).start).to_pylist()
    names = [name for name in ITEM_STATS.columns if name not in ITEM_STATS.identity]
    short = [{name: row[name] for name in names} | {"window_end": START + 1.5 * DAY} for row in rows]
    replace_rows(short, ITEM_STATS, dataset="visits", window_start=START + 1.25 * DAY)

    stored = read_windows(dataset_of(), until=window_of(4).start, n_windows=30)

    assert stored.starts == [window_of(day).start for day in (2, 3, 4)]


def test_a_window_by_hand_that_overlaps_others_is_no_gap(warehouse):
    """From noon to noon, once: the days under it still follow one another, and what was learned of them is not lost."""
    for day in range(5):
        store(day, {"a": day})
    noon = START + 2.5 * DAY
    store_window(Window(start=noon, end=noon + DAY), {"a": 9})

    stored = read_windows(dataset_of(), until=window_of(4).start, n_windows=30)

    assert stored.starts == [window_of(day).start for day in range(5)]


def test_of_two_windows_that_end_at_once_the_schedules_own_counts(warehouse):
    """Working days: Friday's window lasts until Monday, and a Sunday by hand ends then, too."""
    dataset = dataset_of(schedule="0 0 * * 1-5")
    days = [datetime(2026, 1, day, tzinfo=UTC) for day in (7, 8, 9, 12, 13)]  # Wednesday to Tuesday
    for start, end in itertools.pairwise(days):
        store_window(Window(start=start, end=end), {"a": 1})
    store_window(Window(start=days[3] - DAY, end=days[3]), {"a": 9})

    stored = read_windows(dataset, until=days[3], n_windows=30)

    assert stored.starts == days[:-1]


def test_rates_beside_an_hour_by_hand_count_for_an_hour(warehouse):
    """Both keys cost 2,400 a day, and 100 in the hour that was run by hand; 4,800 of a are declared for the next day: twice b, not 48 times."""
    hour = Window(start=START, end=START + DAY / 24)
    store_window(hour, {"a": 100, "b": 100})
    peak = DeclaredPeak(key="a", start=START + DAY, end=START + 2 * DAY, rate=4800.0)
    dataset = dataset_of(expect=(peak,))

    expected = expected_cost(dataset, hour, read_stats(dataset, hour)).forecast.expected

    assert expected[32:].tolist() == [200, 100]


def test_windows_of_a_schedule_need_not_be_equally_long(warehouse):
    """Months, and working days with a weekend between them, are windows of one kind; a week by hand among months is not."""
    for window in months(4):
        store_window(window, {"a": 1})
    march, may = (datetime(2026, 3, 3, tzinfo=UTC), datetime(2026, 5, 1, tzinfo=UTC))
    for start in (march, may):
        store_window(Window(start=start, end=start + 7 * DAY), {"a": 1})

    stored = read_windows(dataset_of(schedule="@monthly"), until=months(4)[-1].start, n_windows=30)
    alone = read_windows(dataset_of(schedule="@monthly"), until=may, n_windows=30)

    assert stored.starts == [window.start for window in months(4)]
    assert alone.starts == [may]


def test_plan_that_resizes_is_scored_over_the_buckets_it_wants(warehouse):
    """Buckets that are being emptied, or are still to come, would make every step of a resize look ineffective."""
    store(0, {"a": 10})
    items, function = (
        read_stats(dataset_of(), window_of(0)),
        PartitioningFunction.initial(key_type="string", n_buckets=2, n_slots=32),
    )
    load = load_per_bucket(items.cost, items.buckets(function), 2)

    assert items.imbalance(function, 2) == overload(load)
    assert items.imbalance(function, 1) == pytest.approx(max(0.0, load[0] / load.sum() - 1.0))
    assert items.imbalance(function, 4) == pytest.approx(load.max() / (load.sum() / 4) - 1.0)
