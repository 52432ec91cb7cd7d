"""A run's figures are the same everywhere: in the tables, in the terminal, in the report, and in what Airflow serves."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from pages.reports import read_report
from schemas.tables import MOVES, PLANS, RUNS
from spark_jobs.control_tables import read_one, read_rows
from spark_jobs.job import Task, Window
from spark_jobs.report_run import report_run
from spark_jobs.report_words import number, share, size
from spark_jobs.run_facts import PLAN_FIELDS, RUN_FIELDS
from tests.cli.conftest import DAY, START


@pytest.fixture
def reported(profiled, answer):
    """A dry run's plan, reported: the run's row."""
    plan = answer("plan", "visits")["plan"]
    steps = [
        {"name": "plan", "state": "success", "result": {"seconds": 1.7, "plan": plan}},
        {
            "name": "gate",
            "state": "success",
            "result": {"go": False, "dry_run": True, "reasons": ["this is a dry run"]},
        },
    ]
    task = Task(dataset=profiled, given_window=Window(start=START, end=START + DAY), plan=plan, run="dry")
    report_run(replace(task, options={"steps": steps}))
    return read_one(RUNS, dataset="visits", run="dry")


def test_terminal_tells_what_the_tables_hold(reported, answer):
    """To the last digit: a script that adds up must get what the tables add up to."""
    said = answer("report", "visits")
    plan = read_one(PLANS, dataset="visits", plan=reported["plan"])

    assert {name: said["plan"][name] for name in PLAN_FIELDS} == {name: plan[name] for name in PLAN_FIELDS}
    told = [name for name in RUN_FIELDS if not name.startswith("window")]
    assert {name: said[name] for name in told} == {name: reported[name] for name in told}
    explanation = json.loads(plan["explanation"])
    assert {name: said["plan"][name] for name in explanation} == explanation
    moves = read_rows(MOVES, dataset="visits", plan=plan["plan"]).to_pylist()
    fields = [name for name in MOVES.columns if name not in MOVES.identity]
    assert sorted(str([move[name] for name in fields]) for move in moves) == sorted(
        str([move[name] for name in fields]) for move in said["plan"]["moves"]
    )
    assert answer("history", "visits") == said["history"]


def test_page_shows_the_same_figures_rounded(reported, answer):
    """Every figure of the page is one of these, written as the page writes such figures; the sentence is the same sentence."""
    said = answer("report", "visits")
    plan, page = said["plan"], Path(reported["report"]).read_text()

    assert said["headline"] in page
    for name in ("imbalance_hash", "imbalance_before", "imbalance_after"):
        assert number(plan[name]) in page
    assert share(plan["migration_share"]) in page
    assert f"{size(plan['migration'])} of {size(plan['total_state'])}" in page
    for load in (*plan["load_before"], *plan["load_after"]):
        assert f'<td class="number">{load:,.0f}</td>' in page
    for points in plan["frontier"].values():
        assert all(number(point["imbalance"]) in page for point in points)
    assert all(number(move["imbalance_without"]) in page for move in plan["moves"])


def test_airflow_serves_the_very_page(reported):
    """The page behind Airflow's login is the file, byte for byte."""
    file = Path(reported["report"])

    assert read_report("visits", file.stem) == file.read_bytes()
