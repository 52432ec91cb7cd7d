"""A run's figures are the same everywhere: in the tables, in the terminal, in the report, and in what Airflow serves."""

import html
import json
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
from deltalake import DeltaTable

from pages.reports import read_report
from schemas.dataset import dataset_named
from schemas.tables import FORECASTS, ITEM_STATS, MOVES, PLANS, RUNS, SCORES
from spark_jobs.control_tables import read_one, read_rows, replace_rows, save_function
from spark_jobs.forecast_facts import REGRET
from spark_jobs.job import Task, Window
from spark_jobs.report_run import report_run
from spark_jobs.run_facts import PLAN_FIELDS, RUN_FIELDS
from spark_jobs.table_log import FUNCTION, current_function
from tests.cli.conftest import DAY, KEYS, START, dataset_file, write_window


@pytest.fixture
def reported(profiled, answer):
    """A dry run's plan, reported: the run's row. The table has a route already, so that it is not as under the plain hash."""
    function = current_function(profiled)
    routed = function.with_changes(routes={KEYS[1]: (function.bucket_of(KEYS[1]) + 1) % 4})
    save_function("visits", routed)
    DeltaTable(profiled.state).alter.set_table_properties(
        {FUNCTION: routed.digest}, raise_if_not_exists=False
    )
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
    assert said["plan"]["migration_share"] == reported["migration_share"]
    assert reported["imbalance_before"] != reported["imbalance_hash"]
    explanation = json.loads(plan["explanation"])
    assert {name: said["plan"][name] for name in explanation} == explanation
    moves = read_rows(MOVES, dataset="visits", plan=plan["plan"]).to_pylist()
    fields = [name for name in MOVES.columns if name not in MOVES.identity]
    assert sorted(str([move[name] for name in fields]) for move in moves) == sorted(
        str([move[name] for name in fields]) for move in said["plan"]["moves"]
    )
    assert answer("history", "visits") == said["history"]


class PageFigures(HTMLParser):
    """Every figure of a page with all its digits: by the name of its tile, and row by row by the name of its table."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tiles: dict[str, list[float]] = {}
        self.tables: dict[str, list[list[float]]] = {}
        self._tile = self._table = ""
        self._tag = ""
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self._tag = tag
        if given.get("role") == "region":
            self._table = given["aria-label"]
            self.tables[self._table] = []
        elif tag == "tr" and self._table:
            self.tables[self._table].append([])
        elif tag == "data" and self._table:
            self.tables[self._table][-1].append(float(given["value"]))
        elif tag == "data":
            self.tiles[self._tile].append(float(given["value"]))

    def handle_endtag(self, tag):
        if tag == "table":
            self._table = ""

    def handle_data(self, data):
        if self._tag == "dt":
            self._tile = data
            self.tiles[data] = []
        self._tag = ""


@pytest.fixture
def page(reported) -> str:
    return Path(reported["report"]).read_text()


def test_page_has_the_same_figures_to_the_last_digit(page, answer):
    """Every figure stands in its own place: right ones that have changed places are wrong ones."""
    said = answer("report", "visits")
    plan, certificate, shown = said["plan"], said["plan"]["certificate"], PageFigures(page)

    assert shown.tiles == {
        "Imbalance θ, by the plan": [plan[f"imbalance_{when}"] for when in ("before", "after", "hash")],
        "State it would move": [plan["migration_share"], plan["migration"], plan["total_state"]],
        "Bytes rewritten": [said["bytes_written"]],
        "Routes": [plan["n_routes"]],
        "From the best possible": [certificate["migration_ratio"], certificate["migration_bound"]],
    }
    [loads] = [rows for name, rows in shown.tables.items() if name.startswith("Load of each")]
    assert loads[1:] == [list(pair) for pair in zip(plan["load_before"], plan["load_after"], strict=True)]
    fields = ("cost", "state", "imbalance_without")
    assert shown.tables["Moves"][1:] == [[move[name] for name in fields] for move in plan["moves"]]
    frontiers = [rows[1:] for name, rows in shown.tables.items() if name.startswith("θ within reach")]
    fields = ("imbalance", "migration", "n_routes")
    assert frontiers == [
        [[point[name] for name in fields] for point in plan["frontier"][by]]
        for by in ("by_migration", "by_routes")
    ]
    [past] = [rows for name, rows in shown.tables.items() if name.startswith("θ of each window")]
    fields = ("imbalance_hash", "imbalance_before", "imbalance")
    assert past[1:] == [[row[name] for name in fields] for row in said["history"]]


def test_people_read_the_same_figures_rounded(page, answer, evenkeel):
    """The page and the terminal say the same sentence, and round the same figures in the same way."""
    said = answer("report", "visits")
    lines = evenkeel("report", "visits")[1]
    plan = said["plan"]

    for text in (page, lines):
        assert said["headline"] in text
        assert all(f"{load:,.0f}" in text for load in (*plan["load_before"], *plan["load_after"]))
        assert all(move["item"] in html.unescape(text) for move in plan["moves"])
    assert f"{plan['imbalance_before']:.3f} → {plan['imbalance_after']:.3f}   goal" in lines
    assert f">{plan['imbalance_before']:.3f}</data> → " in page


@pytest.fixture
def foreseen(profiled, datasets, answer):
    """A plan on a forecast for the second window, the second window reported: the page."""
    dataset_file(datasets, forecast={"method": "mean"})
    dataset = dataset_named("visits")
    plan = answer("plan", "visits")["plan"]
    write_window(dataset, START + DAY, heat=1.7)
    columns = [name for name in SCORES.columns if name not in SCORES.identity]
    thetas = {"imbalance_realised": 0.2 / 3, "imbalance_last": 0.4 / 3, "imbalance_clairvoyant": 0.1 / 3}
    score = dict.fromkeys(columns) | {"window_start": START + DAY} | thetas
    replace_rows([score], SCORES, dataset="visits", plan=plan)
    window = Window(start=START + DAY, end=START + 2 * DAY)
    return report_run(Task(dataset=dataset, given_window=window, run="next"))["report"]


def test_forecast_is_the_same_everywhere(foreseen, answer, evenkeel):
    """Tables, terminal and page tell one story of what was expected and what came, to the last digit."""
    said, shown = answer("report", "visits")["forecast"], PageFigures(Path(foreseen).read_text())
    lines = evenkeel("report", "visits")[1]

    expected = read_rows(FORECASTS, dataset="visits", plan=said["plan"])["expected"].to_pylist()
    came = read_rows(ITEM_STATS, dataset="visits", window_start=START + DAY)["cost"].to_pylist()
    assert (said["expected"], said["realised"]) == (pytest.approx(sum(expected)), pytest.approx(sum(came)))
    fields = ("expected", "realised", "error")
    assert shown.tables["Forecast and what came"][1:] == [
        [item[name] for name in fields] for item in (said, *said["items"])
    ]
    assert said["regret"]["is_carried_out"]
    assert shown.tables["Regret"][1:] == [[said["regret"][name] for name in REGRET]]
    assert f"{said['expected']:,.0f} of cost expected in this window, {said['realised']:,.0f} came" in lines
    assert all(f"{item['error']:.2%}" in lines for item in (said, *said["items"]))
    assert "0.067 with that plan; it would have been 0.133 with one on the last window and 0.033" in lines


def test_airflow_serves_the_very_page(reported):
    """The page behind Airflow's login is the file, byte for byte."""
    file = Path(reported["report"])

    assert read_report("visits", file.stem) == file.read_bytes()
