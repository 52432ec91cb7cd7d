"""The backtest of stored windows: who would have served the dataset best, and nothing else touched."""

from dataclasses import replace
from html import escape
from pathlib import Path

import pytest
from deltalake import DeltaTable

from schemas.tables import BACKTESTS, FORECASTS, MOVES, PLANS, RUNS, SCORES
from spark_jobs import replay_pool
from spark_jobs.backtest_advice import PLANNERS_OF_FILES
from spark_jobs.backtest_plans import backtest_plans
from spark_jobs.control_tables import read_rows, replace_rows
from spark_jobs.job import JobError, RefusalError, Task
from tests.spark_jobs.test_expected_cost import dataset_of, store

FEW = {"planners": ["mixed", "min_table"]}


@pytest.fixture
def growing(warehouse):
    """A key that grows by 40 a window beside one that does not: a line, which Holt foresees."""
    for day in range(9):
        store(day, {"a": 10 + 40 * day, "b": 150, "c": 90 if day % 2 else 40})
    return dataset_of(max_imbalance=0.02, max_migration=None, planner="mixed")


def test_backtest_ranks_and_advises(growing):
    """One row a contender, the best first, with the champion, a challenger, the clairvoyant and the hash beside them."""
    result = backtest_plans(Task(dataset=growing, options=FEW))

    rows = sorted(
        read_rows(BACKTESTS, dataset="visits", backtest=result["backtest"]).to_pylist(),
        key=lambda row: row["place"] or 99,
    )
    roles = [row["role"] for row in rows]
    assert (roles.count("champion"), roles.count("challenger"), roles[-2:]) == (1, 1, ["clairvoyant", "hash"])
    assert [row["place"] for row in rows[:-2]] == list(range(1, len(rows) - 1))
    assert [row["net"] for row in rows[:-2]] == sorted((row["net"] for row in rows[:-2]), reverse=True)
    assert {(row["planner"], row["forecast"]) for row in rows} >= {("mixed", "holt"), ("min_table", "chosen")}
    assert all(len(row["imbalance"]) == 8 for row in rows)
    assert result["advice"].startswith(("keep mixed on last", "change to "))


def test_backtest_touches_its_own_table_only(growing):
    """A question about the past changes nothing about the present; asked again it gives the same answer."""
    first = backtest_plans(Task(dataset=growing, options=FEW))
    again = backtest_plans(Task(dataset=growing, options=FEW))

    assert first == again
    assert not any(DeltaTable.is_deltatable(table.path) for table in (PLANS, MOVES, RUNS, SCORES, FORECASTS))
    assert read_rows(BACKTESTS, dataset="visits").num_rows == len(first["rows"])


def row_of(told, role):
    return next((row for row in told["rows"] if row["role"] == role), None)


def test_advice_names_only_what_a_dataset_file_takes(growing):
    """Who follows the advice must not be refused; planners of the papers are shown beside the others, the best of all among them."""
    told = backtest_plans(
        Task(
            dataset=replace(growing, max_imbalance=0.08), options={"planners": ["mixed_compact", "min_table"]}
        )
    )

    best = told["rows"][0]
    assert (best["planner"], best["role"]) == ("mixed_compact", "contender")
    assert row_of(told, "challenger")["planner"] in PLANNERS_OF_FILES
    assert "mixed_compact" not in told["advice"]


def test_nobody_is_advised_whom_no_dataset_file_can_name(growing):
    """A champion among strangers stays."""
    told = backtest_plans(Task(dataset=growing, options={"planners": ["scan"], "forecasts": ["last"]}))

    assert row_of(told, "challenger") is None
    assert told["advice"].startswith("keep mixed on last: nobody else took part that a dataset file can name")


@pytest.mark.parametrize(
    ("changes", "hottest", "why"),
    [
        ({"planner": "frequency_hash", "merge": {"amount": "sum"}}, 0, "visits cuts its frequent keys"),
        ({"merge": {"amount": "sum"}}, 5000, "1 window of 10 had a key that visits would split"),
    ],
)
def test_what_splits_keys_gets_no_advice_and_is_told_why(growing, changes, hottest, why):
    """A replay splits nothing: what it says of such a dataset is not what the dataset would come to."""
    store(9, {"a": hottest})
    told = backtest_plans(Task(dataset=replace(growing, **changes), options=FEW))

    rows = read_rows(BACKTESTS, dataset="visits", backtest=told["backtest"]).to_pylist()
    assert told["advice"].startswith(f"no advice: {why}")
    assert "splits take no part in a replay" in told["advice"]
    assert {row["caveat"] for row in rows} == {told["advice"].removeprefix("no advice: ")}
    assert row_of(told, "challenger") is None
    assert escape(told["advice"][1:]) in Path(told["page"]).read_text()


def test_mergeable_dataset_whose_keys_all_fit_is_advised(growing):
    """Nothing would be split, so the replay is true; but for frequency_hash, which cuts whatever is frequent."""
    told = backtest_plans(Task(dataset=growing, options={"planners": ["frequency_hash", "min_table"]}))
    merging = replace(growing, merge={"amount": "sum"})
    again = backtest_plans(Task(dataset=merging, options={"planners": ["frequency_hash", "min_table"]}))
    one = backtest_plans(
        Task(dataset=merging, options={"planners": ["frequency_hash"], "forecasts": ["last"]})
    )

    assert again == told
    assert {row["caveat"] for row in again["rows"]} == {None}
    assert row_of(one, "challenger") is None


def test_a_tie_is_called_one(growing):
    """The naive forecast is the last window by another name; "behind by -0.00 %" would be read as a loss."""
    told = backtest_plans(
        Task(
            dataset=replace(growing, forecast="naive"), options={"planners": ["mixed"], "forecasts": ["last"]}
        )
    )

    assert told["advice"] == "keep mixed on naive: the best of the others, mixed on last, ties with it"


def test_backtests_of_an_older_release_can_still_be_read(growing):
    """Nobody's history is thrown away because a column was added."""
    columns = {name: kind for name, kind in BACKTESTS.columns.items() if name not in ("payback", "caveat")}
    older = replace(BACKTESTS, columns=columns)
    row = {name: None for name in columns if name not in BACKTESTS.identity} | {"net": 0.5}
    replace_rows([row], older, dataset="visits", backtest="old")

    told = backtest_plans(Task(dataset=growing, options=FEW))

    [old] = read_rows(BACKTESTS, dataset="visits", backtest="old").to_pylist()
    assert (old["net"], old["payback"], old["caveat"]) == (0.5, None, None)
    new = read_rows(BACKTESTS, dataset="visits", backtest=told["backtest"]).to_pylist()
    assert [row["payback"] for row in new] == [row["payback"] for row in told["rows"]]


def test_too_few_windows_are_said(warehouse):
    """Out of two windows nothing can be chosen."""
    store(0, {})
    store(1, {"a": 5})
    with pytest.raises(JobError, match=r"item_stats must hold at least 3 windows of visits\. Got 2\. Wait"):
        backtest_plans(Task(dataset=dataset_of()))


def test_season_without_a_period_is_refused_at_once(growing):
    """In the words of the dataset file, and before the first of many contenders was replayed."""
    task = Task(dataset=growing, options={"planners": ["mixed"], "forecasts": ["last", "seasonal_naive"]})

    with pytest.raises(
        RefusalError, match=r"forecast\.period must be given for seasonal_naive\. Got none in"
    ):
        backtest_plans(task)


def test_replays_in_several_processes_come_to_the_same(growing, monkeypatch):
    """How many processors there are must not decide who is advised."""
    alone = backtest_plans(Task(dataset=growing, options=FEW))
    monkeypatch.setattr(replay_pool, "WORTH_IT", 0)
    monkeypatch.setattr(replay_pool.os, "sched_getaffinity", lambda _: {0, 1})

    assert backtest_plans(Task(dataset=growing, options=FEW)) == alone


def test_progress_is_said(growing, capsys):
    """Half an hour of silence looks like a hang."""
    backtest_plans(Task(dataset=growing, options={**FEW, "forecasts": ["last"]}))

    said = capsys.readouterr().err
    assert "1 of 3: mixed on last, mean θ" in said
    assert "3 of 3: mixed on next window, mean θ" in said


def test_page_tells_what_the_table_holds(growing):
    """Figures on the page are the answer's own; the page needs nothing but itself and obeys the same policy as reports."""
    told = backtest_plans(Task(dataset=growing, options=FEW))
    page = Path(told["page"]).read_text()

    assert escape(told["advice"][1:]) in page
    assert all(f"{row['mean_imbalance']:.3f}" in page for row in told["rows"])
    assert all(f">{row['payback']:.1f}<" in page for row in told["rows"])
    assert page.count("<tr>") >= len(told["rows"]) + 8
    assert "<script" not in page
