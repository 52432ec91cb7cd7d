"""The recommendation of workers: what a row costs is measured, what is not known is said, and nothing is guessed."""

import json
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest

from schemas.tables import ITEM_STATS, PLANS
from spark_jobs.capacity_facts import (
    Expectation,
    capacity_of,
    capacity_sentences,
    concerns,
    recommendation,
    total_costs,
)
from spark_jobs.control_tables import replace_rows
from spark_jobs.item_stats import ItemStats
from spark_jobs.job import Window
from spark_jobs.row_costs import Measured, RowCost, known_costs, measured_by, timed_windows
from tests.spark_jobs.conftest import DAY, START, visits, window_of

EXPECTED = Expectation(rows=1_000_000.0, rows_high=1_600_000.0, heaviest_rows=250_000.0, seconds=100.0)
MEASURED = Measured(
    load=RowCost(seconds=0.0001, source="loading, as measured in 3 windows"),
    process=RowCost(seconds=0.0004, source="profiling, as measured in 3 windows"),
    loaders=2,
)


def run_of(day, *, run="r", rows=1000, cost=1000.0, load=2.0, profile=1.0, workers=2):
    step = {
        "name": "profile",
        "state": "success",
        "seconds": load + profile,
        "start_seconds": 9.0,
        "rows": rows,
        "cost": cost,
    }
    times = {"load_seconds": load, "profile_seconds": profile, "workers": workers}
    return {"run": run, "window_start": START + day * DAY, "steps": json.dumps([{"name": "check"}, {**step, **times}])}  # fmt: skip


def test_cost_of_a_row_is_worker_seconds_over_rows():
    """Two tasks for two seconds are four worker seconds; one slow window of three is an accident, not a cost."""
    windows = timed_windows([run_of(0), run_of(1, load=200.0), run_of(2)], before=START + 3 * DAY)

    assert measured_by(windows).load == RowCost(seconds=0.004, source="loading, as measured in 3 windows")
    assert measured_by(windows).process.seconds == pytest.approx(0.002)
    assert measured_by(windows).loaders == 2


def test_only_earlier_windows_say_what_a_row_costs():
    """A window that is planned on again after its own run was timed must come to the same plan."""
    runs = [run_of(0), run_of(1, load=50.0), {"run": "old", "window_start": START, "steps": None}]

    assert timed_windows(runs, before=START + DAY) == timed_windows([run_of(0)], before=START + DAY)


def test_repeated_load_that_had_nothing_to_do_is_no_measure():
    """It found the window's mark and wrote nothing, in no time."""
    again = run_of(0, run="z", rows=0, load=0.1)

    assert measured_by(timed_windows([run_of(0), again], before=START + DAY)).load.seconds == pytest.approx(
        0.004
    )
    assert measured_by(timed_windows([again], before=START + DAY)).load is None


def test_measured_loads_and_declared_processing_come_first():
    """Loading is our own work; the job that processes buckets is the user's, and only he knows it."""
    declared = replace(visits(), load_seconds=9.0, process_seconds=8.0)

    assert known_costs(declared, MEASURED)["load"] == MEASURED.load
    assert known_costs(declared, MEASURED)["process"] == RowCost(seconds=8.0, source="declared")
    assert known_costs(declared, Measured())["load"] == RowCost(seconds=9.0, source="declared")
    assert known_costs(visits(), MEASURED)["process"] == MEASURED.process


def test_recommendation_worked():
    """Eq. 1 as in the core's worked example, with the verdict of each and the numbers behind it."""
    told = recommendation(
        visits(n_buckets=4, n_mergers=5, merge_seconds=0.0005, sent_on=1000.0), EXPECTED, MEASURED
    )

    assert [
        (line["what"], line["present"], line["needed"], line["enough"], line["verdict"])
        for line in told["lines"]
    ] == [
        ("loaders", 2, 2, 2, "right-provisioned"),
        ("buckets", 4, 5, 8, "under-provisioned"),
        ("mergers", 5, 4, 5, "right-provisioned"),
    ]
    assert told["useful_buckets"] == 4
    assert concerns(told) == ["buckets: 4, 5 needed: under-provisioned"]
    assert concerns(recommendation(visits(n_buckets=9), EXPECTED, MEASURED)) == []
    assert capacity_sentences(told)[1] == (
        "Buckets: 4; 5 needed, 8 enough for the upper end of the forecast: under-provisioned. 1,000,000 rows (at most 1,600,000) in"
        " 100 s at 0.0004 s a row, 20% kept free (profiling, as measured in 3 windows)."
    )
    assert json.loads(json.dumps(told)) == told


def test_what_is_not_known_is_said():
    """A number that nobody measured or declared would be a guess that somebody buys machines by."""
    told = recommendation(visits(), replace(EXPECTED, rows_high=None), Measured())

    assert told["lines"] == []
    assert [reason.partition(":")[0] for reason in told["unknown"]] == [
        "loaders",
        "buckets",
        "mergers",
        "the interval of the forecast",
    ]
    assert concerns(told) == []
    assert concerns(None) == []


def test_declared_load_without_a_timed_one_does_not_invent_loaders():
    """What a row costs may be declared; how many tasks load is seen only when they did."""
    told = recommendation(visits(load_seconds=0.001), EXPECTED, Measured())

    assert [line["what"] for line in told["lines"]] == []
    assert told["unknown"][0] == "loaders: no load of an earlier window was timed"


def write_totals(dataset, totals):
    for day, total in enumerate(totals):
        row = {
            "window_end": START + (day + 1) * DAY,
            "kind": "slot",
            "slot": 0,
            "key": None,
            "cost": total / 2,
            "state": 1.0,
        }
        replace_rows([row, row], ITEM_STATS, dataset=dataset.name, window_start=START + day * DAY)


def test_totals_are_those_of_windows_of_the_same_length_up_to_this_one(dataset):
    """A backfilled hour between days would look like a collapse."""
    write_totals(dataset, [10.0, 30.0, 20.0])
    hour = {
        "window_end": START + 1.5 * DAY,
        "kind": "slot",
        "slot": 0,
        "key": None,
        "cost": 1.0,
        "state": 1.0,
    }
    replace_rows([hour], ITEM_STATS, dataset=dataset.name, window_start=START + 1.25 * DAY)

    assert total_costs(dataset, window_of(1)).tolist() == [10.0, 30.0]
    assert total_costs(replace(dataset, forecast_windows=2), window_of(2)).tolist() == [30.0, 20.0]


def test_months_are_neighbours_whatever_their_length(dataset):
    """Each is 100 above the one before; taken by their days, January and March would be neighbours, and 200 apart."""
    monthly = replace(dataset, schedule="@monthly")
    starts = [datetime(2026, month, 1, tzinfo=UTC) for month in range(1, 6)]
    for start, end, cost in zip(starts, starts[1:], (420.0, 520.0, 620.0, 720.0), strict=False):
        row = {"window_end": end, "kind": "slot", "slot": 0, "key": None, "cost": cost, "state": 1.0}
        replace_rows([row], ITEM_STATS, dataset=dataset.name, window_start=start)

    april = Window(start=starts[3], end=starts[4])
    assert total_costs(monthly, april).tolist() == [420.0, 520.0, 620.0, 720.0]


def test_plan_that_is_made_again_keeps_its_recommendation(dataset):
    """What was measured since belongs to later plans: a cleared task changes nothing that is stored."""
    write_totals(dataset, [10.0, 30.0])
    items = ItemStats(slot=np.arange(1), key=[], cost=np.array([30.0]), state=np.ones(1))
    first = capacity_of(dataset, window_of(1), items, plan="0" * 16)
    stored = {name: None for name in PLANS.columns if name not in PLANS.identity}
    kept = {**first, "headroom": 0.5}  # so that it can be told from one that is made anew
    row = {**stored, "explanation": json.dumps({"capacity": kept})}
    replace_rows([row], PLANS, dataset=dataset.name, plan="0" * 16)

    assert first["high"] > first["expected"] == 30.0
    assert first["seconds"] == 86_400
    assert capacity_of(dataset, window_of(1), items, plan="0" * 16) == kept
    other = replace(items, cost=np.array([31.0]))
    assert capacity_of(dataset, window_of(1), other, plan="0" * 16)["headroom"] == 0.2
